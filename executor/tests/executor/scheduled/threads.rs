//! The threads of a scheduled pool: when the pool starts them, and what happens to due tasks if the system
//! cannot start a thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use executor::{ScheduledThreadPoolExecutor, SeriesEnd, ThreadFactory, Worker, prelude::*};

use super::AN_HOUR;
use crate::support::{LONG, eventually, within_deadline};

/// A factory that counts its calls, and that starts no thread until the test permits it.
#[derive(Default)]
struct ThreadsLater {
    asked: AtomicUsize,
    has_some: AtomicBool,
}

impl ThreadFactory for ThreadsLater {
    fn start(&self, worker: Worker) -> io::Result<()> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if !self.has_some.load(Ordering::SeqCst) {
            return Err(io::Error::other("no thread for now"));
        }
        std::thread::Builder::new().spawn(|| worker.run()).map(drop)
    }
}

/// The pool must start a thread before the first task is due: a thread takes time to start, so otherwise this
/// task would begin late.
#[test]
fn threads_come_when_tasks_are_planned_and_not_when_they_are_due() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(2);
        let threads = [1, 2, 3].map(|_| {
            drop(pool.schedule(AN_HOUR, || ()).unwrap());
            pool.stats().pool.threads
        });
        assert_eq!(threads, [1, 2, 2]);
    });
}

#[test]
fn what_is_due_while_there_is_no_thread_runs_as_soon_as_there_is_one() {
    within_deadline(|| {
        let threads = Arc::new(ThreadsLater::default());
        let pool = ScheduledThreadPoolExecutor::builder().thread_factory(Arc::clone(&threads));
        let pool = pool.build().unwrap();
        let due = pool.schedule(Duration::ZERO, || 7).unwrap();
        // The pool called the factory for the first time when the test planned the task.
        eventually("it was due", || threads.asked.load(Ordering::SeqCst) >= 2);
        threads.has_some.store(true, Ordering::SeqCst);
        assert_eq!(due.join_timeout(LONG).unwrap(), 7);
    });
}

/// The run waits for the next attempt to start a thread. The shutdown removes the run from the pool. If the
/// shutdown comes too late to remove the run, the run still reaches the pool, but does nothing there.
#[test]
fn a_shutdown_ends_a_series_whose_run_finds_no_thread() {
    within_deadline(|| {
        for _ in 0..5 {
            let threads = Arc::new(ThreadsLater::default());
            let pool = ScheduledThreadPoolExecutor::builder().delayed_after_shutdown(false);
            let pool = pool.thread_factory(Arc::clone(&threads)).build().unwrap();
            let series = pool.schedule_at_fixed_rate(Duration::ZERO, AN_HOUR, |_| ()).unwrap();
            eventually("its run was due and came back", || pool.stats().delayed == 1);
            pool.shutdown();
            threads.has_some.store(true, Ordering::SeqCst);
            assert_eq!(series.join_timeout(LONG).unwrap(), SeriesEnd::Shutdown);
            assert!(pool.await_termination(LONG));
            assert_eq!(series.runs(), 0);
        }
    });
}
