//! Tests a batch of tasks, and the wait for all its tasks.
//!
//! The caller gets a refusal only after all tasks that were accepted before have ended, and no task is lost.

mod cut_short;

use std::sync::Arc;
use std::time::{Duration, Instant};

use executor::{
    DirectExecutor, Discard, FifoQueue, FutureTask, InvokeFailure, JoinError, RejectionHandler, TaskHandle,
    TaskState, ThreadPoolExecutor, prelude::*,
};

use crate::support::{
    LONG, SHORT, Signal, Spot, assert_matches, blocked, occupy, on_every_concurrent_executor,
    on_every_executor, tracked, with_enough_time, within_deadline,
};

type Boxed<T> = Box<dyn FnOnce() -> T + Send>;

fn values<T: Send + 'static>(handles: Vec<TaskHandle<T>>) -> Vec<T> {
    handles.into_iter().map(|handle| handle.try_join().unwrap()).collect()
}

fn states<T: Send + 'static>(handles: &[TaskHandle<T>]) -> Vec<TaskState> {
    handles.iter().map(TaskHandle::state).collect()
}

/// Returns a task that waits until the task is cancelled; the returned `Spot` shows when this task is
/// blocked.
fn sleeper() -> (FutureTask<()>, Spot) {
    let spot = Spot::default();
    let there = spot.clone();
    let task = FutureTask::cancellable(move |token| {
        there.arrive();
        token.sleep(Duration::MAX)
    });
    (task, spot)
}

/// A pool that has one thread, room for one more task, and a handler for further tasks.
fn with_room_for_two(handler: impl RejectionHandler + 'static) -> ThreadPoolExecutor {
    let builder = ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(1));
    builder.rejection_handler(handler).build().unwrap()
}

// ----- all ends well -----

/// INV-48
#[test]
fn results_come_in_the_order_of_the_tasks() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let handles = executor.invoke_all((0..50).map(|n| move || n * n)).unwrap();
            assert_eq!(values(handles), (0..50).map(|n| n * n).collect::<Vec<_>>());
        });
    });
}

/// INV-48
#[test]
fn results_come_in_the_order_of_the_tasks_and_not_in_that_of_their_ends() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            let (first_may_end, second_may_end) = (Signal::new(), Signal::new());
            let tasks: [Boxed<i32>; 3] = [
                Box::new({
                    let first_may_end = first_may_end.clone();
                    move || {
                        first_may_end.wait();
                        1
                    }
                }),
                Box::new({
                    let second_may_end = second_may_end.clone();
                    move || {
                        second_may_end.wait();
                        first_may_end.set();
                        2
                    }
                }),
                Box::new(move || {
                    second_may_end.set();
                    3
                }),
            ];
            assert_eq!(values(executor.invoke_all(tasks).unwrap()), [1, 2, 3]);
        });
    });
}

/// INV-8
#[test]
fn no_tasks_give_no_handles_at_once() {
    within_deadline(|| {
        on_every_executor(|executor| {
            assert!(executor.invoke_all(Vec::<fn()>::new()).unwrap().is_empty());
            assert!(executor.invoke_all_timeout(Vec::<fn()>::new(), Duration::ZERO).unwrap().is_empty());
        });
    });
}

/// INV-9, INV-49, SLIP-13
#[test]
fn each_handle_keeps_its_own_failure_and_the_call_succeeds() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let tasks: [Boxed<Result<i32, String>>; 4] = [
                Box::new(|| Ok(1)),
                Box::new(|| Err("no such host".to_owned())),
                Box::new(|| std::panic::resume_unwind(Box::new("broken"))),
                Box::new(|| Ok(4)),
            ];
            let mut handles = executor.invoke_all(tasks).unwrap().into_iter().map(TaskHandle::join);
            let mut next = || handles.next().unwrap();
            assert_matches!(next(), Ok(Ok(1)));
            assert_matches!(next(), Ok(Err(error)) if error == "no such host");
            assert_matches!(next(), Err(JoinError::Panicked(panic)) if panic.message() == "broken");
            assert_matches!(next(), Ok(Ok(4)));
        });
    });
}

#[test]
fn it_comes_back_when_the_last_task_has_ended_and_not_before() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        for invoke in [
            |pool: &ThreadPoolExecutor, tasks: Vec<Boxed<()>>| pool.invoke_all(tasks),
            |pool: &ThreadPoolExecutor, tasks: Vec<Boxed<()>>| pool.invoke_all_timeout(tasks, Duration::MAX),
        ] {
            let release = Signal::new();
            let waiter = blocked({
                let (pool, release) = (Arc::clone(&pool), release.clone());
                move || invoke(&pool, vec![Box::new(move || release.wait()), Box::new(|| ())])
            });
            assert!(waiter.still_waits());
            release.set();
            assert_eq!(values(waiter.result().unwrap()).len(), 2);
        }
    });
}

#[test]
fn a_task_that_is_dropped_unrun_does_not_hold_up_the_others() {
    within_deadline(|| {
        let pool = with_room_for_two(Discard);
        let busy = occupy(&pool);
        let waiting = pool.submit(|| ()).unwrap();
        let handles = pool.invoke_all([|| 1, || 2]).unwrap();
        assert_eq!(states(&handles), [TaskState::Cancelled; 2]);
        drop(busy);
        waiting.join().unwrap();
    });
}

#[test]
fn a_task_that_somebody_else_cancels_is_finished_like_any_other() {
    within_deadline(|| {
        let (task, spot) = sleeper();
        let canceller = task.handle.canceller();
        let waiter = blocked(move || ThreadPoolExecutor::fixed(2).invoke_all([task]));
        spot.wait_until_blocked();
        canceller.cancel();
        assert_eq!(states(&waiter.result().unwrap()), [TaskState::Cancelled]);
    });
}

#[test]
fn a_task_may_invoke_others_on_a_pool_with_a_thread_to_spare() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let sum = pool.submit({
            let pool = Arc::clone(&pool);
            move || values(pool.invoke_all((1..=10).map(|n| move || n)).unwrap()).iter().sum::<i32>()
        });
        assert_eq!(sum.unwrap().join().unwrap(), 55);
    });
}

#[test]
fn a_task_that_invokes_others_on_a_full_pool_is_told_so_and_leaves_nothing_behind() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let (own, ran) = (Arc::clone(&pool), Signal::new());
        let runs = ran.clone();
        let outer = pool.submit(move || own.invoke_all([move || runs.set()]).unwrap_err());
        let error = outer.unwrap().join().unwrap();
        assert_matches!(error.reason, InvokeFailure::Starved(_));
        assert_eq!(error.handles.iter().map(TaskHandle::state).collect::<Vec<_>>(), [TaskState::Cancelled]);
        pool.submit(|| ()).unwrap().join().unwrap();
        assert!(!ran.is_set(), "cancelled with the task that waited for it");
    });
}

// ----- deadlines -----

/// INV-16, INV-50
#[test]
fn tasks_that_end_in_time_all_have_values() {
    within_deadline(|| {
        on_every_executor(|executor| {
            for timeout in [LONG, Duration::MAX] {
                let handles = executor.invoke_all_timeout((0..10).map(|n| move || n), timeout).unwrap();
                assert_eq!(values(handles), (0..10).collect::<Vec<_>>());
            }
        });
    });
}

/// INV-17, INV-51, SLIP-13
#[test]
fn at_the_deadline_the_finished_keep_their_results_and_the_others_are_cancelled_and_told() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            with_enough_time(|timeout| {
                let (begun, told) = (Signal::new(), Signal::new());
                let quick = FutureTask::new(|| ());
                let slow = FutureTask::cancellable({
                    let (begun, told) = (begun.clone(), told.clone());
                    move |token| {
                        begun.set();
                        token.sleep(Duration::MAX).inspect_err(|_| told.set())
                    }
                });
                let start = Instant::now();
                let handles = executor.invoke_all_timeout([quick, slow], timeout).unwrap();
                assert!(start.elapsed() >= timeout);
                assert!(handles.iter().all(TaskHandle::is_finished));
                if !begun.is_set() || handles[0].state() == TaskState::Cancelled {
                    return false;
                }
                assert_eq!(states(&handles), [TaskState::Completed, TaskState::Cancelled]);
                told.wait();
                true
            });
        });
    });
}

#[test]
fn at_the_deadline_what_waits_in_the_queue_is_dropped() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let (captured, is_alive) = tracked();
        let handles = pool.invoke_all_timeout([move || drop(captured)], SHORT).unwrap();
        assert_eq!(states(&handles), [TaskState::Cancelled]);
        assert!(!is_alive());
        drop(busy);
    });
}

#[test]
fn without_any_time_nothing_is_begun() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let ran = Signal::new();
            let tasks = [ran.clone(), ran.clone()].map(|ran| move || ran.set());
            let handles = executor.invoke_all_timeout(tasks, Duration::ZERO).unwrap();
            assert_eq!(states(&handles), [TaskState::Cancelled; 2]);
            assert!(!ran.is_set());
        });
    });
}

/// SLIP-14
#[test]
fn an_executor_that_runs_tasks_inline_begins_none_after_the_deadline() {
    within_deadline(|| {
        with_enough_time(|timeout| {
            let ran = Signal::new();
            let tasks: [Boxed<()>; 2] = [
                Box::new(move || std::thread::sleep(2 * timeout)),
                Box::new({
                    let ran = ran.clone();
                    move || ran.set()
                }),
            ];
            let handles = DirectExecutor.invoke_all_timeout(tasks, timeout).unwrap();
            assert_eq!(handles[1].state(), TaskState::Cancelled);
            assert!(!ran.is_set());
            handles[0].state() == TaskState::Completed
        });
    });
}
