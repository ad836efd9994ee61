//! Common complaints about other thread pools, with one test for each complaint. The tests show that the
//! complaints do not apply to this library.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use executor::panics::PanicReport;
use executor::{
    Block, Discard, ExecutorService, FifoQueue, FutureTask, JoinError, PoolConfigError, PriorityQueue,
    RejectReason, Task, TaskState, ThreadPoolExecutor, prelude::*,
};

use crate::support::{
    LONG, Record, SHORT, assert_matches, blocked, eventually, occupy, tracked, within_deadline,
};

/// The pool always keeps the user's bound, and a submitter that exceeds the bound gets an error.
#[test]
fn unbounded_by_accident() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder()
            .core_threads(1)
            .maximum_threads(2)
            .queue(FifoQueue::bounded(3))
            .build()
            .unwrap();
        let mut busy = vec![occupy(&pool)];
        for _ in 0..3 {
            pool.execute(|| ()).unwrap();
        }
        busy.push(occupy(&pool));
        for _ in 0..1_000 {
            assert_matches!(pool.execute(|| ()).unwrap_err().reason, RejectReason::Saturated);
        }
        assert_eq!((pool.queued(), pool.stats().threads), (3, 2));
    });
}

/// If the queue prevents the pool from ever reaching its maximum, the construction of the pool returns an
/// error. So users learn of such a contradiction at once.
#[test]
fn maximum_never_reached() {
    within_deadline(|| {
        let surprising = || ThreadPoolExecutor::builder().core_threads(2).maximum_threads(10);
        let error = surprising().build().unwrap_err();
        assert_eq!(error, PoolConfigError::MaximumNeverReached { core: 2, maximum: 10 });
        assert!(error.to_string().contains("bound the queue, or start threads first"));
        let pool = surprising().threads_first().build().unwrap();
        let _busy: Vec<_> = (0..10).map(|_| occupy(&pool)).collect();
        assert_eq!(pool.stats().threads, 10);
    });
}

#[test]
fn no_blocking_or_timed_submit() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(Block::new());
        let pool = Arc::new(pool.build().unwrap());
        let busy = occupy(&pool);
        pool.execute(|| ()).unwrap();
        let submitter = blocked({
            let pool = Arc::clone(&pool);
            move || pool.submit(|| 7).unwrap()
        });
        assert!(submitter.still_waits());
        drop(busy);
        assert_eq!(submitter.result().join_timeout(LONG).unwrap(), 7);

        let _busy = occupy(&pool);
        pool.execute(|| ()).unwrap();
        pool.set_rejection_handler(Arc::new(Block::for_at_most(SHORT)));
        assert_matches!(pool.execute(|| ()).unwrap_err().reason, RejectReason::TimedOut);
    });
}

/// If a task never runs, its waiters are released, no matter why the task does not run.
#[test]
fn discarded_tasks_handles_never_finish() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(Discard);
        let pool = pool.build().unwrap();
        let _busy = occupy(&pool);
        let queued = pool.submit(|| ()).unwrap();
        let discarded = pool.submit(|| ()).unwrap();
        assert_matches!(discarded.join_timeout(LONG), Err(JoinError::Cancelled(_)));
        let waiter = blocked(move || queued.join());
        drop(pool.shutdown_now()); // drops the tasks that it hands back
        assert_matches!(waiter.result(), Err(JoinError::Cancelled(_)));
    });
}

/// A pool without an owner ends by itself, and users can wait for the end of any pool.
#[test]
fn pools_that_never_end_or_cannot_be_awaited() {
    within_deadline(|| {
        let threads = Arc::new(executor::NamedThreads::new("abandoned"));
        let pool =
            ThreadPoolExecutor::builder().threads(2).thread_factory(Arc::clone(&threads)).build().unwrap();
        let last = pool.submit(|| 7).unwrap();
        drop(pool);
        assert_eq!(last.try_join().unwrap(), 7, "the drop has waited for it");
        eventually("its threads are gone", || threads.alive() == 0);

        let pool = ThreadPoolExecutor::fixed(2);
        let busy = occupy(&pool);
        assert!(!pool.await_termination(SHORT));
        pool.shutdown();
        drop(busy);
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn a_panic_ends_the_process() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        for _ in 0..100 {
            pool.execute(|| std::panic::resume_unwind(Box::new("not the end"))).unwrap();
        }
        assert_eq!(pool.submit(|| 7).unwrap().join_timeout(LONG).unwrap(), 7);
        assert_eq!((pool.stats().panicked, pool.stats().peak_threads), (100, 1));
    });
}

/// In other libraries `submit` wraps the task, and the priority queue cannot compare the wrapped task.
#[test]
fn no_priorities_through_submit() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().queue(PriorityQueue::new()).build().unwrap();
        let busy = occupy(&pool);
        let order = Record::new();
        let handles = [3, 1, 2].map(|priority| {
            let order = order.clone();
            pool.submit(FutureTask::new(move || order.add(priority)).prioritized(priority)).unwrap()
        });
        drop(busy);
        for handle in handles {
            handle.join_timeout(LONG).unwrap();
        }
        assert_eq!(order.so_far(), [3, 2, 1]);
    });
}

#[test]
fn no_names_and_no_view_inside() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().name("thumbnails").build().unwrap();
        let (started, go) = (crate::support::Signal::new(), crate::support::Signal::new());
        let there = (started.clone(), go.clone());
        let running = FutureTask::new(move || {
            there.0.set();
            there.1.wait();
            std::thread::current().name().map(str::to_owned)
        });
        let running = pool.submit(running.named("cat.png")).unwrap();
        started.wait();
        pool.execute(Task::new(|| ()).named("dog.png")).unwrap();
        let printed = pool.snapshot().to_string();
        go.set();
        assert_eq!(
            printed,
            "thumbnails, running: 1 of 1 threads, 1 active, 1 queued, 0 completed (0 panicked)\n  running cat.png\n  queued  dog.png"
        );
        assert_eq!(running.join_timeout(LONG).unwrap().as_deref(), Some("thumbnails-thread-1"));
    });
}

/// When a task is cancelled, its captured values are dropped at once. The queue entries of cancelled tasks do
/// not accumulate.
#[test]
fn cancelled_tasks_held_in_memory() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let _busy = occupy(&pool);
        for _ in 0..1_000 {
            let (captured, is_captured) = tracked();
            assert!(pool.submit(move || drop(captured)).unwrap().cancel());
            assert!(!is_captured());
            assert_eq!(pool.queued(), 0);
        }
        pool.purge();
        assert!(pool.shutdown_now().is_empty());
    });
}

#[test]
fn an_idle_worker_holding_the_last_tasks_data() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let (captured, is_captured) = tracked();
        pool.execute(move || drop(Arc::clone(&captured))).unwrap();
        eventually("it is gone although the thread waits for more", || !is_captured());
        eventually("the thread waits", || pool.stats().active == 0);
        assert_eq!(pool.stats().threads, 1);
    });
}

#[test]
fn failures_that_vanish() {
    within_deadline(|| {
        let heard = Arc::new(AtomicUsize::new(0));
        let pool = ThreadPoolExecutor::builder().panic_handler({
            let heard = Arc::clone(&heard);
            move |_: &PanicReport<'_>| _ = heard.fetch_add(1, Ordering::SeqCst)
        });
        let pool = pool.build().unwrap();
        pool.execute(|| std::panic::resume_unwind(Box::new("executed"))).unwrap();
        drop(
            pool.submit(|| std::panic::resume_unwind(Box::new("let go")))
                .map(|handle: executor::TaskHandle<()>| handle),
        );
        let read = pool.submit(|| -> () { std::panic::resume_unwind(Box::new("read")) }).unwrap();
        assert_matches!(read.join(), Err(JoinError::Panicked(panic)) if panic.message() == "read");
        pool.close();
        eventually("the unread panics are reported", || heard.load(Ordering::SeqCst) == 2);
    });
}

/// The core size of the pool is zero, and its queue has room. Earlier versions of `java.util.concurrent` ran
/// no tasks in such a pool.
#[test]
fn core_zero_runs_nothing() {
    within_deadline(|| {
        let pool =
            ThreadPoolExecutor::builder().core_threads(0).maximum_threads(4).keep_alive(Duration::ZERO);
        let pool = pool.queue(FifoQueue::bounded(100)).build().unwrap();
        for n in 0..100 {
            assert_eq!(pool.submit(move || n).unwrap().join_timeout(LONG).unwrap(), n);
        }
        let parting = pool.submit(|| ()).unwrap();
        pool.shutdown();
        assert!(pool.await_termination(LONG));
        assert_eq!(parting.state(), TaskState::Completed);
    });
}
