//! Where a pool's threads come from, what they are called, and what happens if they do not come.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread;

use executor::{
    ExecutorService, FifoQueue, HandOffQueue, JoinError, NamedThreads, RejectReason, TaskState,
    ThreadFactory, ThreadPoolExecutor, Worker, prelude::*,
};

use crate::support::{
    Bomb, Explosions, LONG, Record, SHORT, Signal, assert_matches, blocked, eventually, occupy, occupy_all,
    within_deadline,
};

fn thread_name(pool: &ThreadPoolExecutor) -> String {
    let name = || thread::current().name().unwrap().to_owned();
    pool.submit(name).unwrap().join_timeout(LONG).unwrap()
}

/// SIZE-22, HOOK-4
#[test]
fn threads_are_numbered_within_their_pool_and_pools_in_the_process() {
    within_deadline(|| {
        let pools = [ThreadPoolExecutor::fixed(2), ThreadPoolExecutor::fixed(2)];
        let mut numbers = pools.each_ref().map(|pool| {
            let (first, second) = (thread_name(pool), thread_name(pool));
            let (name, one) = first.split_once("-thread-").unwrap();
            assert_eq!(one, "1");
            // The second task starts the second thread, but the first one may be quicker to take it.
            assert!(second == first || second == format!("{name}-thread-2"), "{second}");
            name.strip_prefix("pool-").unwrap().parse::<u32>().unwrap()
        });
        numbers.sort_unstable();
        assert!(numbers[0] < numbers[1]);
    });
}

#[test]
fn a_pool_can_be_given_a_name() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().name("fetch").build().unwrap();
        assert_eq!(thread_name(&pool), "fetch-thread-1");
    });
}

/// SIZE-14, SIZE-16, SIZE-19
#[test]
fn the_usual_factory_counts_its_threads() {
    within_deadline(|| {
        let threads = Arc::new(NamedThreads::new("counted"));
        let pool = ThreadPoolExecutor::builder().core(0).maximum(3).queue(HandOffQueue::new());
        let pool = pool.thread_factory(Arc::clone(&threads)).build().unwrap();
        assert_eq!((threads.created(), threads.alive()), (0, 0));
        let busy = occupy_all(&pool, 3);
        assert_eq!((threads.created(), threads.alive()), (3, 3));
        drop(busy);
        pool.close();
        eventually("they are gone", || threads.alive() == 0);
        assert_eq!(threads.created(), 3);
        assert_eq!(format!("{threads:?}"), r#"NamedThreads { name: "counted", created: 3, alive: 0, .. }"#);
    });
}

#[test]
#[expect(clippy::large_stack_arrays, reason = "the point")]
fn a_stack_can_be_as_large_as_one_likes() {
    within_deadline(|| {
        const LARGE: usize = 6 << 20; // three times what a thread has by default
        let threads = NamedThreads::new("deep").stack_size(4 * LARGE); // unoptimised code makes copies
        let pool = ThreadPoolExecutor::builder().thread_factory(threads).build().unwrap();
        let on_the_stack = || {
            let array = std::hint::black_box([1_u8; LARGE]);
            usize::from(array[0]) * array.len()
        };
        assert_eq!(pool.submit(on_the_stack).unwrap().join_timeout(LONG).unwrap(), LARGE);
    });
}

/// SIZE-4, SIZE-5
#[test]
fn a_new_factory_starts_the_threads_from_now_on() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().core(1).maximum(2).queue(HandOffQueue::new());
        let pool = pool.name("old").build().unwrap();
        let new: Arc<dyn ThreadFactory> = Arc::new(NamedThreads::new("new"));
        let _busy = occupy(&pool);
        pool.set_thread_factory(Arc::clone(&new));
        assert!(Arc::ptr_eq(&pool.thread_factory(), &new));
        assert_eq!(thread_name(&pool), "new-thread-1");
    });
}

/// A factory of one's own, which fails when it is told to, in one of several ways.
struct Troubled {
    good: AtomicUsize,
    trouble: Trouble,
}

impl ThreadFactory for Troubled {
    fn start(&self, worker: Worker) -> io::Result<()> {
        let left = self.good.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if left.is_err() {
            return (self.trouble)(worker);
        }
        thread::Builder::new().spawn(|| worker.run()).map(drop)
    }
}

type Trouble = fn(Worker) -> io::Result<()>;

/// Every way in which a factory can fail to start a thread.
fn troubles() -> [(&'static str, Trouble); 4] {
    [
        ("it says so", |_| Err(io::Error::other("no more threads"))),
        ("it says so, and has another drop the worker", |worker| {
            thread::spawn(|| drop(worker));
            Err(io::Error::other("no more threads"))
        }),
        ("it panics", |_| std::panic::resume_unwind(Box::new("no more threads"))),
        ("it panics and keeps the worker for a moment", |worker| {
            thread::spawn(|| drop(worker));
            std::panic::resume_unwind(Box::new("no more threads"))
        }),
    ]
}

/// SIZE-23
#[test]
fn without_a_thread_and_without_a_place_to_wait_the_task_comes_back() {
    within_deadline(|| {
        for (how, trouble) in troubles() {
            let pool = ThreadPoolExecutor::builder().core(0).maximum(9).queue(HandOffQueue::new());
            let pool = pool.thread_factory(Troubled { good: AtomicUsize::new(4), trouble }).build().unwrap();
            let busy = occupy_all(&pool, 4);
            for n in 0..3 {
                let refused = pool.submit(move || n).unwrap_err();
                assert_matches!(&refused.reason, RejectReason::NoThread(error) if error.to_string().contains("no more threads"));
                refused.task.run();
                assert_eq!(refused.handle.join().unwrap(), n, "{how}");
            }
            eventually("only those that came are counted", || pool.stats().pool_size == 4);
            drop(busy);
            pool.close();
            let stats = pool.stats();
            assert_eq!((stats.completed, stats.task_count(), stats.largest_pool_size), (4, 4, 4), "{how}");
        }
    });
}

#[test]
fn without_a_thread_of_its_own_a_task_waits_for_one_of_those_there_are() {
    within_deadline(|| {
        for (how, trouble) in troubles() {
            let pool = ThreadPoolExecutor::builder().threads(3).queue(FifoQueue::bounded(10));
            let pool = pool.thread_factory(Troubled { good: AtomicUsize::new(1), trouble }).build().unwrap();
            let busy = occupy(&pool);
            let waiting: Vec<_> = (0..5).map(|n| pool.submit(move || n).unwrap()).collect();
            eventually("only the one that came is counted", || pool.stats().pool_size == 1);
            assert_eq!((pool.queued(), pool.stats().active), (5, 1), "{how}");
            drop(busy);
            for (n, handle) in waiting.into_iter().enumerate() {
                assert_eq!(handle.join_timeout(LONG).unwrap(), n, "{how}");
            }
        }
    });
}

#[test]
fn a_pool_without_a_single_thread_refuses_and_recovers() {
    within_deadline(|| {
        for (how, trouble) in troubles() {
            let pool = ThreadPoolExecutor::builder().threads(2);
            let pool = pool.thread_factory(Troubled { good: AtomicUsize::new(0), trouble }).build().unwrap();
            let refused = pool.submit(|| 7).unwrap_err();
            assert_matches!(refused.reason, RejectReason::NoThread(_));
            assert!(!pool.prestart_core_thread(), "{how}");
            eventually("nothing is counted", || pool.stats().pool_size == 0);
            assert_eq!((pool.stats().task_count(), pool.stats().largest_pool_size), (0, 0), "{how}");
            pool.set_thread_factory(Arc::new(NamedThreads::new("better")));
            pool.execute(refused.task).unwrap();
            assert_eq!(refused.handle.join_timeout(LONG).unwrap(), 7);
            pool.close();
        }
    });
}

#[test]
fn a_pool_without_a_single_thread_can_be_shut_down() {
    within_deadline(|| {
        for (how, trouble) in troubles() {
            let pool = ThreadPoolExecutor::builder();
            let pool = pool.thread_factory(Troubled { good: AtomicUsize::new(0), trouble }).build().unwrap();
            drop(pool.execute(|| ()).unwrap_err());
            pool.shutdown();
            assert!(pool.await_termination(LONG), "{how}");
        }
    });
}

/// Says that it has started a thread, and keeps the worker until the test decides.
#[derive(Clone, Default)]
struct Hoarding(Arc<Mutex<Vec<Worker>>>);

impl Hoarding {
    fn pool(&self) -> Arc<ThreadPoolExecutor> {
        let pool = ThreadPoolExecutor::builder().threads(2).thread_factory(self.clone());
        Arc::new(pool.build().unwrap())
    }

    fn next(&self) -> Worker {
        eventually("a worker was made", || !self.0.lock().unwrap().is_empty());
        self.0.lock().unwrap().remove(0)
    }
}

impl ThreadFactory for Hoarding {
    fn start(&self, worker: Worker) -> io::Result<()> {
        self.0.lock().unwrap().push(worker);
        Ok(())
    }
}

#[test]
fn a_thread_may_take_its_time_to_come() {
    within_deadline(|| {
        let hoarding = Hoarding::default();
        let pool = hoarding.pool();
        let handle = pool.submit(|| 7).unwrap();
        let stats = pool.stats();
        assert_eq!(
            (stats.pool_size, stats.active, stats.queued, stats.task_count()),
            (1, 1, 0, 1),
            "{stats}"
        );
        assert_eq!(stats.largest_pool_size, 1, "a thread that was ordered counts, here as in the pool size");
        assert_eq!(pool.snapshot().running.len(), 1);
        let worker = hoarding.next();
        thread::spawn(|| worker.run());
        assert_eq!(handle.join_timeout(LONG).unwrap(), 7);
        pool.close();
    });
}

/// Nobody is left who could run the tasks: their handles must not stay pending.
#[test]
fn tasks_whose_threads_all_never_come_are_cancelled_when_that_is_known() {
    within_deadline(|| {
        let hoarding = Hoarding::default();
        let pool = hoarding.pool();
        let handles = [pool.submit(|| ()).unwrap(), pool.submit(|| ()).unwrap()];
        drop(hoarding.next());
        assert!(handles.iter().all(|handle| handle.state() == TaskState::Pending), "one may come yet");
        drop(hoarding.next());
        for handle in handles {
            assert_matches!(handle.join_timeout(LONG), Err(executor::JoinTimeoutError::Cancelled));
        }
        assert_eq!((pool.stats().pool_size, pool.stats().task_count()), (0, 0));
        pool.shutdown();
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn the_one_thread_that_comes_does_the_tasks_of_those_that_do_not() {
    within_deadline(|| {
        let hoarding = Hoarding::default();
        let pool = hoarding.pool();
        let handles = [pool.submit(|| 1).unwrap(), pool.submit(|| 2).unwrap()];
        drop(hoarding.next());
        let comes = hoarding.next();
        thread::spawn(|| comes.run());
        assert_eq!(handles.map(|handle| handle.join_timeout(LONG).unwrap()), [1, 2]);
        assert_eq!(pool.stats().pool_size, 1);
        pool.close();
    });
}

/// A submitter that may not rely on any thread yet waits until one has come, or will not.
#[test]
fn a_submitter_waits_the_moment_until_the_first_thread_has_come_or_will_not() {
    within_deadline(|| {
        for comes in [true, false] {
            let hoarding = Hoarding::default();
            let pool = hoarding.pool();
            let first = [pool.submit(|| ()).unwrap(), pool.submit(|| ()).unwrap()];
            let third = blocked({
                let pool = Arc::clone(&pool);
                move || pool.submit(|| 3).unwrap()
            });
            assert!(third.still_waits());
            let [one, other] = [hoarding.next(), hoarding.next()];
            if comes {
                thread::spawn(|| one.run());
                assert_eq!(third.result().join_timeout(LONG).unwrap(), 3);
                drop(other);
                assert!(first.into_iter().all(|handle| handle.join_timeout(LONG).is_ok()));
            } else {
                drop((one, other));
                let third = third.result(); // a third thread was ordered for it
                drop(hoarding.next());
                assert_matches!(third.join_timeout(LONG), Err(executor::JoinTimeoutError::Cancelled));
            }
            pool.shutdown();
            assert!(pool.await_termination(LONG));
        }
    });
}

/// A shutdown ends that wait, too.
#[test]
fn a_submitter_that_waits_for_the_first_thread_is_refused_when_the_pool_is_shut_down() {
    within_deadline(|| {
        let hoarding = Hoarding::default();
        let pool = hoarding.pool();
        let first = [pool.submit(|| 1).unwrap(), pool.submit(|| 2).unwrap()];
        let third = blocked({
            let pool = Arc::clone(&pool);
            move || pool.submit(|| 3)
        });
        assert!(third.still_waits());
        pool.shutdown();
        assert_matches!(third.result().unwrap_err().reason, RejectReason::Shutdown);
        for _ in &first {
            let worker = hoarding.next();
            thread::spawn(|| worker.run());
        }
        assert!(first.into_iter().all(|handle| handle.join_timeout(LONG).is_ok()));
        assert!(pool.await_termination(LONG));
    });
}

/// Without a thread of its own a task relies on those that others have ordered, if one of them comes.
#[test]
fn a_submitter_whose_factory_fails_waits_the_moment_until_another_thread_has_come_or_will_not() {
    struct Second(Hoarding);
    impl ThreadFactory for Second {
        fn start(&self, worker: Worker) -> io::Result<()> {
            if self.0.0.lock().unwrap().is_empty() {
                self.0.start(worker)
            } else {
                Err(io::ErrorKind::WouldBlock.into())
            }
        }
    }
    within_deadline(|| {
        for comes in [true, false] {
            let hoarding = Hoarding::default();
            let pool = ThreadPoolExecutor::builder().threads(2).thread_factory(Second(hoarding.clone()));
            let pool = Arc::new(pool.build().unwrap());
            let first = pool.submit(|| 1).unwrap();
            let second = blocked({
                let pool = Arc::clone(&pool);
                move || pool.submit(|| 2)
            });
            assert!(second.still_waits());
            let worker = hoarding.next();
            if comes {
                thread::spawn(|| worker.run());
                assert_eq!(second.result().unwrap().join_timeout(LONG).unwrap(), 2);
                assert_eq!(first.join_timeout(LONG).unwrap(), 1);
            } else {
                drop(worker);
                assert_matches!(second.result().unwrap_err().reason, RejectReason::NoThread(_));
                assert_matches!(first.join_timeout(LONG), Err(executor::JoinTimeoutError::Cancelled));
            }
            pool.shutdown();
            assert!(pool.await_termination(LONG));
        }
    });
}

#[test]
fn shutting_down_now_hands_back_tasks_whose_threads_have_not_come_yet() {
    within_deadline(|| {
        for comes in [true, false] {
            let hoarding = Hoarding::default();
            let pool = hoarding.pool();
            let handle = pool.submit(|| 7).unwrap();
            let mut handed_back = pool.shutdown_now();
            assert_eq!((handed_back.len(), pool.is_terminated()), (1, false));
            let worker = hoarding.next();
            if comes {
                thread::spawn(|| worker.run());
            } else {
                drop(worker);
            }
            assert!(pool.await_termination(LONG));
            assert_eq!((pool.stats().completed, handle.state()), (0, TaskState::Pending));
            handed_back.remove(0).run();
            assert_eq!(handle.join().unwrap(), 7);
        }
    });
}

#[test]
fn after_a_shutdown_a_late_thread_still_runs_its_task_and_one_that_does_not_come_cancels_it() {
    within_deadline(|| {
        for comes in [true, false] {
            let hoarding = Hoarding::default();
            let pool = hoarding.pool();
            let handle = pool.submit(|| 7).unwrap();
            pool.shutdown();
            let worker = hoarding.next();
            if comes {
                thread::spawn(|| worker.run());
                assert_eq!(handle.join_timeout(LONG).unwrap(), 7);
            } else {
                drop(worker);
                assert_matches!(handle.join(), Err(JoinError::Cancelled));
            }
            assert!(pool.await_termination(LONG));
        }
    });
}

/// The factory is user code: it is called outside our locks.
#[test]
fn a_factory_may_look_at_its_pool() {
    struct Curious(Arc<OnceLock<Weak<ThreadPoolExecutor>>>);
    impl ThreadFactory for Curious {
        fn start(&self, worker: Worker) -> io::Result<()> {
            let pool = self.0.get().unwrap().upgrade().unwrap();
            assert_eq!((pool.stats().pool_size, pool.stats().active), (1, 1));
            pool.set_keep_alive(LONG).unwrap();
            thread::Builder::new().spawn(|| worker.run()).map(drop)
        }
    }
    within_deadline(|| {
        let own = Arc::new(OnceLock::new());
        let pool = Arc::new(
            ThreadPoolExecutor::builder().thread_factory(Curious(Arc::clone(&own))).build().unwrap(),
        );
        own.set(Arc::downgrade(&pool)).unwrap();
        assert_eq!(pool.submit(|| 7).unwrap().join_timeout(LONG).unwrap(), 7);
    });
}

/// A factory that is slow holds up only those who need a thread from it.
#[test]
fn a_slow_factory_holds_up_nobody_else() {
    struct Slow(Signal, AtomicUsize);
    impl ThreadFactory for Slow {
        fn start(&self, worker: Worker) -> io::Result<()> {
            if self.1.fetch_add(1, Ordering::SeqCst) > 0 {
                self.0.wait();
            }
            thread::Builder::new().spawn(|| worker.run()).map(drop)
        }
    }
    within_deadline(|| {
        let go = Signal::new();
        let pool =
            ThreadPoolExecutor::builder().threads(2).thread_factory(Slow(go.clone(), AtomicUsize::new(0)));
        let pool = Arc::new(pool.build().unwrap());
        assert_eq!(pool.submit(|| 1).unwrap().join_timeout(LONG).unwrap(), 1);
        let held_up = blocked({
            let pool = Arc::clone(&pool);
            move || pool.submit(|| 2).unwrap()
        });
        assert_eq!(pool.submit(|| 3).unwrap().join_timeout(LONG).unwrap(), 3);
        assert!(held_up.still_waits());
        go.set();
        assert_eq!(held_up.result().join_timeout(LONG).unwrap(), 2);
    });
}

/// The second thread's factory call learns that neither of two threads will come: the first submitter must be told.
#[test]
fn a_task_whose_thread_does_not_come_while_another_is_refused_is_cancelled_too() {
    struct Fickle(Mutex<Option<Worker>>);
    impl ThreadFactory for Fickle {
        fn start(&self, worker: Worker) -> io::Result<()> {
            let mut kept = self.0.lock().unwrap();
            if let Some(first) = kept.take() {
                drop((first, worker));
                return Err(io::Error::other("no more threads"));
            }
            *kept = Some(worker);
            Ok(())
        }
    }
    within_deadline(|| {
        for prestart in [false, true] {
            let pool = ThreadPoolExecutor::builder().threads(2).thread_factory(Fickle(Mutex::new(None)));
            let pool = pool.build().unwrap();
            let first = pool.submit(|| 1).unwrap();
            if prestart {
                assert!(!pool.prestart_core_thread());
            } else {
                assert_matches!(pool.submit(|| 2).unwrap_err().reason, RejectReason::NoThread(_));
            }
            assert_matches!(first.join_timeout(LONG), Err(executor::JoinTimeoutError::Cancelled));
            assert_eq!((pool.stats().pool_size, pool.stats().task_count()), (0, 0));
            pool.shutdown();
            assert!(pool.await_termination(LONG));
        }
    });
}

/// Has the workers of a pool run on another executor's threads, which do something else before and afterwards.
struct Lend(Arc<ThreadPoolExecutor>);

impl ThreadFactory for Lend {
    fn start(&self, worker: Worker) -> io::Result<()> {
        self.0.execute(move || worker.run()).map_err(io::Error::other)
    }
}

fn lent(lender: &Arc<ThreadPoolExecutor>) -> ThreadPoolExecutor {
    ThreadPoolExecutor::builder().thread_factory(Lend(Arc::clone(lender))).build().unwrap()
}

#[test]
fn a_thread_that_was_lent_to_another_pool_still_belongs_to_its_own() {
    within_deadline(|| {
        let lender = Arc::new(ThreadPoolExecutor::fixed(1));
        let borrower = lent(&lender);
        assert_eq!(borrower.submit(|| 7).unwrap().join_timeout(LONG).unwrap(), 7);
        borrower.close();
        let own = Arc::clone(&lender);
        lender.submit(move || own.close()).unwrap().join_timeout(LONG).unwrap();
    });
}

#[test]
fn a_task_on_a_lent_thread_can_close_both_pools_whose_thread_it_is() {
    within_deadline(|| {
        let lender = Arc::new(ThreadPoolExecutor::fixed(1));
        let borrower = Arc::new(lent(&lender));
        let both = [Arc::clone(&lender), Arc::clone(&borrower)];
        borrower
            .submit(move || both.each_ref().map(ExecutorService::close))
            .unwrap()
            .join_timeout(LONG)
            .unwrap();
        assert!(borrower.await_termination(LONG) && lender.await_termination(LONG));
    });
}

/// The second pool is likely to be made where the first one was.
#[test]
fn a_thread_that_was_a_worker_once_waits_for_the_pools_that_it_closes() {
    within_deadline(|| {
        for _ in 0..20 {
            let lender = Arc::new(ThreadPoolExecutor::fixed(1));
            drop(lent(&lender).submit(|| ()).unwrap());
            let is_done = lender.submit(|| {
                let pool = ThreadPoolExecutor::fixed(1);
                let done = Signal::new();
                let tell = done.clone();
                pool.execute(move || {
                    thread::sleep(SHORT); // too short a time can only hide the fault
                    tell.set();
                })
                .unwrap();
                drop(pool);
                done.is_set()
            });
            assert!(is_done.unwrap().join_timeout(LONG).unwrap());
        }
    });
}

/// Says that it starts threads, and does not.
struct Liar(AtomicUsize);

impl ThreadFactory for Liar {
    fn start(&self, worker: Worker) -> io::Result<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        drop(worker);
        Ok(())
    }
}

#[test]
fn a_factory_whose_threads_do_not_come_is_asked_for_each_core_thread_once_by_prestarting() {
    within_deadline(|| {
        let liar = Arc::new(Liar(AtomicUsize::new(0)));
        let builder = ThreadPoolExecutor::builder().threads(2).thread_factory(Arc::clone(&liar)).prestart();
        let pool = builder.build().unwrap();
        assert_eq!((liar.0.load(Ordering::SeqCst), pool.stats().pool_size), (2, 0));
        assert_eq!(pool.prestart_all_core_threads(), 2);
        assert_eq!(liar.0.load(Ordering::SeqCst), 4);
    });
}

#[test]
fn a_factory_that_fails_is_not_asked_for_every_task_while_there_is_another_thread() {
    within_deadline(|| {
        let liar = Arc::new(Liar(AtomicUsize::new(0)));
        let pool = ThreadPoolExecutor::builder().threads(2).build().unwrap();
        let busy = occupy(&pool);
        pool.set_thread_factory(liar.clone());
        for _ in 0..10_000 {
            pool.execute(|| ()).unwrap();
        }
        // It rests for 1 ms, 2 ms, … 1 s; the test has twenty seconds.
        let asked = liar.0.load(Ordering::SeqCst);
        assert!((1..=32).contains(&asked), "asked {asked} times");
        pool.set_thread_factory(Arc::new(NamedThreads::new("better"))); // which is asked at once
        pool.submit(|| ()).unwrap().join_timeout(LONG).unwrap();
        assert_eq!(pool.stats().pool_size, 2);
        drop(busy);
        pool.close();
        assert_eq!(pool.stats().completed, 10_002);
    });
}

#[test]
fn a_task_submitted_by_the_factory_that_its_pool_waits_for_is_refused() {
    struct Submits {
        pool: OnceLock<Weak<ThreadPoolExecutor>>,
        refused: Record<String>,
    }
    impl ThreadFactory for Submits {
        fn start(&self, worker: Worker) -> io::Result<()> {
            let pool = self.pool.get().unwrap().upgrade().unwrap();
            match pool.execute(|| ()) {
                Ok(()) => {}
                Err(error) => self.refused.add(error.to_string()),
            }
            thread::Builder::new().spawn(|| worker.run()).map(drop)
        }
    }

    within_deadline(|| {
        let factory = Arc::new(Submits { pool: OnceLock::new(), refused: Record::new() });
        let builder = ThreadPoolExecutor::builder().threads(1).thread_factory(Arc::clone(&factory));
        let pool = Arc::new(builder.build().unwrap());
        factory.pool.set(Arc::downgrade(&pool)).unwrap();
        assert_eq!(pool.submit(|| 7).unwrap().join_timeout(LONG).unwrap(), 7);
        let refused = factory.refused.so_far();
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(refused[0].contains("submitted by the thread factory"), "{refused:?}");
        pool.close();
        assert_eq!(pool.stats().completed, 1);
    });
}

#[test]
fn a_factory_or_a_handler_whose_drop_panics_can_be_replaced() {
    struct Bad(#[expect(dead_code, reason = "it is there to be dropped")] Bomb);
    impl ThreadFactory for Bad {
        fn start(&self, worker: Worker) -> io::Result<()> {
            thread::Builder::new().spawn(|| worker.run()).map(drop)
        }
    }
    impl executor::RejectionHandler for Bad {
        fn rejected(
            &self,
            task: executor::Task,
            reason: RejectReason,
            _: &executor::RefusingPool<'_>,
        ) -> Result<(), executor::RejectedExecution> {
            Err(executor::RejectedExecution { reason, task })
        }
    }

    within_deadline(|| {
        let explosions = Explosions::default();
        let builder = ThreadPoolExecutor::builder().thread_factory(Bad(explosions.bomb()));
        let pool = builder.rejection_handler(Bad(explosions.bomb())).build().unwrap();
        pool.set_thread_factory(Arc::new(NamedThreads::new("good")));
        pool.set_rejection_handler(Arc::new(executor::Abort));
        assert_eq!(explosions.count(), 2);
        assert_eq!(thread_name(&pool), "good-thread-1");
    });
}

/// A factory that keeps the workers after the first few, and starts none of them.
#[derive(Default)]
struct Slow(AtomicUsize, Mutex<Vec<Worker>>);

impl ThreadFactory for Slow {
    fn start(&self, worker: Worker) -> io::Result<()> {
        if self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
            return thread::Builder::new().spawn(|| worker.run()).map(drop);
        }
        self.1.lock().unwrap().push(worker);
        Ok(())
    }
}

#[test]
fn the_last_thread_there_is_stays_while_others_are_only_ordered() {
    within_deadline(|| {
        let slow = Arc::new(Slow(AtomicUsize::new(1), Mutex::default()));
        let pool = ThreadPoolExecutor::builder().core(2).maximum(2).thread_factory(Arc::clone(&slow));
        let pool = pool.build().unwrap();
        let busy = occupy(&pool);
        let handle = pool.submit(|| 2).unwrap(); // for the second thread
        pool.set_threads(1).unwrap(); // now there is one too many
        drop(busy);
        assert_eq!(handle.join_timeout(LONG).unwrap(), 2);
        assert_eq!(pool.submit(|| 3).unwrap().join_timeout(LONG).unwrap(), 3);
        slow.1.lock().unwrap().clear();
        pool.close();
    });
}

/// A factory that shuts its pool down and then has no thread.
#[derive(Default)]
struct Closing(OnceLock<Weak<ThreadPoolExecutor>>, AtomicBool);

impl ThreadFactory for Closing {
    fn start(&self, worker: Worker) -> io::Result<()> {
        let pool = self.0.get().unwrap().upgrade().unwrap();
        pool.shutdown();
        drop(worker);
        self.1.store(pool.is_terminated(), Ordering::SeqCst);
        Err(io::Error::other("no more threads"))
    }
}

#[test]
fn a_pool_has_not_terminated_while_a_task_is_on_its_way_back_to_its_submitter() {
    within_deadline(|| {
        let factory = Arc::new(Closing::default());
        let pool = ThreadPoolExecutor::builder().thread_factory(Arc::clone(&factory));
        let pool = Arc::new(pool.build().unwrap());
        factory.0.set(Arc::downgrade(&pool)).unwrap();
        let refused = pool.submit(|| 1).unwrap_err();
        assert_matches!(&refused.reason, RejectReason::NoThread(_));
        assert!(!factory.1.load(Ordering::SeqCst), "not before the task was seen to");
        assert!(pool.is_terminated());
        refused.task.run();
        assert_eq!(refused.handle.join().unwrap(), 1);
    });
}
