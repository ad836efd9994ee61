//! Tests how a scheduled pool ends: its policies, the tasks that come back, and the tasks for which the pool
//! still waits.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use executor::{
    JoinError, ScheduledThreadPoolExecutor, Series, SeriesEnd, TaskHandle, TaskState, prelude::*,
};

use super::AN_HOUR;
use crate::support::{
    LONG, Record, SHORT, Signal, assert_matches, eventually, occupy, tracked, within_deadline,
};

/// SCHED-10: all combinations of the policies.
#[test]
fn after_a_shutdown_goes_on_what_was_agreed() {
    within_deadline(|| {
        for (delayed, periodic) in [(true, false), (true, true), (false, false), (false, true)] {
            let builder = ScheduledThreadPoolExecutor::builder().threads(2);
            let builder = builder.delayed_after_shutdown(delayed).periodic_after_shutdown(periodic);
            let pool = builder.build().unwrap();
            let busy = [occupy(&pool), occupy(&pool)];
            let at_once = pool.submit(|| 1).unwrap();
            let later = pool.schedule(4 * SHORT, || 2).unwrap();
            let body = |series: &Series| {
                if series.runs() == 3 {
                    _ = series.cancel();
                }
            };
            let series = pool.schedule_at_fixed_rate(SHORT, SHORT, body).unwrap();
            pool.shutdown();
            drop(busy);
            assert!(pool.await_termination(LONG), "delayed {delayed}, periodic {periodic}");
            assert_eq!(at_once.join().unwrap(), 1);
            assert_eq!(later.join().is_ok(), delayed);
            let end = if periodic { SeriesEnd::Cancelled } else { SeriesEnd::Shutdown };
            assert_eq!(series.ended(), Some(end));
            assert!(!periodic || series.runs() >= 4);
        }
    });
}

/// SCHED-23
#[test]
fn a_shutdown_that_cancels_delayed_tasks_finishes_them_at_once() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::builder().delayed_after_shutdown(false).build().unwrap();
        let (value, is_alive) = tracked();
        let far = pool.schedule(AN_HOUR, move || drop(value)).unwrap();
        pool.shutdown();
        assert_eq!((far.state(), is_alive()), (TaskState::Cancelled, false));
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn a_pool_that_was_shut_down_lives_until_its_last_delayed_task_has_run_or_is_cancelled() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let [first, last] = [(); 2].map(|()| pool.schedule(AN_HOUR, || ()).unwrap());
        pool.shutdown();
        assert!(first.cancel());
        assert!(!pool.await_termination(SHORT) && pool.is_shutdown() && !pool.is_terminated());
        assert!(pool.stats().to_string().contains("shutting down"), "{}", pool.stats());
        assert!(last.cancel());
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn a_shutdown_ends_a_series_that_is_paused() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let series = pool.schedule_at_fixed_rate(AN_HOUR, AN_HOUR, |_| ()).unwrap();
        assert!(series.pause());
        pool.shutdown();
        assert_eq!(series.ended(), Some(SeriesEnd::Shutdown));
        assert!(pool.await_termination(LONG));
    });
}

/// The test has two cases: the series waits for its next run, or the series is paused.
#[test]
fn series_that_go_on_after_a_shutdown_are_waited_for() {
    within_deadline(|| {
        for paused in [false, true] {
            let pool = ScheduledThreadPoolExecutor::builder().periodic_after_shutdown(true).build().unwrap();
            let series = pool.schedule_at_fixed_rate(AN_HOUR, AN_HOUR, |_| ()).unwrap();
            if paused {
                series.pause();
            }
            pool.shutdown();
            assert!(!pool.await_termination(SHORT));
            series.cancel();
            assert!(pool.await_termination(LONG));
        }
    });
}

#[test]
fn a_run_that_is_under_way_ends_in_peace_and_its_series_with_it() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (begun, end) = (Signal::new(), Signal::new());
        let there = (begun.clone(), end.clone());
        let body = move |_: &Series| {
            there.0.set();
            there.1.wait();
            assert!(executor::CancelToken::current().check().is_ok());
        };
        let series = pool.schedule_at_fixed_rate(Duration::ZERO, SHORT, body).unwrap();
        begun.wait();
        pool.shutdown();
        assert_eq!(series.ended(), None);
        end.set();
        assert!(pool.await_termination(LONG));
        assert_eq!((series.join().unwrap(), series.runs()), (SeriesEnd::Shutdown, 1));
    });
}

/// The first task runs, the second task is due, and the other tasks are not due. A run of a series is due,
/// too.
#[test]
fn shutdown_now_hands_out_what_was_due_and_then_what_was_not() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let spot = Signal::new();
        let begins = spot.clone();
        let runs = pool.submit_cancellable(move |token| {
            begins.set();
            token.sleep(AN_HOUR)
        });
        spot.wait();
        let order = Record::new();
        let note = |n: u32| {
            let order = order.clone();
            move || order.add(n)
        };
        let due = pool.schedule(Duration::ZERO, note(1)).unwrap();
        let ticks = pool.schedule_at_fixed_rate(Duration::ZERO, SHORT, |_| ()).unwrap();
        let rests = pool.schedule_at_fixed_rate(AN_HOUR, SHORT, |_| ()).unwrap();
        let called_off = pool.schedule_at_fixed_rate(Duration::ZERO, SHORT, |_| ()).unwrap();
        let far = [3, 2, 4].map(|n| pool.schedule(n * AN_HOUR, note(n)).unwrap());
        eventually("they are due", || pool.stats().pool.queued == 3);
        called_off.cancel();
        let back = pool.shutdown_now();
        assert_eq!(back.len(), 4, "{back:?}");
        assert_eq!((ticks.ended(), rests.ended()), (Some(SeriesEnd::Shutdown), Some(SeriesEnd::Shutdown)));
        assert!(pool.await_termination(LONG));
        assert_matches!(runs.unwrap().join(), Err(JoinError::Cancelled(_)));
        assert!(
            !far.iter().chain([&due]).any(TaskHandle::is_finished),
            "they are pending while they are kept"
        );
        for task in back {
            drop(task.run());
        }
        assert_eq!(order.so_far(), [1, 2, 3, 4]);
        assert!(far.iter().chain([&due]).all(TaskHandle::is_finished));
        assert!(pool.shutdown_now().is_empty());
    });
}

#[test]
fn close_waits_for_what_is_not_due_yet() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (start, later) = (Instant::now(), pool.schedule(4 * SHORT, || ()).unwrap());
        pool.close();
        assert!(start.elapsed() >= 4 * SHORT && later.is_finished() && pool.is_terminated());
    });
}

#[test]
fn close_turns_into_shutdown_now_when_its_task_is_cancelled() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let far = pool.schedule(AN_HOUR, || ()).unwrap();
        let token = executor::CancelToken::new();
        token.cancel();
        token.attach(|| pool.close());
        assert!(far.is_finished() && pool.is_terminated());
    });
}

#[test]
fn a_task_that_closes_its_own_pool_does_not_wait_for_itself() {
    within_deadline(|| {
        let pool = Arc::new(ScheduledThreadPoolExecutor::new(1));
        let own = Arc::clone(&pool);
        pool.schedule(SHORT, move || own.close()).unwrap().join().unwrap();
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn the_drop_cancels_what_is_not_due_and_waits_for_what_is() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let busy = occupy(&pool);
        let due = pool.schedule(Duration::ZERO, || 1).unwrap();
        eventually("it is due", || pool.stats().pool.queued == 1);
        let far = pool.schedule(AN_HOUR, || 2).unwrap();
        let series = pool.schedule_at_fixed_rate(AN_HOUR, AN_HOUR, |_| ()).unwrap();
        let ends = std::thread::spawn(move || drop(pool));
        assert_matches!(far.join(), Err(JoinError::Cancelled(_)));
        assert_eq!(series.join().unwrap(), SeriesEnd::Shutdown);
        assert!(!ends.is_finished(), "one of its threads is busy");
        drop(busy);
        ends.join().unwrap();
        assert!(due.is_finished());
        assert_eq!(due.join().unwrap(), 1);
    });
}

#[test]
fn a_pool_that_is_dropped_while_its_owner_unwinds_does_not_wait() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (begun, end) = (Signal::new(), Signal::new());
        let (is_begun, until) = (begun.clone(), end.clone());
        let runs = pool.submit(move || {
            is_begun.set();
            until.wait();
        });
        begun.wait();
        let (runs, far) = (runs.unwrap(), pool.schedule(AN_HOUR, || ()).unwrap());
        let unwound = catch_unwind(AssertUnwindSafe(move || {
            let _pool = pool;
            resume_unwind(Box::new("the owner's own trouble"));
        }));
        assert!(unwound.is_err());
        assert!(!runs.is_finished(), "it was waited for");
        assert_matches!(far.join(), Err(JoinError::Cancelled(_)));
        end.set();
        runs.join_timeout(LONG).unwrap();
    });
}

#[test]
fn a_pool_that_is_dropped_by_one_of_its_runs_ends_its_series() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (give, take) = std::sync::mpsc::channel::<ScheduledThreadPoolExecutor>();
        let body = move |_: &Series| drop(take.recv().unwrap());
        let series = pool.schedule_at_fixed_rate(Duration::ZERO, SHORT, body).unwrap();
        give.send(pool).unwrap();
        assert_eq!(series.join_timeout(LONG).unwrap(), SeriesEnd::Shutdown);
    });
}

#[test]
fn handles_of_a_series_outlive_its_pool() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let series = pool.schedule_at_fixed_rate(AN_HOUR, AN_HOUR, |_| ()).unwrap();
        drop(pool);
        assert_eq!(series.ended(), Some(SeriesEnd::Shutdown));
        series.set_period(SHORT);
        series.resume();
        assert!(!series.pause() && !series.cancel() && !series.is_paused());
        assert_eq!(series.next_run(), None);
    });
}
