//! Where a pool's threads come from, how the threads are named, and which calls a factory may make while the
//! pool calls the factory.

mod failing;
mod late;
mod lent;

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::thread;

use executor::fork_join::ForkJoinPool;
use executor::{
    CancelToken, HandOffQueue, Latch, NamedThreads, ThreadFactory, ThreadPoolExecutor, Worker, prelude::*,
};

use crate::support::{
    Bomb, Explosions, LONG, Record, Signal, blocked, eventually, occupy, occupy_all, within_deadline,
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
            // The pool starts the second thread for the second task, but the first thread can take this task.
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

/// Linux keeps only 15 bytes of a thread's name.
#[cfg(target_os = "linux")]
#[test]
fn the_system_shows_the_number_of_a_thread_with_a_long_name() {
    /// Returns the sorted names of twelve threads, as the system shows these names.
    fn shown(run: impl Fn(Box<dyn FnOnce() + Send>)) -> Vec<String> {
        let (names, all_are_here) = (Record::new(), Arc::new(std::sync::Barrier::new(13)));
        for _ in 0..12 {
            let (names, all_are_here) = (names.clone(), Arc::clone(&all_are_here));
            run(Box::new(move || {
                let shown = std::fs::read_to_string("/proc/thread-self/comm").unwrap();
                names.add((thread::current().name().unwrap().len(), shown.trim_end().to_owned()));
                all_are_here.wait();
            }));
        }
        all_are_here.wait();
        let mut names = names.so_far();
        names.sort();
        names.into_iter().map(|(_, shown)| shown).collect()
    }

    within_deadline(|| {
        let numbered = |name: &str| (1..=12).map(|n| format!("{name}-{n}")).collect::<Vec<_>>();
        let pool_of = |name: &str| ThreadPoolExecutor::builder().threads(12).name(name).build().unwrap();
        let pool = pool_of("db");
        assert_eq!(shown(|task| pool.execute(task).unwrap()), numbered("db-thread")); // they fit
        let pool = pool_of("orders-service");
        let mut expected = numbered("orders-service");
        for name in &mut expected {
            let number = name.split_off("orders-service".len());
            *name = "orders-service"[..15 - number.len()].to_owned() + &number;
        }
        assert_eq!(shown(|task| pool.execute(task).unwrap()), expected);
        let pool = pool_of("werkstatt-büro"); // the cut must not split a letter
        let names = shown(|task| pool.execute(task).unwrap());
        assert_eq!(names[8..10], ["werkstatt-bü-9", "werkstatt-b-10"]);
        let pool = ForkJoinPool::builder().threads(12).name("fork-join-of-all").build().unwrap();
        let names = shown(|task| pool.execute(task).unwrap());
        assert_eq!((&*names[0], &*names[11]), ("fork-join-of-0", "fork-join-of-11"));
    });
}

/// SIZE-14, SIZE-16, SIZE-19
#[test]
fn the_usual_factory_counts_its_threads() {
    within_deadline(|| {
        let threads = Arc::new(NamedThreads::new("counted"));
        let pool =
            ThreadPoolExecutor::builder().core_threads(0).maximum_threads(3).queue(HandOffQueue::new());
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
        const LARGE: usize = 6 << 20; // three times the default size
        let threads = NamedThreads::new("deep").stack_size(4 * LARGE); // unoptimised code copies the array
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
        let pool =
            ThreadPoolExecutor::builder().core_threads(1).maximum_threads(2).queue(HandOffQueue::new());
        let pool = pool.name("old").build().unwrap();
        let new: Arc<dyn ThreadFactory> = Arc::new(NamedThreads::new("new"));
        let _busy = occupy(&pool);
        pool.set_thread_factory(Arc::clone(&new));
        assert!(Arc::ptr_eq(&pool.thread_factory(), &new));
        assert_eq!(thread_name(&pool), "new-thread-1");
    });
}

/// The factory is user code, so the pool calls the factory outside the pool's locks.
#[test]
fn a_factory_may_look_at_its_pool() {
    struct Curious(Arc<OnceLock<Weak<ThreadPoolExecutor>>>);
    impl ThreadFactory for Curious {
        fn start(&self, worker: Worker) -> io::Result<()> {
            let pool = self.0.get().unwrap().upgrade().unwrap();
            assert_eq!((pool.stats().threads, pool.stats().active), (1, 1));
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

/// The start of a thread is a part of the submission, and therefore also a part of the task that submits.
#[test]
fn a_factory_runs_under_the_token_of_the_submitter_whose_next_token_counts_again() {
    struct Cancels;
    impl ThreadFactory for Cancels {
        fn start(&self, worker: Worker) -> io::Result<()> {
            CancelToken::current().cancel();
            thread::Builder::new().spawn(|| worker.run()).map(drop)
        }
    }
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().threads(1).thread_factory(Cancels).build().unwrap();
        let token = CancelToken::new();
        token.attach(|| {
            pool.execute(|| ()).unwrap();
            assert!(token.is_cancelled(), "it was the current one, and not a child of it");
            assert!(CancelToken::new().attach(|| Latch::new(0).wait()).is_ok());
        });
    });
}

/// A slow factory delays only the submitters that need a thread from it.
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
            refused: executor::RejectedExecution,
            _: &executor::RefusingPool<'_>,
        ) -> Result<(), executor::RejectedExecution> {
            Err(refused)
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
