//! The values that tasks capture and return are dropped as soon as no code can use them any more.
//!
//! The module [`crate::queues`] tests the drop of removed and purged tasks.

use std::sync::Arc;

use executor::{ExecutorService, FutureTask, JoinError, Outcome, Task, ThreadPoolExecutor, prelude::*};

use crate::support::{
    Signal, assert_matches, eventually, occupy, on_every_executor, tracked, within_deadline,
};

/// REM-7, SLIP-16
#[test]
fn an_idle_worker_keeps_nothing_of_the_last_task() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let (captured, is_captured) = tracked();
            executor.execute(move || drop(Arc::clone(&captured))).unwrap();
            eventually("what `execute` captured is gone", || !is_captured());

            let (captured, is_captured) = tracked();
            let handle = executor.submit(move || Arc::clone(&captured)).unwrap();
            let result = handle.join().unwrap();
            eventually("what `submit` captured is gone", || Arc::strong_count(&result) == 1);
            drop(result);
            assert!(!is_captured());
        });
    });
}

/// After a panic, the task's captured values and the payload are dropped, too.
#[test]
fn an_idle_worker_keeps_nothing_of_a_task_that_panicked() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let (captured, is_captured) = tracked();
            executor.execute(move || std::panic::resume_unwind(Box::new(captured))).unwrap();
            eventually("what the task captured and panicked with is gone", || !is_captured());
        });
    });
}

#[test]
fn what_a_task_captured_is_gone_before_whoever_waits_has_its_result() {
    within_deadline(|| {
        on_every_executor(|executor| {
            for _ in 0..50 {
                let (captured, is_captured) = tracked();
                executor.submit(move || drop(Arc::clone(&captured))).unwrap().join().unwrap();
                assert!(!is_captured());
            }
        });
    });
}

#[test]
fn a_result_that_nobody_takes_is_dropped_with_the_handle_or_at_the_end_of_the_task() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (result, is_alive) = tracked();
        let handle = pool.submit(move || result).unwrap();
        let _canceller = handle.canceller(); // it keeps no result
        pool.submit(|| ()).unwrap().join().unwrap(); // now the worker has let go of the first task
        assert!(is_alive());
        drop(handle);
        eventually("the result is gone with its handle", || !is_alive());

        let busy = occupy(&pool);
        let (result, is_alive) = tracked();
        let handle = pool.submit(move || result).unwrap();
        let _canceller = handle.canceller();
        drop(handle);
        assert!(is_alive(), "the task still runs although its handle is gone");
        drop(busy);
        eventually("the result is gone with the task", || !is_alive());
    });
}

#[test]
fn cancelling_a_queued_task_drops_what_it_captured_at_once() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let _busy = occupy(&pool);
        let (captured, is_captured) = tracked();
        let handle = pool.submit(move || drop(captured)).unwrap();
        assert!(is_captured());
        handle.cancel();
        assert!(!is_captured());
    });
}

/// REM-7
#[test]
fn cancelled_tasks_leave_nothing_in_the_pool() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let (captured, is_captured) = tracked();
        let busy = [occupy(&pool), occupy(&pool)];
        let handles: Vec<_> = (0..100)
            .map(|_| {
                let captured = Arc::clone(&captured);
                pool.submit(move || drop(captured)).unwrap()
            })
            .collect();
        drop(captured);
        for handle in &handles {
            handle.cancel();
        }
        assert!(!is_captured());
        drop(busy);
    });
}

#[test]
fn what_a_cancelled_running_task_returns_is_dropped() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (started, release) = (Signal::new(), Signal::new());
        let (result, is_alive) = tracked();
        let handle = pool.submit({
            let (started, release) = (started.clone(), release.clone());
            move || {
                started.set();
                release.wait();
                result
            }
        });
        let handle = handle.unwrap();
        started.wait();
        assert!(handle.cancel());
        assert!(is_alive());
        release.set();
        eventually("the late result is gone", || !is_alive());
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
    });
}

#[test]
fn a_task_dropped_unrun_drops_what_it_captured_and_cancels_its_handle() {
    within_deadline(|| {
        let (captured, is_captured) = tracked();
        let FutureTask { task, handle } = FutureTask::new(move || drop(captured));
        drop(task);
        assert!(!is_captured(), "although the handle is still there");
        assert!(!handle.cancel(), "it is cancelled already");
        assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
    });
}

#[test]
fn a_plain_task_dropped_unrun_drops_what_it_captured() {
    let (small, small_is_alive) = tracked();
    drop(Task::new(move || drop(small)));
    assert!(!small_is_alive());

    let (large, large_is_alive) = tracked();
    let padding = [0_u8; 100];
    drop(Task::new(move || drop((large, padding))));
    assert!(!large_is_alive());
}

#[test]
fn tasks_dropped_by_shutting_down_now_drop_what_they_captured() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let _busy = occupy(&pool);
        let (captured, is_captured) = tracked();
        pool.execute(move || drop(captured)).unwrap();
        let handed_back = pool.shutdown_now();
        assert!(is_captured());
        drop(handed_back);
        assert!(!is_captured());
    });
}

#[test]
fn a_token_that_is_kept_does_not_keep_the_task() {
    within_deadline(|| {
        let (captured, is_captured) = tracked();
        let FutureTask { task, handle } = FutureTask::cancellable(move |token| {
            assert_eq!(Arc::strong_count(&captured), 1);
            Ok(token.clone())
        });
        assert_matches!(task.run(), Outcome::Completed);
        let token = handle.join().unwrap();
        assert!(!is_captured());
        assert!(!token.is_cancelled());
    });
}
