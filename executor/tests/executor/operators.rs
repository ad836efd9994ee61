//! What operators alarm on: counts of the ways in which tasks end, and the times that tasks take.

use std::io;
use std::thread;
use std::time::Duration;

use executor::{
    Abort, Block, CallerRuns, CancelKind, Discard, FifoQueue, FutureTask, LifoQueue, RejectReason,
    RejectionHandler, ThreadFactory, ThreadPoolExecutor, WorkQueue, Worker, prelude::*,
};

use crate::support::{LONG, SHORT, assert_matches, eventually, occupy, on_thread, within_deadline};

/// Returns the number of cancelled tasks, of these cancelled in the queue, and timed out.
fn cancelled(pool: &ThreadPoolExecutor) -> (u64, u64, u64) {
    let stats = pool.stats();
    (stats.cancelled, stats.cancelled_in_queue, stats.timed_out)
}

/// A thread factory without a name.
struct Unnamed;

impl ThreadFactory for Unnamed {
    fn start(&self, worker: Worker) -> io::Result<()> {
        thread::Builder::new().spawn(|| worker.run()).map(drop)
    }
}

fn pool_with(queue: impl WorkQueue + 'static) -> ThreadPoolExecutor {
    ThreadPoolExecutor::builder().name("orders").queue(queue).build().unwrap()
}

#[test]
fn a_cancelled_task_is_counted_by_where_it_was_and_who_cancelled_it() {
    fn check(pool: &ThreadPoolExecutor) {
        let busy = occupy(pool);
        let waiting: Vec<_> = (0..3).map(|_| pool.submit(|| ()).unwrap()).collect();
        waiting[0].cancel();
        waiting[1].cancel();
        assert_eq!(cancelled(pool), (2, 2, 0), "the counts are right as soon as the cancel returns");
        let late = pool.submit(FutureTask::new(|| ()).timeout(SHORT)).unwrap();
        eventually("the limit of the task is up", || cancelled(pool) == (3, 3, 1));
        let FutureTask { task, handle } = FutureTask::new(|| ()).timeout(Duration::ZERO);
        eventually("the task was cancelled before it was submitted", || handle.is_finished());
        pool.execute(task).unwrap();
        assert_eq!(cancelled(pool), (4, 4, 2));
        assert_eq!(pool.stats().queued, 1, "of all these tasks one waits");
        drop(busy);

        let nap = pool.submit(FutureTask::cancellable(|token| token.sleep(LONG)).timeout(SHORT)).unwrap();
        let reason = nap.join().unwrap_err();
        assert_matches!(reason, executor::JoinError::Cancelled(why) if why.reason().unwrap().kind() == CancelKind::Deadline);
        drop(pool.submit_cancellable(|_| Err::<(), _>(executor::Cancelled)).unwrap().join());
        drop(pool.submit(|| panic!("not cancelled")).unwrap().join());
        eventually("all have ended", || pool.stats().active == 0);
        pool.close();
        assert_eq!(cancelled(pool), (6, 4, 3));
        let stats = pool.stats();
        let normally = stats.completed - stats.panicked - (stats.cancelled - stats.cancelled_in_queue);
        assert_eq!(normally, 2, "the busy task, and the third of those that waited: {stats}");
        assert!(late.join().is_err());
    }
    within_deadline(|| {
        check(&pool_with(FifoQueue::unbounded()));
        check(&pool_with(LifoQueue::unbounded())); // without the fast path
    });
}

#[test]
fn a_stop_of_the_pool_cancels_what_runs_and_takes_what_waits_out_of_the_counts() {
    within_deadline(|| {
        let pool = pool_with(FifoQueue::unbounded());
        let nap = pool.submit_cancellable(|token| token.sleep(LONG)).unwrap();
        eventually("it runs", || nap.state() == executor::TaskState::Running);
        let waits = pool.submit(|| ()).unwrap();
        drop(pool.shutdown_now());
        pool.close();
        assert_eq!(cancelled(&pool), (1, 0, 0), "the pool has given the other task away");
        assert_eq!(pool.stats().task_count(), 1);
        drop((nap.join(), waits.join()));
    });
}

/// Submits a task for which there is no room to a pool with this handler, and returns the pool after its end.
fn overflowed(handler: impl RejectionHandler + 'static) -> ThreadPoolExecutor {
    let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(handler);
    let pool = builder.build().unwrap();
    let busy = occupy(&pool);
    pool.execute(|| ()).unwrap();
    assert_eq!(pool.stats().refused, 0);
    thread::scope(|scope| {
        scope.spawn(|| drop(pool.submit(|| ())));
        eventually("the handler was asked", || pool.stats().refused == 1);
        drop(busy);
    });
    pool.close();
    pool
}

#[test]
fn a_task_counts_as_refused_once_whatever_the_handler_does_with_it() {
    within_deadline(|| {
        for (pool, completed) in [
            (overflowed(Abort), 2),
            (overflowed(Discard), 2),
            (overflowed(CallerRuns), 2), // the submitter runs the task, outside the counts
            (overflowed(Block::new()), 3),
        ] {
            let stats = pool.stats();
            assert_eq!((stats.refused, stats.completed, stats.cancelled), (1, completed, 0), "{stats}");
            assert_matches!(
                pool.execute(|| ()).map_err(|refused| refused.reason),
                Ok(()) | Err(RejectReason::Shutdown)
            );
            assert_eq!(pool.stats().refused, 2, "after the shutdown");
        }
    });
}

#[test]
fn a_cancelled_task_that_finds_no_room_is_refused_and_not_cancelled_in_the_queue() {
    within_deadline(|| {
        let pool = pool_with(LifoQueue::bounded(1));
        let _busy = occupy(&pool);
        pool.execute(|| ()).unwrap();
        for refused in 1..=3 {
            let FutureTask { task, handle } = FutureTask::new(|| ());
            handle.cancel();
            assert!(pool.execute(task).is_err());
            assert_eq!((cancelled(&pool), pool.stats().refused), ((0, 0, 0), refused));
        }
    });
}

#[test]
fn the_statistics_say_whose_they_are_and_what_went_wrong() {
    within_deadline(|| {
        let pool = pool_with(FifoQueue::bounded(1));
        assert_eq!(pool.stats().name.as_deref(), Some("orders"));
        let busy = occupy(&pool);
        let waits = pool.submit(|| ()).unwrap();
        assert!(pool.execute(|| ()).is_err());
        waits.cancel();
        assert_eq!(
            pool.stats().to_string(),
            "orders, running: 1 of 1 threads, 1 active, 0 queued, 0 completed (0 panicked), 1 cancelled, 1 refused"
        );
        assert!(format!("{pool:?}").contains(r#"name: Some("orders")"#), "{pool:?}");
        let unnamed = ThreadPoolExecutor::builder().thread_factory(Unnamed).build().unwrap().stats();
        assert_eq!(unnamed.name, None);
        assert!(unnamed.to_string().starts_with("running: 0 of 1 threads"), "{unnamed}");
        drop(busy);
        on_thread(move || pool.close()).result();
    });
}
