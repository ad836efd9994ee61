//! Scheduled pools: planned tasks are cancelled or removed, or the pool ends before the tasks run; a series
//! receives all calls that its owner can make. Each task runs once, is handed back or is dropped. Each series
//! ends exactly once. The sleeping thread wakes in time, and ends when the pool ends.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use executor_model::{
    AfterPanic, CancelToken, ExecutorService, JoinError, Latch, RejectReason, ScheduledThreadPoolExecutor,
    Series, SeriesEnd, TaskHandle,
};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::thread;

use crate::{check, without_new_threads};

const MS: Duration = Duration::from_millis(1);
/// A time this far away never comes under a model.
const FAR: Duration = Duration::from_secs(300 * 365 * 24 * 3600);
/// A time limit that is so long that it never ends a wait.
const FOR_EVER: Duration = Duration::MAX;

/// A pool whose tasks count their runs.
struct Counted {
    pool: Arc<ScheduledThreadPoolExecutor>,
    runs: [Arc<AtomicUsize>; 3],
}

impl Counted {
    fn new(pool: ScheduledThreadPoolExecutor) -> Self {
        Self { pool: Arc::new(pool), runs: Default::default() }
    }

    fn schedule(&self, n: usize, delay: Duration) -> Option<TaskHandle<()>> {
        let runs = Arc::clone(&self.runs[n]);
        self.pool.schedule(delay, move || _ = runs.fetch_add(1, SeqCst)).ok()
    }

    fn runs(&self, n: usize) -> usize {
        self.runs[n].load(SeqCst)
    }
}

#[test]
fn a_planned_task_runs_or_is_cancelled() {
    check(|| {
        let counted = Counted::new(ScheduledThreadPoolExecutor::new(1));
        let handles = [0, 1].map(|n| counted.schedule(n, MS).unwrap());
        let cancellers = handles.each_ref().map(TaskHandle::canceller);
        let cancels = thread::spawn(move || cancellers.map(|task| task.cancel()));
        let ends = handles.map(|handle| handle.join().is_ok());
        let cancelled = cancels.join().unwrap();
        assert_eq!(ends, cancelled.map(|cancelled| !cancelled));
        counted.pool.close();
        for n in [0, 1] {
            assert!(!ends[n] || counted.runs(n) == 1, "it says that it has run");
            assert!(counted.runs(n) <= 1);
        }
        assert_eq!(counted.pool.stats().delayed, 0);
    });
}

/// When the canceller looks at the slot of a cancelled task, this slot may already hold another task.
#[test]
fn a_cancel_takes_no_other_task_out() {
    check(|| {
        let counted = Counted::new(ScheduledThreadPoolExecutor::new(1));
        let first = counted.schedule(0, MS).unwrap();
        let cancels = thread::spawn(move || first.cancel());
        let next = counted.schedule(1, 2 * MS).unwrap();
        let last = counted.schedule(2, 3 * MS).unwrap();
        next.join().unwrap();
        last.join().unwrap();
        cancels.join().unwrap();
        counted.pool.close();
    });
}

#[test]
fn a_planned_task_runs_or_is_removed() {
    check(|| {
        let counted = Counted::new(ScheduledThreadPoolExecutor::new(1));
        let handle = counted.schedule(0, MS).unwrap();
        let removes = thread::spawn(move || {
            let task = handle.remove();
            let removed = task.is_some();
            if let Some(task) = task {
                drop(task.run());
            }
            handle.join().unwrap();
            removed
        });
        removes.join().unwrap();
        counted.pool.close();
        assert_eq!((counted.runs(0), counted.pool.stats().delayed), (1, 0));
    });
}

#[test]
fn an_earlier_task_wakes_the_sleeper() {
    check(|| {
        let counted = Counted::new(ScheduledThreadPoolExecutor::new(1));
        let far = counted.schedule(0, FAR).unwrap();
        counted.schedule(1, MS).unwrap().join().unwrap();
        let from_another = Arc::clone(&counted.pool);
        let another = thread::spawn(move || from_another.schedule(MS, || ()).unwrap().join().unwrap());
        counted.schedule(2, 2 * MS).unwrap().join().unwrap();
        another.join().unwrap();
        assert!(far.cancel());
        counted.pool.close();
    });
}

#[test]
fn what_was_accepted_before_the_shutdown_runs_and_the_pool_ends() {
    check(|| {
        let counted = Arc::new(Counted::new(ScheduledThreadPoolExecutor::new(1)));
        let own = Arc::clone(&counted);
        let schedules = thread::spawn(move || [0, 1].map(|n| own.schedule(n, MS)));
        counted.pool.shutdown();
        let handles = schedules.join().unwrap();
        assert!(counted.pool.await_termination(FOR_EVER));
        for (n, handle) in handles.into_iter().enumerate() {
            assert_eq!(counted.runs(n), usize::from(handle.is_some()));
        }
    });
}

#[test]
fn delayed_tasks_that_a_shutdown_cancels_run_or_are_cancelled() {
    check(|| {
        let builder = ScheduledThreadPoolExecutor::builder().delayed_after_shutdown(false);
        let counted = Counted::new(builder.build().unwrap());
        let handles = [(0, MS), (1, MS), (2, FAR)].map(|(n, delay)| counted.schedule(n, delay).unwrap());
        counted.pool.close();
        for (n, handle) in handles.into_iter().enumerate() {
            assert_eq!(counted.runs(n), usize::from(handle.join().is_ok()));
        }
    });
}

#[test]
fn shutdown_now_hands_out_each_task_that_was_not_begun() {
    check(|| {
        let counted = Arc::new(Counted::new(ScheduledThreadPoolExecutor::new(1)));
        let handles = [(0, MS), (1, MS), (2, FAR)].map(|(n, delay)| counted.schedule(n, delay).unwrap());
        let own = Arc::clone(&counted);
        let back = thread::spawn(move || own.pool.shutdown_now()).join().unwrap();
        assert!(counted.pool.await_termination(FOR_EVER));
        let ran: usize = (0..3).map(|n| counted.runs(n)).sum();
        assert_eq!(ran + back.len(), 3);
        assert_eq!(handles.iter().filter(|handle| handle.is_finished()).count(), ran);
        drop(back);
        assert!(handles.iter().all(TaskHandle::is_finished));
    });
}

/// The pool waits for one last task, and this task is cancelled or becomes due.
#[test]
fn the_last_planned_task_ends_a_pool_that_was_shut_down() {
    check(|| {
        let counted = Counted::new(ScheduledThreadPoolExecutor::new(1));
        let [near, far] = [MS, FAR].map(|delay| counted.schedule(0, delay).unwrap());
        let cancels = thread::spawn(move || near.cancel() | far.cancel());
        counted.pool.shutdown();
        assert!(counted.pool.await_termination(FOR_EVER));
        assert!(cancels.join().unwrap());
    });
}

#[test]
fn a_dropped_pool_leaves_no_handle_open_and_no_thread() {
    check(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let handles = [MS, FAR].map(|delay| pool.schedule(delay, || ()).unwrap());
        let series = pool.schedule_at_fixed_rate(MS, MS, |_| ()).unwrap();
        drop(pool);
        assert!(handles.iter().all(TaskHandle::is_finished));
        let [_, far] = handles;
        assert!(matches!(far.join(), Err(JoinError::Cancelled(_))));
        assert_eq!(series.join().unwrap(), SeriesEnd::Shutdown);
    });
}

/// A counter of the runs, and of the runs that overlap with another run.
#[derive(Clone, Default)]
struct Overlaps {
    inside: Arc<AtomicUsize>,
    seen: Arc<AtomicUsize>,
}

impl Overlaps {
    /// Returns a body that repeats only a few times, because otherwise the schedule would not end.
    fn body(&self) -> impl FnMut(&Series) + Send + 'static {
        let own = self.clone();
        move |series| {
            if series.runs() > 3 {
                series.set_period(FAR);
            }
            own.seen.fetch_add(own.inside.fetch_add(1, SeqCst), SeqCst);
            own.inside.fetch_sub(1, SeqCst);
        }
    }

    fn are_none(&self) {
        assert_eq!(self.seen.load(SeqCst), 0);
    }
}

#[test]
fn a_series_ends_once_by_its_cancel_or_the_shutdown() {
    check(|| {
        let pool = Arc::new(ScheduledThreadPoolExecutor::new(1));
        let overlaps = Overlaps::default();
        let series = pool.schedule_with_fixed_delay(MS, MS, overlaps.body()).unwrap();
        let own = series.clone();
        let cancels = thread::spawn(move || own.cancel());
        pool.shutdown();
        assert!(pool.await_termination(FOR_EVER));
        let cancelled = cancels.join().unwrap();
        let end = if cancelled { SeriesEnd::Cancelled } else { SeriesEnd::Shutdown };
        assert_eq!(series.join().unwrap(), end);
        assert_eq!(pool.stats().series, 0);
        overlaps.are_none();
    });
}

#[test]
fn a_cancelled_series_drops_what_it_captured_once_its_run_has_ended() {
    check(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (value, begun) = (Arc::new(()), Arc::new(Latch::new(1)));
        let weak = Arc::downgrade(&value);
        let begins = Arc::clone(&begun);
        let body = move |_: &Series| {
            assert_eq!(Arc::strong_count(&value), 1);
            begins.count_down();
        };
        let series = pool.schedule_with_fixed_delay(MS, MS, body).unwrap();
        begun.wait().unwrap();
        assert!(series.cancel());
        pool.close();
        assert!(weak.upgrade().is_none());
    });
}

#[test]
fn a_series_that_is_paused_and_resumed_goes_on_and_never_overlaps_itself() {
    check(|| {
        let pool = Arc::new(ScheduledThreadPoolExecutor::new(2));
        let (overlaps, runs) = (Overlaps::default(), Arc::new(Latch::new(3)));
        let (mut body, counts) = (overlaps.body(), Arc::clone(&runs));
        let body = move |series: &Series| {
            body(series);
            counts.count_down();
        };
        let series = pool.schedule_with_fixed_delay(Duration::ZERO, MS, body).unwrap();
        let own = series.clone();
        let pauses = thread::spawn(move || {
            for _ in 0..2 {
                own.pause();
                own.resume();
            }
        });
        runs.wait().unwrap();
        pauses.join().unwrap();
        series.cancel();
        pool.close();
        overlaps.are_none();
    });
}

#[test]
fn a_shorter_period_and_a_resumed_series_wake_the_sleeper() {
    check(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let runs = Arc::new(Latch::new(2));
        let counts = Arc::clone(&runs);
        let series = pool.schedule_at_fixed_rate(Duration::ZERO, FAR, move |_| counts.count_down()).unwrap();
        let own = series.clone();
        let changes = thread::spawn(move || own.set_period(MS));
        runs.wait().unwrap();
        changes.join().unwrap();
        series.pause();
        series.resume();
        series.cancel();
        pool.close();
    });
}

/// A thread pauses the series while a run waits for a thread of the pool. The thread resumes the series
/// before the pool has skipped the paused run.
#[test]
fn a_run_that_was_left_out_does_not_count_as_another() {
    check(|| {
        let pool = Arc::new(ScheduledThreadPoolExecutor::new(2));
        let overlaps = Overlaps::default();
        let series = pool.schedule_with_fixed_delay(Duration::ZERO, Duration::ZERO, overlaps.body()).unwrap();
        series.pause();
        series.resume();
        series.pause();
        series.resume();
        assert_eq!(series.ended(), None, "no call has ended it");
        assert!(series.cancel());
        pool.close();
        overlaps.are_none();
    });
}

#[test]
fn a_series_whose_runs_panic_ends_or_goes_on_as_was_agreed() {
    check(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let stops = pool.series(|_| resume_unwind(Box::new("no"))).with_fixed_delay(MS).unwrap();
        assert!(matches!(stops.join().unwrap(), SeriesEnd::Panicked(panic) if panic.message() == "no"));
        let runs = Arc::new(Latch::new(2));
        let counts = Arc::clone(&runs);
        let body = move |_: &Series| {
            counts.count_down();
            resume_unwind(Box::new("no"))
        };
        let goes_on = pool.series(body).after_panic(AfterPanic::Continue).with_fixed_delay(MS).unwrap();
        runs.wait().unwrap();
        pool.close();
        assert_eq!(goes_on.join().unwrap(), SeriesEnd::Shutdown);
    });
}

#[test]
fn without_a_thread_to_watch_the_time_a_task_is_refused_and_the_next_one_tries_again() {
    check(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let refused = without_new_threads(|| pool.schedule(MS, || 7)).unwrap_err();
        assert!(matches!(refused.reason, RejectReason::NoThread(_)));
        let series = without_new_threads(|| pool.schedule_at_fixed_rate(MS, MS, |_| ()));
        assert!(matches!(series.unwrap_err().reason, RejectReason::NoThread(_)));
        assert_eq!((pool.stats().delayed, pool.stats().series), (0, 0));
        pool.schedule(MS, || ()).unwrap().join().unwrap();
        refused.task.run();
        assert_eq!(refused.handle.join().unwrap(), 7);
        pool.close();
    });
}

/// The end of the time limit and the end of the task can come in either order. The handle has one outcome,
/// and the task has run at most once.
#[test]
fn a_task_with_a_time_limit_has_one_outcome() {
    check(|| {
        let counted = Counted::new(ScheduledThreadPoolExecutor::new(1));
        let runs = Arc::clone(&counted.runs[0]);
        let handle = counted.pool.submit_with_timeout(MS, move || runs.fetch_add(1, SeqCst)).unwrap();
        let outcome = handle.join();
        counted.pool.close();
        match outcome {
            Ok(before) => assert_eq!((before, counted.runs(0)), (0, 1)),
            Err(JoinError::Cancelled(_)) => assert!(counted.runs(0) <= 1),
            Err(other) => panic!("{other}"),
        }
    });
}

/// When the time is up, the pool cancels the task, and the task's result comes too late.
#[test]
fn a_stand_in_is_there_before_the_task_is_cancelled() {
    check(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let load = || CancelToken::current().sleep(FOR_EVER).map_or("cut off", |()| "in time");
        let banner = pool.submit_with_timeout_or(MS, load, || "stand-in").unwrap();
        assert_eq!(banner.join().unwrap(), "stand-in");
        pool.close();
    });
}

#[test]
fn a_time_limit_is_taken_back_with_the_end_of_its_task() {
    check(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let captured = Arc::new(());
        let kept = Arc::clone(&captured);
        let instead = move || {
            drop(kept);
            "stand-in"
        };
        assert_eq!(
            pool.submit_with_timeout_or(FAR, || "in time", instead).unwrap().join().unwrap(),
            "in time"
        );
        pool.close();
        assert_eq!(Arc::strong_count(&captured), 1, "the limit is still kept");
    });
}
