//! Tests of batches that end early, for one of four reasons: a refusal, the cancellation of the caller, the
//! end of the pool, or a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use executor::{
    Block, CancelToken, DirectExecutor, Executor, FutureTask, InvokeAllError, InvokeFailure, RejectReason,
    RejectedExecution, Task, TaskState, ThreadPoolExecutor, masked, prelude::*,
};

use super::{Boxed, sleeper, states, values, with_room_for_two};
use crate::support::{
    LONG, Signal, assert_matches, blocked, eventually, on_every_concurrent_executor, on_every_executor,
    on_every_pool, on_thread, room_for_two, rounds, with_enough_time, within_deadline,
};

// ----- refusals -----

/// INV-45
#[test]
fn what_a_pool_refuses_because_it_is_shut_down_comes_back() {
    within_deadline(|| {
        on_every_pool(|pool| {
            pool.shutdown();
            let error = pool.invoke_all([|| 1, || 2]).unwrap_err();
            assert_matches!(error.reason, InvokeFailure::Rejected(RejectReason::Shutdown));
            assert!(error.handles.is_empty());
            assert_eq!(run_elsewhere(error), [1, 2]);
        });
    });
}

/// Runs the tasks that the pool has not accepted, and returns the values of all tasks.
fn run_elsewhere<T: Send + 'static>(error: InvokeAllError<T>) -> Vec<T> {
    let mut all = values(error.handles);
    all.extend(
        error.not_submitted.into_iter().map(|task| DirectExecutor.submit(task).unwrap().join().unwrap()),
    );
    all
}

#[test]
fn after_a_refusal_half_way_those_accepted_have_ended_and_the_others_are_whole() {
    within_deadline(|| {
        let (pool, refused) = room_for_two();
        let pool = Arc::new(pool);
        let may_end = Signal::new();
        let tasks: Vec<Boxed<i32>> = (0..4)
            .map(|n| {
                let may_end = may_end.clone();
                Box::new(move || {
                    may_end.wait();
                    n
                }) as Boxed<i32>
            })
            .collect();
        let waiter = on_thread({
            let pool = Arc::clone(&pool);
            move || pool.invoke_all(tasks)
        });
        refused.wait();
        assert!(waiter.still_waits(), "for the two that were accepted");
        may_end.set();
        let error = waiter.result().unwrap_err();
        assert_matches!(error.reason, InvokeFailure::Rejected(RejectReason::Saturated));
        assert_eq!(states(&error.handles), [TaskState::Completed; 2]);
        assert_eq!(error.not_submitted.len(), 2);
        assert_eq!(error.to_string(), "a task was rejected: the executor has no room for another task");
        assert_eq!(run_elsewhere(error), [0, 1, 2, 3]);
    });
}

#[test]
fn after_a_refusal_the_deadline_still_holds() {
    within_deadline(|| {
        with_enough_time(|timeout| {
            let (pool, _) = room_for_two();
            let tasks = [(); 3].map(|()| FutureTask::cancellable(|token| token.sleep(Duration::MAX)));
            let Err(error) = pool.invoke_all_timeout(tasks, timeout) else { return false };
            assert_matches!(error.reason, InvokeFailure::Rejected(_));
            assert_eq!(states(&error.handles), [TaskState::Cancelled; 2]);
            assert_eq!(error.not_submitted[0].handle.state(), TaskState::Pending);
            true
        });
    });
}

/// If a batch is larger than the pool can hold, the caller can run it in several calls. Each error contains
/// the remaining tasks, so that the caller can submit them again.
#[test]
fn what_is_refused_can_be_invoked_again_until_all_is_done() {
    within_deadline(|| {
        let (pool, _) = room_for_two();
        let mut tasks: Vec<FutureTask<usize>> = (0..10).map(|n| FutureTask::new(move || n)).collect();
        let mut done = Vec::new();
        while !tasks.is_empty() {
            match pool.invoke_all(tasks) {
                Ok(handles) => {
                    done.extend(values(handles));
                    break;
                }
                Err(error) => {
                    done.extend(values(error.handles));
                    tasks = error.not_submitted;
                }
            }
        }
        assert_eq!(done, (0..10).collect::<Vec<_>>());
    });
}

// ----- the caller is cancelled -----

/// INV-52, INV-53
#[test]
fn a_caller_that_is_cancelled_already_submits_nothing() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let token = CancelToken::new();
            token.cancel();
            let attempts: [&dyn Fn() -> _; 2] = [&|| executor.invoke_all([|| 1, || 2]), &|| {
                executor.invoke_all_timeout([|| 1, || 2], Duration::MAX)
            }];
            for attempt in attempts {
                let error = token.attach(attempt).unwrap_err();
                assert_matches!(error.reason, InvokeFailure::Interrupted);
                assert_eq!((error.handles.len(), error.not_submitted.len()), (0, 2));
                assert_eq!(error.to_string(), "the calling task was cancelled");
                assert_eq!(run_elsewhere(error), [1, 2]);
            }
            assert!(token.is_cancelled(), "the request is not used up");
            let handles = token.attach(|| masked(|| executor.invoke_all([|| 1]))).unwrap();
            assert_eq!(values(handles), [1]);
        });
    });
}

/// INV-54, INV-55
#[test]
fn a_caller_that_is_cancelled_while_it_waits_cancels_what_it_has_started() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            for timeout in [None, Some(Duration::MAX)] {
                let (task, spot) = sleeper();
                let tasks = [FutureTask::new(|| ()), task];
                let token = CancelToken::new();
                std::thread::scope(|scope| {
                    let caller = scope.spawn(|| {
                        token.attach(|| match timeout {
                            None => executor.invoke_all(tasks),
                            Some(timeout) => executor.invoke_all_timeout(tasks, timeout),
                        })
                    });
                    spot.wait_until_blocked();
                    token.cancel();
                    let error = caller.join().unwrap().unwrap_err();
                    assert_matches!(error.reason, InvokeFailure::Interrupted);
                    assert_eq!(error.handles[1].state(), TaskState::Cancelled);
                    assert_matches!(error.handles[0].state(), TaskState::Completed | TaskState::Cancelled);
                    assert!(error.not_submitted.is_empty());
                });
            }
        });
    });
}

#[test]
fn a_caller_that_is_cancelled_while_its_submission_blocks_gets_back_what_it_has_not_submitted() {
    within_deadline(|| {
        let pool = Arc::new(with_room_for_two(Block::new()));
        let token = CancelToken::new();
        let waiter = blocked({
            let (pool, token) = (Arc::clone(&pool), token.clone());
            let tasks = [(); 4].map(|()| FutureTask::cancellable(|token| token.sleep(Duration::MAX)));
            move || token.attach(|| pool.invoke_all(tasks))
        });
        eventually("one runs and one is in the queue", || {
            let stats = pool.stats();
            (stats.active, stats.queued) == (1, 1)
        });
        token.cancel();
        let error = waiter.result().unwrap_err();
        assert_matches!(error.reason, InvokeFailure::Interrupted);
        assert_eq!(states(&error.handles), [TaskState::Cancelled; 2]);
        assert_eq!(error.not_submitted.len(), 2);
    });
}

#[test]
fn a_caller_that_is_cancelled_by_its_own_inline_task_begins_no_other() {
    within_deadline(|| {
        let token = CancelToken::new();
        let runs = Arc::new(AtomicUsize::new(0));
        let tasks = [(); 3].map(|()| {
            let (token, runs) = (token.clone(), Arc::clone(&runs));
            move || {
                token.cancel();
                runs.fetch_add(1, Ordering::Relaxed)
            }
        });
        let error = token.attach(|| DirectExecutor.invoke_all(tasks)).unwrap_err();
        assert_matches!(error.reason, InvokeFailure::Interrupted);
        assert_eq!((error.handles.len(), error.not_submitted.len(), runs.load(Ordering::Relaxed)), (1, 2, 1));
        assert_eq!(values(error.handles), [0], "its result is not lost");
    });
}

// ----- the pool is stopped -----

/// INV-26
#[test]
fn shutting_down_now_releases_who_has_invoked_tasks_without_end() {
    within_deadline(|| {
        for round in rounds(100) {
            let pool = Arc::new(ThreadPoolExecutor::fixed(1 + round % 3));
            let tasks = [(); 3].map(|()| FutureTask::cancellable(|token| token.sleep(Duration::MAX)));
            let caller = std::thread::spawn({
                let pool = Arc::clone(&pool);
                move || pool.invoke_all(tasks)
            });
            if round % 2 == 0 {
                eventually("a task runs", || pool.stats().active > 0);
            }
            drop(pool.shutdown_now());
            match caller.join().unwrap() {
                Ok(handles) => assert_eq!(states(&handles), [TaskState::Cancelled; 3]),
                Err(error) => {
                    assert_matches!(error.reason, InvokeFailure::Rejected(RejectReason::Shutdown));
                    assert_eq!(error.handles.len() + error.not_submitted.len(), 3);
                }
            }
            assert!(pool.await_termination(LONG));
        }
    });
}

// ----- panics -----

#[test]
fn a_panic_of_the_iterator_goes_to_the_caller_and_nothing_was_submitted() {
    within_deadline(|| {
        let ran = Signal::new();
        let tasks = (0..3).map(|n| {
            if n == 2 {
                std::panic::resume_unwind(Box::new("no more"));
            }
            let ran = ran.clone();
            move || ran.set()
        });
        assert!(catch_unwind(AssertUnwindSafe(|| DirectExecutor.invoke_all(tasks))).is_err());
        assert!(!ran.is_set());
    });
}

/// An executor that panics when it gets the second task.
struct Breaks(ThreadPoolExecutor, AtomicUsize);

impl Executor for Breaks {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        if self.1.fetch_add(1, Ordering::Relaxed) == 1 {
            std::panic::resume_unwind(Box::new("broken executor"));
        }
        self.0.execute_task(task)
    }
}

#[test]
fn a_panic_of_the_executor_goes_to_the_caller_and_what_was_submitted_is_cancelled() {
    within_deadline(|| {
        let executor = Breaks(ThreadPoolExecutor::fixed(1), AtomicUsize::new(0));
        let tasks = [sleeper().0, sleeper().0];
        let cancellers = [tasks[0].handle.canceller(), tasks[1].handle.canceller()];
        assert!(catch_unwind(AssertUnwindSafe(|| executor.invoke_all(tasks))).is_err());
        assert!(cancellers.iter().all(|task| task.state() == TaskState::Cancelled));
        executor.0.close();
    });
}
