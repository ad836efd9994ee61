//! Tasks that run once, after a delay.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{hint, thread};

use executor::{
    FutureTask, JoinError, RejectReason, ScheduledThreadPoolExecutor, Task, TaskState, prelude::*,
};

use super::{AN_HOUR, on_one_and_on_several_threads};
use crate::support::{
    Explosions, LONG, Record, SHORT, Signal, assert_matches, eventually, occupy, tracked, within_deadline,
};

/// SCHED-2, SCHED-4, SCHED-5
#[test]
fn a_delayed_task_runs_no_earlier_than_its_delay_and_yields_its_value() {
    within_deadline(|| {
        on_one_and_on_several_threads(|pool| {
            for delay in [0, 1, 5, 20].map(Duration::from_millis) {
                let start = Instant::now();
                let value = pool.schedule(delay, Instant::now).unwrap();
                let unit = pool.schedule(delay, || ()).unwrap();
                assert!(value.join().unwrap() >= start + delay);
                unit.join().unwrap();
                assert!(start.elapsed() >= delay);
            }
            assert_eq!(pool.stats().delayed, 0);
        });
    });
}

#[test]
fn a_task_runs_at_its_instant_and_at_once_if_that_has_passed() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let past = Instant::now();
        let soon = past + SHORT;
        let begun = pool.schedule_at(soon, Instant::now).unwrap();
        pool.schedule_at(past, || ()).unwrap().join().unwrap();
        assert!(begun.join().unwrap() >= soon);
    });
}

/// INV-22
#[test]
fn a_task_without_a_delay_runs_at_once() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let far = pool.schedule(AN_HOUR, || ()).unwrap();
        let ran = Signal::new();
        let runs = ran.clone();
        pool.execute(move || runs.set()).unwrap();
        ran.wait();
        assert_eq!(pool.submit(|| 1).unwrap().join().unwrap(), 1);
        assert!(!far.is_finished());
    });
}

#[test]
fn what_is_due_runs_by_time_and_at_equal_times_in_the_order_in_which_it_was_scheduled() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (order, busy) = (Record::new(), occupy(&pool));
        let now = Instant::now();
        for n in [3, 1, 2, 1, 3] {
            let order = order.clone();
            drop(pool.schedule_at(now + Duration::from_millis(n), move || order.add(n)).unwrap());
        }
        eventually("all are due", || pool.stats().pool.queued == 5);
        drop(busy);
        eventually("all have run", || order.len() == 5);
        assert_eq!(order.so_far(), [1, 1, 2, 3, 3]);
    });
}

#[test]
fn a_task_that_is_scheduled_later_and_due_sooner_wakes_the_sleeper() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let far = pool.schedule(AN_HOUR, || ()).unwrap();
        for _ in 0..20 {
            pool.schedule(Duration::from_millis(1), || ()).unwrap().join_timeout(LONG).unwrap();
        }
        assert_eq!(far.state(), TaskState::Pending);
    });
}

/// SCHED-11
#[test]
fn no_delay_is_too_long_and_what_is_due_now_is_not_held_up() {
    within_deadline(|| {
        on_one_and_on_several_threads(|pool| {
            let never = pool.schedule(Duration::MAX, || ()).unwrap();
            let series = [
                pool.schedule_at_fixed_rate(Duration::MAX, Duration::MAX, |_| ()).unwrap(),
                pool.schedule_with_fixed_delay(Duration::ZERO, Duration::MAX, |_| ()).unwrap(),
            ];
            pool.schedule(Duration::ZERO, || ()).unwrap().join_timeout(LONG).unwrap();
            pool.submit(|| ()).unwrap().join_timeout(LONG).unwrap();
            eventually("its first run has ended", || series[1].runs() == 1 && series[1].next_run().is_some());
            let thousand_years_off = Instant::now() + Duration::from_hours(24 * 365 * 150);
            assert!(series.iter().all(|series| series.next_run().unwrap() > thousand_years_off));
            assert!(never.cancel());
        });
    });
}

#[test]
fn a_cancelled_task_leaves_at_once_and_what_it_captured_is_dropped() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (value, is_alive) = tracked();
        let handle = pool.schedule(AN_HOUR, move || drop(value)).unwrap();
        let other = pool.schedule(AN_HOUR, || ()).unwrap();
        assert_eq!(pool.stats().delayed, 2);
        assert!(handle.cancel() && !handle.cancel());
        assert!(!is_alive());
        assert_eq!(pool.stats().delayed, 1);
        assert_eq!(other.state(), TaskState::Pending);
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
    });
}

#[test]
fn a_task_that_was_cancelled_before_it_came_is_not_planned() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let task = FutureTask::new(|| ());
        task.handle.cancel();
        let handle = pool.schedule(AN_HOUR, task).unwrap();
        assert!(handle.is_finished());
        assert_eq!(pool.stats().delayed, 0);
    });
}

/// REM-3
#[test]
fn a_task_that_is_removed_comes_back_and_can_be_run() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let task = FutureTask::new(|| 7).named("seven");
        let handle = pool.schedule(AN_HOUR, task).unwrap();
        let task: Task = handle.remove().expect("it waits");
        assert_eq!((task.name(), task.id(), pool.stats().delayed), (Some("seven"), handle.id(), 0));
        assert!(handle.remove().is_none());
        task.run();
        assert_eq!(handle.join().unwrap(), 7);
    });
}

/// SCHED-13
#[test]
fn scheduling_and_cancelling_leaves_nothing_behind() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        for _ in 0..100_000 {
            assert!(pool.schedule(Duration::from_mins(10), || ()).unwrap().cancel());
        }
        let stats = pool.stats();
        assert_eq!((stats.delayed, stats.pool.task_count()), (0, 0));
        pool.shutdown();
        assert!(pool.await_termination(LONG) && pool.is_terminated());
        assert_eq!(pool.stats().pool.task_count(), 0);
    });
}

#[test]
fn a_hundred_thousand_tasks_wait_and_all_of_them_run() {
    const TASKS: usize = 100_000;
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(2);
        let ran = Arc::new(AtomicUsize::new(0));
        let soon = Instant::now() + Duration::from_millis(200);
        for n in 0..TASKS {
            let ran = Arc::clone(&ran);
            let at = soon + Duration::from_micros((n * 7_919 % TASKS) as u64);
            drop(pool.schedule_at(at, move || ran.fetch_add(1, Ordering::Relaxed)).unwrap());
        }
        pool.close();
        assert_eq!((ran.load(Ordering::Relaxed), pool.stats().pool.completed), (TASKS, TASKS as u64));
    });
}

/// One thread is busy; the sleeping thread and the other thread are idle.
#[test]
fn a_long_task_delays_no_other_while_there_is_a_thread() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(2);
        let (begun, end) = (Signal::new(), Signal::new());
        let there = (begun.clone(), end.clone());
        let long = move || {
            there.0.set();
            there.1.wait();
        };
        let long = pool.schedule(Duration::ZERO, long).unwrap();
        begun.wait();
        pool.schedule(SHORT, || ()).unwrap().join_timeout(LONG).unwrap();
        end.set();
        long.join().unwrap();
    });
}

#[test]
fn a_panic_costs_no_other_task_and_no_thread() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let fails = pool.schedule(Duration::ZERO, || std::panic::resume_unwind(Box::new("no"))).unwrap();
        assert_matches!(fails.join(), Err::<(), _>(JoinError::Panicked(_)));
        pool.schedule(SHORT, || ()).unwrap().join().unwrap();
        assert_eq!(pool.stats().pool.panicked, 1);
    });
}

/// In this test, the thread that cancels a task or shuts the pool down also drops the captured values of the
/// task.
#[test]
fn captured_values_that_panic_when_they_are_dropped_do_no_harm() {
    within_deadline(|| {
        let explosions = Explosions::default();
        let pool = ScheduledThreadPoolExecutor::builder().delayed_after_shutdown(false).build().unwrap();
        let [first, second, third] = [(); 3].map(|()| {
            let bomb = explosions.bomb();
            pool.schedule(AN_HOUR, move || drop(bomb)).unwrap()
        });
        let bomb = explosions.bomb();
        let series = pool.schedule_at_fixed_rate(AN_HOUR, AN_HOUR, move |_| _ = &bomb).unwrap();
        assert!(first.cancel() && series.cancel());
        assert_eq!(explosions.count(), 2);
        pool.shutdown();
        assert_eq!(explosions.count(), 4);
        assert!(second.is_finished() && third.is_finished() && pool.await_termination(LONG));
    });
}

/// SCHED-24
#[test]
fn after_a_shutdown_everything_is_refused_and_comes_back() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        pool.shutdown();
        let refused = pool.schedule(SHORT, || 1).unwrap_err();
        assert_matches!(refused.reason, RejectReason::Shutdown);
        refused.task.run();
        assert_eq!(refused.handle.join().unwrap(), 1);
        let runs = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&runs);
        let body = move |_: &_| _ = count.fetch_add(1, Ordering::Relaxed);
        let refused = pool.schedule_at_fixed_rate(SHORT, SHORT, body).unwrap_err();
        assert_matches!(refused.reason, RejectReason::Shutdown);
        let another = ScheduledThreadPoolExecutor::new(1);
        let mut body = refused.into_body();
        let series = another.schedule_with_fixed_delay(SHORT, SHORT, move |series| body(series)).unwrap();
        eventually("it runs elsewhere", || runs.load(Ordering::Relaxed) > 2);
        series.cancel();
        assert_matches!(pool.execute(|| ()).unwrap_err().reason, RejectReason::Shutdown);
        assert!(pool.is_terminated());
    });
}

/// This test uses a real clock while other threads keep all processors busy; there are twice as many of these
/// threads as processors.
#[test]
fn beside_a_busy_machine_nothing_is_early_and_nothing_is_very_late() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(2);
        let is_over = Arc::new(AtomicBool::new(false));
        let busy = 2 * thread::available_parallelism().map_or(2, NonZero::get);
        let busy: Vec<_> = (0..busy)
            .map(|_| {
                let is_over = Arc::clone(&is_over);
                thread::spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        hint::spin_loop();
                    }
                })
            })
            .collect();
        let start = Instant::now();
        let planned: Vec<_> = (0..200_u32)
            .map(|n| {
                // The tasks are planned for different times, in mixed order.
                let due = start + Duration::from_millis(1) * (n * 77 % 200);
                (due, pool.schedule_at(due, Instant::now).unwrap())
            })
            .collect();
        for (due, task) in planned {
            let late = task.join().unwrap().checked_duration_since(due).expect("none is early");
            assert!(late < LONG / 4, "{late:?}");
        }
        is_over.store(true, Ordering::Relaxed);
        for thread in busy {
            thread.join().unwrap();
        }
    });
}
