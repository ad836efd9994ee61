//! What happens to a task for which there is no room, and to a task that is submitted after the shutdown.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use executor::{
    Abort, Block, CallerRuns, Discard, DiscardOldest, ExecutorService, FifoQueue, FutureTask, HandOffQueue,
    JoinError, Outcome, PriorityQueue, RefusingPool, RejectReason, RejectedExecution, RejectionHandler, Task,
    TaskState, ThreadFactory, ThreadPoolExecutor, Worker, prelude::*,
};

use crate::support::{
    LONG, Occupied, Record, Signal, assert_matches, eventually, occupy, on_thread, rounds, within_deadline,
};

/// Returns a pool that has one busy thread, and a full queue that holds one task. The returned handle is the
/// handle of the task that waits in the queue.
fn full(
    handler: impl RejectionHandler + 'static,
) -> (ThreadPoolExecutor, Occupied, executor::TaskHandle<i32>) {
    let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(handler);
    let pool = pool.build().unwrap();
    let busy = occupy(&pool);
    let first = pool.submit(|| 1).unwrap();
    (pool, busy, first)
}

/// A handler that counts its calls, and returns each task to the submitter.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);

impl Counting {
    fn calls(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl RejectionHandler for Counting {
    fn rejected(&self, refused: RejectedExecution, _: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Err(refused)
    }
}

/// SAT-1
#[test]
fn by_default_a_task_without_room_comes_back() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).build().unwrap();
        let _busy = occupy(&pool);
        pool.execute(|| ()).unwrap();
        let refused = pool.submit(|| 7).unwrap_err();
        assert_matches!(refused.reason, RejectReason::Saturated);
        assert_eq!(refused.to_string(), "the task was rejected: the executor has no room for another task");
        assert_eq!(refused.handle.state(), TaskState::Pending);
        assert_matches!(refused.task.run(), Outcome::Completed);
        assert_eq!(refused.handle.join().unwrap(), 7);
    });
}

/// SAT-2
#[test]
fn the_handler_that_was_set_is_the_one_that_is_asked_and_shown() {
    within_deadline(|| {
        let (pool, _busy, _first) = full(Abort);
        let counting = Counting::default();
        let handler: Arc<dyn RejectionHandler> = Arc::new(counting.clone());
        pool.set_rejection_handler(Arc::clone(&handler));
        assert!(Arc::ptr_eq(&pool.rejection_handler(), &handler));
        assert!(pool.execute(|| ()).is_err());
        assert_eq!(counting.calls(), 1);
    });
}

/// SAT-4, SAT-9, SLIP-7
#[test]
fn the_handler_hears_once_of_each_task_and_only_one_counter_does() {
    within_deadline(|| {
        let counting = Counting::default();
        let (pool, busy, first) = full(counting.clone());
        let before = pool.stats();
        for calls in 1..=10 {
            let reason = match calls % 2 {
                0 => pool.execute(|| ()).unwrap_err().reason,
                _ => pool.submit(|| ()).unwrap_err().reason,
            };
            assert_matches!(reason, RejectReason::Saturated);
            let mut now = pool.stats();
            assert_eq!(now.refused, before.refused + calls as u64);
            now.refused = before.refused;
            assert_eq!((counting.calls(), &now), (calls, &before));
        }
        pool.shutdown();
        assert_matches!(pool.execute(|| ()).unwrap_err().reason, RejectReason::Shutdown);
        assert_matches!(pool.submit(|| ()).unwrap_err().reason, RejectReason::Shutdown);
        assert_eq!(counting.calls(), 12);
        drop(busy);
        assert!(pool.await_termination(LONG));
        assert_matches!(pool.execute(|| ()).unwrap_err().reason, RejectReason::Shutdown);
        assert_eq!((counting.calls(), pool.stats().task_count()), (13, 2));
        assert_eq!(first.join().unwrap(), 1, "the accepted task has run");
    });
}

/// SAT-9
#[test]
fn a_queue_without_a_bound_never_saturates() {
    within_deadline(|| {
        let counting = Counting::default();
        let pool = ThreadPoolExecutor::builder().rejection_handler(counting.clone()).build().unwrap();
        let busy = occupy(&pool);
        for _ in 0..10_000 {
            pool.execute(|| ()).unwrap();
        }
        assert_eq!(counting.calls(), 0);
        let handed_back = pool.shutdown_now();
        assert_eq!(handed_back.len(), 10_000);
        assert!(pool.execute(|| ()).is_err() && pool.submit(|| ()).is_err());
        assert_eq!(counting.calls(), 2);
        drop(busy);
        assert!(pool.await_termination(LONG));
        assert_eq!(pool.stats().completed, 1);
    });
}

/// SAT-4: the task runs on the thread that submits it, before `execute` returns.
#[test]
fn caller_runs_runs_the_task_on_the_submitting_thread() {
    within_deadline(|| {
        let (pool, _busy, first) = full(CallerRuns);
        let here = thread::current().id();
        assert_eq!(pool.submit(|| thread::current().id()).unwrap().try_join().unwrap(), here);
        let (tell, told) = mpsc::channel();
        pool.execute(move || tell.send(thread::current().id()).unwrap()).unwrap();
        assert_eq!(told.try_recv().unwrap(), here);
        assert_eq!(first.state(), TaskState::Pending);
        assert_eq!(pool.stats().task_count(), 2, "the pool has nothing to do with it");
    });
}

/// While a submitter runs a task, it submits no other task, so the submissions slow down. The task that the
/// submitter runs overtakes the tasks that wait.
#[test]
fn with_caller_runs_the_submitter_does_every_task_that_does_not_fit_in_its_turn() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(2)).rejection_handler(CallerRuns);
        let pool = Arc::new(pool.build().unwrap());
        let busy = occupy(&pool);
        let order = Record::new();
        let submitter = on_thread({
            let (pool, order) = (Arc::clone(&pool), order.clone());
            move || {
                for n in 0..5 {
                    let order = order.clone();
                    pool.execute(move || order.add(n)).unwrap();
                    assert!(pool.queued() <= 2);
                }
            }
        });
        submitter.result();
        assert_eq!(order.so_far(), [2, 3, 4], "0 and 1 wait; the submitter has run the others in turn");
        drop(busy);
        pool.close();
        assert_eq!(order.so_far(), [2, 3, 4, 0, 1]);
    });
}

#[test]
fn a_panic_in_a_task_that_its_submitter_runs_does_not_hit_the_submitter() {
    within_deadline(|| {
        let (pool, _busy, _first) = full(CallerRuns);
        pool.execute(|| panic!("in the caller")).unwrap();
        let handle = pool.submit(|| -> i32 { panic!("in the caller, with a handle") }).unwrap();
        assert_matches!(handle.join(), Err(JoinError::Panicked(panic)) if panic.message().contains("handle"));
    });
}

/// SLIP-8
#[test]
fn caller_runs_discard_and_discard_oldest_drop_the_task_once_the_pool_is_shut_down() {
    within_deadline(|| {
        let handlers: [Arc<dyn RejectionHandler>; 3] =
            [Arc::new(CallerRuns), Arc::new(Discard), Arc::new(DiscardOldest)];
        for handler in handlers {
            let (pool, busy, first) = full(Abort);
            pool.set_rejection_handler(handler);
            pool.shutdown();
            let ran = Signal::new();
            let there = ran.clone();
            let dropped = pool.submit(move || there.set()).unwrap();
            assert_matches!(dropped.try_join(), Err(executor::TryJoinError::Cancelled(_)));
            drop(busy);
            assert!(pool.await_termination(LONG));
            assert!(!ran.is_set());
            assert_eq!(first.join().unwrap(), 1, "a task that was accepted before is not discarded");
        }
    });
}

/// SAT-4
#[test]
fn discard_drops_the_task_and_cancels_its_handle() {
    within_deadline(|| {
        let (pool, busy, first) = full(Discard);
        let dropped = pool.submit(|| ()).unwrap();
        assert_eq!(dropped.state(), TaskState::Cancelled, "at once");
        assert_matches!(dropped.join(), Err(JoinError::Cancelled(_)));
        pool.execute(|| panic!("it is not run")).unwrap();
        drop(busy);
        assert_eq!(first.join_timeout(LONG).unwrap(), 1);
        pool.close();
        assert_eq!((pool.stats().completed, pool.stats().panicked), (2, 0));
    });
}

/// SAT-5
#[test]
fn discard_oldest_drops_the_head_of_the_queue_and_takes_the_newcomer() {
    within_deadline(|| {
        let (pool, busy, first) = full(DiscardOldest);
        let second = pool.submit(|| 2).unwrap();
        assert_matches!(first.join(), Err(JoinError::Cancelled(_)));
        let third = pool.submit(|| 3).unwrap();
        assert_matches!(second.join(), Err(JoinError::Cancelled(_)));
        assert_eq!(pool.queued(), 1);
        drop(busy);
        assert_eq!(third.join_timeout(LONG).unwrap(), 3);
        pool.close();
        assert_eq!(pool.stats().completed, 2);
    });
}

/// The documentation warns of this behaviour.
#[test]
fn discard_oldest_on_a_priority_queue_drops_the_most_important_task() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().queue(PriorityQueue::new().bounded(2));
        let pool = pool.rejection_handler(DiscardOldest).build().unwrap();
        let busy = occupy(&pool);
        let [low, high] =
            [1, 9].map(|priority| pool.submit(FutureTask::new(|| ()).prioritized(priority)).unwrap());
        let middle = pool.submit(FutureTask::new(|| ()).prioritized(5)).unwrap();
        drop(busy);
        assert_matches!(high.join(), Err(JoinError::Cancelled(_)));
        middle.join_timeout(LONG).unwrap();
        low.join_timeout(LONG).unwrap();
    });
}

#[test]
fn discard_oldest_gives_the_task_back_if_there_is_no_queue_to_make_room_in() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().queue(HandOffQueue::new()).rejection_handler(DiscardOldest);
        let pool = pool.build().unwrap();
        let _busy = occupy(&pool);
        assert_matches!(pool.execute(|| ()).unwrap_err().reason, RejectReason::Saturated);
    });
}

/// A factory whose threads begin only when the test lets them begin.
#[derive(Clone, Default)]
struct HeldBack(Signal);

impl ThreadFactory for HeldBack {
    fn start(&self, worker: Worker) -> std::io::Result<()> {
        let go = self.0.clone();
        thread::Builder::new().spawn(move || {
            go.wait();
            worker.run();
        })?;
        Ok(())
    }
}

/// A task for which a thread is being started does not wait in the queue, so it cannot be the oldest task in
/// the queue.
#[test]
fn discard_oldest_leaves_a_task_alone_whose_thread_is_being_started() {
    within_deadline(|| {
        let pool =
            ThreadPoolExecutor::builder().core_threads(1).maximum_threads(2).queue(FifoQueue::bounded(1));
        let pool = pool.rejection_handler(DiscardOldest).build().unwrap();
        let busy = occupy(&pool);
        let held_back = HeldBack::default();
        pool.set_thread_factory(Arc::new(held_back.clone()));
        let queued = pool.submit(|| "queued").unwrap();
        let starting = pool.submit(|| "starting").unwrap();
        assert_eq!((pool.stats().threads, pool.stats().active, pool.queued()), (2, 2, 1));
        let newcomer = pool.submit(|| "newcomer").unwrap();
        assert_eq!((queued.state(), starting.state()), (TaskState::Cancelled, TaskState::Pending));
        held_back.0.set();
        assert_eq!(starting.join_timeout(LONG).unwrap(), "starting");
        assert_eq!(newcomer.join_timeout(LONG).unwrap(), "newcomer");
        drop(busy);
    });
}

/// SAT-7
#[test]
fn a_task_that_was_given_back_can_be_submitted_again_until_it_is_accepted() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder()
            .core_threads(1)
            .maximum_threads(2)
            .queue(FifoQueue::bounded(2))
            .build()
            .unwrap();
        let (mut accepted, runs) = (0, Arc::new(AtomicUsize::new(0)));
        for _ in rounds(1_000) {
            let count = Arc::clone(&runs);
            let mut task = Task::new(move || _ = count.fetch_add(1, Ordering::Relaxed));
            while let Err(refused) = pool.execute(task) {
                assert_matches!(refused.reason, RejectReason::Saturated);
                task = refused.task;
                thread::yield_now();
            }
            accepted += 1;
        }
        pool.close();
        assert_eq!((runs.load(Ordering::Relaxed), pool.stats().completed), (accepted, accepted as u64));
    });
}

/// A handler that submits a task to another pool if there is no room in this pool.
struct Overflow(ThreadPoolExecutor);

impl RejectionHandler for Overflow {
    fn rejected(&self, refused: RejectedExecution, _: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        self.0.execute(refused.task)
    }
}

#[test]
fn a_handler_of_ones_own_may_pass_the_task_on() {
    within_deadline(|| {
        let (pool, _busy, first) =
            full(Overflow(ThreadPoolExecutor::builder().name("overflow").build().unwrap()));
        let elsewhere = pool.submit(|| thread::current().name().map(str::to_owned)).unwrap();
        assert_eq!(elsewhere.join_timeout(LONG).unwrap().as_deref(), Some("overflow-thread-1"));
        assert_eq!(first.state(), TaskState::Pending);
    });
}

/// A handler that makes room by taking out the next task. When the new task is in the queue, the handler runs
/// the task that the handler has taken out.
struct Swap(Record<String>);

impl RejectionHandler for Swap {
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        assert_eq!(
            format!("{pool:?}"),
            format!("RefusingPool {{ is_shutdown: {}, .. }}", pool.is_shutdown())
        );
        self.0.add(format!("{:?}, shut down: {}", refused.reason, pool.is_shutdown()));
        let again = pool.try_execute(refused.task).unwrap_err();
        let Some(next) = pool.take_next() else { return Err(again) };
        pool.try_execute(again.task)?;
        next.run();
        Ok(())
    }
}

#[test]
fn a_handler_of_ones_own_may_take_the_next_task_out_and_try_again() {
    within_deadline(|| {
        let heard = Record::new();
        let (pool, busy, first) = full(Swap(heard.clone()));
        let newcomer = pool.submit(|| 2).unwrap();
        assert_eq!(first.try_join().unwrap(), 1, "by the submitter");
        drop(busy);
        assert_eq!(newcomer.join_timeout(LONG).unwrap(), 2);
        pool.close();
        assert!(pool.execute(|| ()).is_err());
        assert_eq!(heard.so_far(), ["Saturated, shut down: false", "Shutdown, shut down: true"]);
    });
}

#[test]
fn the_handler_hears_of_a_task_that_no_thread_could_be_started_for() {
    within_deadline(|| {
        struct NoThreads;
        impl ThreadFactory for NoThreads {
            fn start(&self, _: Worker) -> std::io::Result<()> {
                Err(std::io::Error::other("no threads today"))
            }
        }
        let pool = ThreadPoolExecutor::builder().thread_factory(NoThreads).rejection_handler(CallerRuns);
        let pool = pool.build().unwrap();
        assert_eq!(
            pool.submit(|| thread::current().id()).unwrap().try_join().unwrap(),
            thread::current().id()
        );
        for handler in
            [Arc::new(Abort) as Arc<dyn RejectionHandler>, Arc::new(Block::new()), Arc::new(DiscardOldest)]
        {
            pool.set_rejection_handler(handler);
            let refused = pool.execute(|| ()).unwrap_err();
            assert_matches!(&refused.reason, RejectReason::NoThread(error) if error.to_string() == "no threads today");
        }
        pool.set_rejection_handler(Arc::new(Discard));
        assert_matches!(pool.submit(|| ()).unwrap().join(), Err(JoinError::Cancelled(_)));
        assert_eq!((pool.stats().threads, pool.stats().task_count()), (0, 0));
    });
}

/// If a handler is replaced during a call of this handler, the call continues to its end.
#[test]
fn a_handler_may_replace_itself() {
    struct Once(std::sync::Weak<ThreadPoolExecutor>);
    impl RejectionHandler for Once {
        fn rejected(
            &self,
            refused: RejectedExecution,
            _: &RefusingPool<'_>,
        ) -> Result<(), RejectedExecution> {
            self.0.upgrade().unwrap().set_rejection_handler(Arc::new(Discard));
            Err(refused)
        }
    }
    within_deadline(|| {
        let pool = Arc::new(full(Abort).0);
        // The tasks that filled the pool have ended, because the test has dropped the guard that kept the
        // thread busy. So the test fills the pool again.
        eventually("it is idle", || pool.stats().completed == 2);
        let _busy = occupy(&pool);
        pool.execute(|| ()).unwrap();
        pool.set_rejection_handler(Arc::new(Once(Arc::downgrade(&pool))));
        assert!(pool.execute(|| ()).is_err());
        pool.execute(|| ()).unwrap();
        assert_eq!(pool.queued(), 1);
    });
}
