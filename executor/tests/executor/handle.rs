//! The handle of a task: ways to wait for the task, ways to check the task without a wait, and the possible
//! outcomes.
//!
//! Tests of waits with a time limit are in [`crate::time_limits`], and tests of the printed forms in
//! [`crate::printed`]. Tests of the removal of a task from its queue are in [`crate::taking_out`], and tests
//! of cancellations in [`crate::cancel_task`]. The module [`crate::promise`] tests handles that are completed
//! by hand, [`crate::shared`] tests handles with many waiters, and [`crate::awaiting`] tests awaited handles.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use executor::{
    CancelToken, FutureTask, JoinError, Outcome, TaskError, TaskHandle, TaskState, ThreadPoolExecutor,
    TryJoinError, prelude::*,
};

use crate::support::{
    LONG, Signal, Spot, assert_matches, blocked, eventually, on_every_executor, on_thread, rounds,
    within_deadline,
};

/// FUT-1, FUT-4, FUT-25, FUT-32
#[test]
fn cancelling_the_waiting_task_ends_its_wait_and_the_awaited_task_goes_on() {
    within_deadline(|| {
        let waits: [fn(TaskHandle<i32>) -> TaskHandle<i32>; 2] = [
            |handle| match handle.join() {
                Err(JoinError::Interrupted(handle)) => handle,
                other => panic!("not interrupted but {other:?}"),
            },
            |handle| match handle.join_timeout(Duration::MAX) {
                Err(JoinError::Interrupted(handle)) => handle,
                other => panic!("not interrupted but {other:?}"),
            },
        ];
        for wait in waits {
            let (awaited, waiting) = (ThreadPoolExecutor::single(), ThreadPoolExecutor::single());
            let release = Signal::new();
            let handle = awaited.submit({
                let release = release.clone();
                move || {
                    release.wait();
                    1
                }
            });
            let (spot, back) = (Spot::default(), mpsc::channel());
            let waiter = waiting.submit({
                let (spot, handle) = (spot.clone(), handle.unwrap());
                move || {
                    spot.arrive();
                    back.0.send(wait(handle)).unwrap();
                }
            });
            spot.wait_until_blocked();
            assert!(waiter.unwrap().cancel());
            let handle = back.1.recv_timeout(LONG).unwrap();
            assert!(!handle.is_finished());
            release.set();
            assert_eq!(handle.join().unwrap(), 1);
        }
    });
}

/// FUT-5, FUT-22, FUT-23, FUT-33, FUT-44
#[test]
fn a_panic_reaches_every_way_of_asking_with_its_payload() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let panicking = || executor.submit(|| -> i32 { std::panic::resume_unwind(Box::new(7)) }).unwrap();
            let panics = [
                match panicking().join() {
                    Err(JoinError::Panicked(panic)) => panic,
                    other => panic!("{other:?}"),
                },
                match panicking().join_timeout(LONG) {
                    Err(JoinError::Panicked(panic)) => panic,
                    other => panic!("{other:?}"),
                },
                {
                    let handle = panicking();
                    eventually("it is finished", || handle.is_finished());
                    assert_eq!(handle.state(), TaskState::Panicked);
                    assert!(!handle.cancel());
                    match handle.try_join() {
                        Err(TryJoinError::Panicked(panic)) => panic,
                        other => panic!("{other:?}"),
                    }
                },
            ];
            for panic in panics {
                assert_eq!(*panic.take_payload().unwrap().downcast::<i32>().unwrap(), 7);
            }
        });
    });
}

/// FUT-6
#[test]
fn a_handle_is_unfinished_before_the_run_and_finished_after_it() {
    let FutureTask { task, handle } = FutureTask::new(|| 1);
    assert_eq!((handle.is_finished(), handle.state()), (false, TaskState::Pending));
    assert_matches!(task.run(), Outcome::Completed);
    assert_eq!((handle.is_finished(), handle.state()), (true, TaskState::Completed));
}

#[test]
fn the_state_of_a_running_task_is_running() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (started, release) = (Signal::new(), Signal::new());
        let there = (started.clone(), release.clone());
        let handle = pool.submit(move || {
            there.0.set();
            there.1.wait();
        });
        let handle = handle.unwrap();
        started.wait();
        assert_eq!((handle.is_finished(), handle.state()), (false, TaskState::Running));
        release.set();
        assert!(handle.join().is_ok());
    });
}

/// FUT-36, SLIP-11
#[test]
fn a_finished_handle_gives_its_outcome_to_a_cancelled_waiter_with_no_time_left() {
    within_deadline(|| {
        let (cancelled, finished) = (CancelToken::new(), || {
            let FutureTask { task, handle } = FutureTask::new(|| 1);
            task.run();
            handle
        });
        cancelled.cancel();
        cancelled.attach(|| {
            assert_eq!(finished().join().unwrap(), 1);
            assert_eq!(finished().join_timeout(Duration::ZERO).unwrap(), 1);
            assert_eq!(finished().try_join().unwrap(), 1);
            assert_eq!(*finished().shared().join_timeout(Duration::ZERO).unwrap(), 1);
        });
    });
}

/// FUT-37
#[test]
fn finished_means_that_the_outcome_is_there() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        for n in rounds(1_000) {
            let handle = pool
                .submit(move || if n % 2 == 0 { n } else { std::panic::resume_unwind(Box::new("odd")) })
                .unwrap();
            while !handle.is_finished() {
                thread::yield_now();
            }
            match handle.join_timeout(Duration::ZERO) {
                Ok(value) => assert!(value == n && n % 2 == 0),
                Err(JoinError::Panicked(_)) => assert!(n % 2 == 1),
                other => panic!("{other:?}"),
            }
        }
    });
}

/// FUT-42, FUT-43, FUT-46
#[test]
fn looking_without_waiting_gives_the_result_or_the_handle() {
    let FutureTask { task, handle } = FutureTask::new(|| ());
    let Err(TryJoinError::NotFinished(handle)) = handle.try_join() else { panic!("no thread has run it") };
    task.run();
    assert_matches!(handle.try_join(), Ok(()));

    let FutureTask { task, handle } = FutureTask::new(|| ());
    handle.cancel();
    drop(task);
    assert_matches!(handle.try_join(), Err(TryJoinError::Cancelled(_)));
}

#[test]
fn a_waiter_is_released_whoever_runs_the_task() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| thread::current().id());
        let waiter = blocked(move || handle.join());
        let runner = on_thread(move || {
            task.run();
            thread::current().id()
        });
        assert_eq!(waiter.result().unwrap(), runner.result());
    });
}

#[test]
fn a_waiter_is_released_when_the_task_is_dropped_unrun() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| ());
        let waiter = blocked(move || handle.join());
        drop(task);
        assert_matches!(waiter.result(), Err(JoinError::Cancelled(_)));
    });
}

#[test]
fn a_task_whose_handle_is_gone_runs_all_the_same() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let ran = Signal::new();
            let there = ran.clone();
            drop(executor.submit(move || there.set()).unwrap());
            ran.wait();
        });
    });
}

/// FUT-6, FUT-35
#[test]
fn the_callback_gets_the_result_on_the_thread_that_finishes_the_task_or_at_once() {
    within_deadline(|| {
        let (tell, told) = mpsc::channel();
        let callback = || {
            let tell = tell.clone();
            move |result: Result<i32, TaskError>| {
                tell.send((result.unwrap(), thread::current().id())).unwrap();
            }
        };
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        handle.on_done(callback());
        let runner = on_thread(move || {
            task.run();
            thread::current().id()
        });
        assert_eq!(told.recv_timeout(LONG).unwrap(), (1, runner.result()));

        let FutureTask { task, handle } = FutureTask::new(|| 2);
        task.run();
        handle.on_done(callback());
        assert_eq!(told.try_recv().unwrap(), (2, thread::current().id()));
    });
}

#[test]
fn the_callback_is_told_of_a_panic_and_of_a_task_dropped_unrun() {
    let told = Arc::new(AtomicUsize::new(0));
    let FutureTask { task, handle } = FutureTask::new(|| std::panic::resume_unwind(Box::new("no")));
    handle.on_done({
        let told = Arc::clone(&told);
        move |result: Result<(), _>| {
            assert_matches!(result, Err(TaskError::Panicked(panic)) if panic.message() == "no");
            told.fetch_add(1, Ordering::Relaxed);
        }
    });
    task.run();

    let FutureTask { task, handle } = FutureTask::new(|| ());
    handle.on_done({
        let told = Arc::clone(&told);
        move |result| {
            assert_matches!(result, Err(TaskError::Cancelled(_)));
            told.fetch_add(1, Ordering::Relaxed);
        }
    });
    drop(task);
    assert_eq!(told.load(Ordering::Relaxed), 2);
}

#[test]
fn a_task_and_its_handle_have_one_id_and_no_two_tasks_have_the_same() {
    let (first, second) = (FutureTask::new(|| ()), FutureTask::new(|| ()));
    assert_eq!(first.task.id(), first.handle.id());
    assert_ne!(first.handle.id(), second.handle.id());
}

#[test]
fn an_error_passes_through_a_question_mark() {
    within_deadline(|| {
        fn joined() -> Result<i32, Box<dyn Error + Send + Sync>> {
            let FutureTask { task, handle } = FutureTask::new(|| 1);
            drop(task);
            Ok(handle.join()?)
        }
        assert_eq!(joined().unwrap_err().to_string(), "the task was cancelled");
    });
}
