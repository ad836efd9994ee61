//! A batch of tasks, and the wait for the last of them.
//!
//! differs: INV-43, 52 and 53 (a pending request is reported and not cleared: it is never cleared here; and nothing is
//! submitted any more). A refusal is reported when those accepted before it have ended, and nothing is lost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use executor::{
    Block, CancelToken, DirectExecutor, Discard, Executor, ExecutorService, FifoQueue, FutureTask,
    InvokeAllError, InvokeAllFailure, JoinError, RejectReason, RejectedExecution, RejectionHandler, Task,
    TaskHandle, TaskState, ThreadPoolExecutor, masked, prelude::*,
};

use crate::support::{
    LONG, SHORT, Signal, Spot, assert_matches, blocked, eventually, occupy, on_every_concurrent_executor,
    on_every_executor, on_every_pool, on_thread, room_for_two, tracked, with_enough_time, within_deadline,
};

type Boxed<T> = Box<dyn FnOnce() -> T + Send>;

fn values<T: Send + 'static>(handles: Vec<TaskHandle<T>>) -> Vec<T> {
    handles.into_iter().map(|handle| handle.try_join().unwrap()).collect()
}

fn states<T: Send + 'static>(handles: &[TaskHandle<T>]) -> Vec<TaskState> {
    handles.iter().map(TaskHandle::state).collect()
}

/// A task that waits for its cancellation, and the place where it does.
fn sleeper() -> (FutureTask<()>, Spot) {
    let spot = Spot::default();
    let there = spot.clone();
    let task = FutureTask::cancellable(move |token| {
        there.arrive();
        token.sleep(Duration::MAX)
    });
    (task, spot)
}

/// A pool of one thread with room for one more task, and a policy for the others.
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

/// INV-9, INV-49
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

/// On a full pool it waits for ever, as the documentation says; and can be got out of it.
#[test]
fn a_task_that_invokes_others_on_a_full_pool_waits_until_it_is_cancelled() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let spot = Spot::default();
        let ran = Signal::new();
        let outer = pool.submit({
            let (pool, spot, ran) = (Arc::clone(&pool), spot.clone(), ran.clone());
            move || {
                spot.arrive();
                drop(pool.invoke_all([move || ran.set()]));
            }
        });
        spot.wait_until_blocked();
        assert!(outer.unwrap().cancel());
        pool.submit(|| ()).unwrap().join().unwrap();
        assert!(!ran.is_set(), "cancelled with the one that waited for it");
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

/// INV-17, INV-51
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

/// One of the things that are easy to get wrong (14).
#[test]
fn an_executor_that_runs_tasks_inline_begins_none_after_the_deadline() {
    let ran = Signal::new();
    let tasks: [Boxed<()>; 2] = [
        Box::new(|| std::thread::sleep(2 * SHORT)),
        Box::new({
            let ran = ran.clone();
            move || ran.set()
        }),
    ];
    let handles = DirectExecutor.invoke_all_timeout(tasks, SHORT).unwrap();
    assert_eq!(states(&handles), [TaskState::Completed, TaskState::Cancelled]);
    assert!(!ran.is_set());
}

// ----- refusals -----

/// INV-45
#[test]
fn what_a_pool_refuses_because_it_is_shut_down_comes_back() {
    within_deadline(|| {
        on_every_pool(|pool| {
            pool.shutdown();
            let error = pool.invoke_all([|| 1, || 2]).unwrap_err();
            assert_matches!(error.reason, InvokeAllFailure::Rejected(RejectReason::Shutdown));
            assert!(error.handles.is_empty());
            assert_eq!(run_elsewhere(error), [1, 2]);
        });
    });
}

/// Runs what came back and returns all values.
fn run_elsewhere<T: Send + 'static>(error: InvokeAllError<T>) -> Vec<T> {
    let mut all = values(error.handles);
    all.extend(error.rest.into_iter().map(|task| DirectExecutor.submit(task).unwrap().join().unwrap()));
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
        assert_matches!(error.reason, InvokeAllFailure::Rejected(RejectReason::Saturated));
        assert_eq!(states(&error.handles), [TaskState::Completed; 2]);
        assert_eq!(error.rest.len(), 2);
        assert_eq!(error.to_string(), "a task was rejected: all threads are busy and the queue is full");
        assert_eq!(run_elsewhere(error), [0, 1, 2, 3]);
    });
}

#[test]
fn after_a_refusal_the_deadline_still_holds() {
    within_deadline(|| {
        let (pool, _) = room_for_two();
        let tasks = [(); 3].map(|()| FutureTask::cancellable(|token| token.sleep(Duration::MAX)));
        let error = pool.invoke_all_timeout(tasks, Duration::from_millis(50)).unwrap_err();
        assert_matches!(error.reason, InvokeAllFailure::Rejected(_));
        assert_eq!(states(&error.handles), [TaskState::Cancelled; 2]);
        assert_eq!(error.rest[0].handle.state(), TaskState::Pending);
    });
}

/// A batch that is larger than the pool gets done all the same: what the errors are made for.
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
                    tasks = error.rest;
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
                assert_matches!(error.reason, InvokeAllFailure::Interrupted);
                assert_eq!((error.handles.len(), error.rest.len()), (0, 2));
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
                    assert_matches!(error.reason, InvokeAllFailure::Interrupted);
                    assert_eq!(error.handles[1].state(), TaskState::Cancelled);
                    assert_matches!(error.handles[0].state(), TaskState::Completed | TaskState::Cancelled);
                    assert!(error.rest.is_empty());
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
        assert_matches!(error.reason, InvokeAllFailure::Interrupted);
        assert_eq!(states(&error.handles), [TaskState::Cancelled; 2]);
        assert_eq!(error.rest.len(), 2);
    });
}

#[test]
fn a_caller_that_is_cancelled_by_its_own_inline_task_begins_no_other() {
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
    assert_matches!(error.reason, InvokeAllFailure::Interrupted);
    assert_eq!((error.handles.len(), error.rest.len(), runs.load(Ordering::Relaxed)), (1, 2, 1));
    assert_eq!(values(error.handles), [0], "its result is not lost");
}

// ----- somebody stops the pool -----

/// INV-26
#[test]
fn shutting_down_now_releases_who_has_invoked_tasks_without_end() {
    within_deadline(|| {
        for round in 0..100 {
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
                    assert_matches!(error.reason, InvokeAllFailure::Rejected(RejectReason::Shutdown));
                    assert_eq!(error.handles.len() + error.rest.len(), 3);
                }
            }
            assert!(pool.await_termination(LONG));
        }
    });
}

// ----- panics -----

#[test]
fn a_panic_of_the_iterator_goes_to_the_caller_and_nothing_was_submitted() {
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
}

/// Breaks at the second task.
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
