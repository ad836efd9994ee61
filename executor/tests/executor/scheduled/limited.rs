//! Tests of tasks with their own time limits.

use std::panic::resume_unwind;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use executor::{
    CancelToken, FutureTask, JoinError, RejectReason, ScheduledThreadPoolExecutor, TaskState, prelude::*,
};

use super::AN_HOUR;
use crate::support::{LONG, SHORT, assert_matches, eventually, occupy, tracked, within_deadline};

/// INV-27: the time limit ends a task that runs, and also a task that waits for the only thread.
#[test]
fn a_task_that_takes_too_long_is_cancelled_and_not_before() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (tell, told) = mpsc::channel();
        let start = Instant::now();
        let sleeps = FutureTask::cancellable(move |token| {
            let slept = token.sleep(AN_HOUR);
            tell.send(slept.is_err()).unwrap();
            slept
        });
        let sleeps = pool.submit_with_timeout(4 * SHORT, sleeps).unwrap();
        assert_matches!(sleeps.join(), Err(JoinError::Cancelled(_)));
        assert!(start.elapsed() >= 4 * SHORT);
        assert!(told.recv_timeout(LONG).unwrap_or(true), "unless it had not begun");

        let busy = occupy(&pool);
        let waits = pool.submit_with_timeout(SHORT, || ()).unwrap();
        eventually("it is cancelled", || waits.state() == TaskState::Cancelled);
        drop(busy);
    });
}

/// INV-28
#[test]
fn a_value_can_take_the_place_of_the_result() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (tell, told) = mpsc::channel();
        let body = move || {
            tell.send(()).unwrap();
            let asked_to_stop = CancelToken::current().sleep(AN_HOUR).is_err();
            tell.send(()).unwrap();
            u32::from(asked_to_stop)
        };
        let task = pool.submit_with_timeout_or(10 * SHORT, body, || 42).unwrap();
        assert_eq!(task.join().unwrap(), 42);
        if told.recv_timeout(LONG).is_ok() {
            told.recv_timeout(LONG).expect("it is asked to stop");
        }
    });
}

/// INV-29
#[test]
fn an_error_can_take_the_place_of_the_result() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(2);
        let sleep = || CancelToken::current().sleep(AN_HOUR).map_err(|_| "cancelled");
        let task = pool.submit_with_timeout_or(SHORT, sleep, || Err("too slow")).unwrap();
        assert_eq!(task.join().unwrap(), Err("too slow"));
        let panics = || resume_unwind(Box::new("too slow"));
        let task = pool.submit_with_timeout_or(SHORT, sleep, panics).unwrap();
        assert_matches!(task.join(), Err(JoinError::Panicked(panic)) if panic.message() == "too slow");
    });
}

/// INV-30: after the task has ended, no entry for its time limit remains in the pool.
#[test]
fn a_task_that_ends_in_time_is_left_alone() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let token = pool.submit_with_timeout(AN_HOUR, CancelToken::current).unwrap();
        assert!(!token.join().unwrap().is_cancelled());
        let (value, is_alive) = tracked();
        let task = pool.submit_with_timeout_or(AN_HOUR, || 7, move || Arc::strong_count(&value)).unwrap();
        assert_eq!(task.join().unwrap(), 7);
        eventually("the limit is taken back", || !is_alive());
        let fails = pool.submit_with_timeout_or(AN_HOUR, || resume_unwind(Box::new("no")), || 2).unwrap();
        assert_matches!(fails.join(), Err(JoinError::Panicked(panic)) if panic.message() == "no");
    });
}

/// In one case the task is cancelled by its handle; in the other case the pool hands the task out.
#[test]
fn a_task_with_a_limit_can_be_cancelled_and_handed_out() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (tell, told) = mpsc::channel();
        let body = move || {
            tell.send("runs").unwrap();
            tell.send(if CancelToken::current().sleep(AN_HOUR).is_err() { "stops" } else { "overslept" })
                .unwrap();
        };
        let task_says = |what| assert_eq!(told.recv_timeout(LONG), Ok(what));
        let runs = pool.submit_with_timeout_or(AN_HOUR, body.clone(), || ()).unwrap();
        task_says("runs");
        assert!(runs.cancel());
        task_says("stops");
        let stopped = pool.submit_with_timeout_or(AN_HOUR, body, || ()).unwrap();
        task_says("runs");
        let waits = pool.submit_with_timeout(AN_HOUR, || 7).unwrap();
        let back = pool.shutdown_now();
        task_says("stops");
        stopped.join().unwrap();
        for task in back {
            drop(task.run());
        }
        assert_eq!(waits.join().unwrap(), 7);
        let refused = pool.submit_with_timeout(Duration::ZERO, || ()).unwrap_err();
        assert_matches!(refused.reason, RejectReason::Shutdown);
    });
}

/// A wait for a task with a time limit always ends, no matter which thread waits, because the time limit ends
/// the wait.
#[test]
fn a_task_that_its_limit_will_end_is_no_starvation() {
    within_deadline(|| {
        // The only thread of the pool waits for the task, and the task is in the queue of this pool.
        let pool = Arc::new(ScheduledThreadPoolExecutor::new(1));
        let own = Arc::clone(&pool);
        let waits = pool.submit(move || own.submit_with_timeout(4 * SHORT, || 1).unwrap().join());
        assert_matches!(waits.unwrap().join().unwrap(), Err(JoinError::Cancelled(_)));

        // The task runs, and waits for another task that only the first task's own thread could run.
        let own = Arc::clone(&pool);
        let limited = FutureTask::new(move || own.submit(|| 1).unwrap().join().map_err(drop));
        assert_matches!(
            pool.submit_with_timeout(4 * SHORT, limited).unwrap().join(),
            Err(JoinError::Cancelled(_))
        );
    });
}
