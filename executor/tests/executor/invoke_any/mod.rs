//! Tests of competing tasks, in which the caller waits for the first task that succeeds.

mod cut_short;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use executor::{
    CancelToken, Canceller, DirectExecutor, Executor, FutureTask, InvokeAnyError, InvokeFailure, TaskState,
    ThreadPoolExecutor, prelude::*,
};

use crate::support::{
    LONG, SHORT, Signal, Spot, assert_matches, blocked, eventually, occupy, on_every_concurrent_executor,
    on_every_executor, tracked, with_enough_time, within_deadline,
};

type Attempt = Result<i32, &'static str>;
type Boxed = Box<dyn FnOnce() -> Attempt + Send>;
type Outcome = Result<i32, InvokeAnyError<i32, &'static str>>;

fn boxed(f: impl FnOnce() -> Attempt + Send + 'static) -> Boxed {
    Box::new(f)
}

/// Panics without a call of the panic hook, because the hook would fill the output.
fn fail() -> ! {
    std::panic::resume_unwind(Box::new("oh"))
}

/// Returns a task that waits until it is cancelled; the returned `Spot` shows when this task is blocked, and
/// the cancellation sets the returned signal.
fn loser() -> (FutureTask<Attempt>, Spot, Signal) {
    let (spot, told) = (Spot::default(), Signal::new());
    let (there, tell) = (spot.clone(), told.clone());
    let task = FutureTask::cancellable(move |token| {
        token.on_cancel(move || tell.set()).keep(); // perhaps the sleep ends before the callback is called
        there.arrive();
        token.sleep(Duration::MAX).map(|()| Ok(0))
    });
    (task, spot, told)
}

/// Returns the failures in the error, as text.
fn told(error: &InvokeAnyError<i32, &'static str>) -> Vec<String> {
    error.failures.iter().map(ToString::to_string).collect()
}

/// Runs a test with both forms of the call. The second form has a time limit that is so long that it has no
/// effect.
fn each_form(test: impl Fn(&dyn Fn(&dyn Executor, Vec<FutureTask<Attempt>>) -> Outcome)) {
    test(&|executor, tasks| executor.invoke_any(tasks));
    test(&|executor, tasks| executor.invoke_any_timeout(tasks, Duration::MAX));
    test(&|executor, tasks| executor.invoke_any_timeout(tasks, LONG));
}

// ----- a task wins -----

/// INV-7, INV-13, INV-25, INV-32, INV-40
#[test]
fn it_gives_the_value_of_a_task_that_has_succeeded() {
    within_deadline(|| {
        on_every_executor(|executor| {
            each_form(|invoke_any| {
                let runs = Arc::new(AtomicUsize::new(0));
                let tasks = (1..=5).map(|n| {
                    let runs = Arc::clone(&runs);
                    FutureTask::new(move || {
                        runs.fetch_add(1, Ordering::Relaxed);
                        Ok(n)
                    })
                });
                let value = invoke_any(executor, tasks.collect()).unwrap();
                assert!((1..=5).contains(&value));
                assert!((1..=5).contains(&runs.load(Ordering::Relaxed)));
            });
        });
    });
}

/// INV-38
#[test]
fn failures_do_not_matter_if_one_succeeds() {
    within_deadline(|| {
        on_every_executor(|executor| {
            each_form(|invoke_any| {
                let cancelled = FutureTask::new(|| Ok(1));
                cancelled.handle.cancel();
                let tasks = vec![
                    FutureTask::new(|| Err("no")),
                    cancelled,
                    FutureTask::new(|| fail()),
                    FutureTask::new(|| Ok(7)),
                ];
                assert_eq!(invoke_any(executor, tasks).unwrap(), 7);
            });
        });
    });
}

/// INV-39
#[test]
fn a_fast_failure_does_not_keep_it_from_waiting_for_a_slow_success() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            let (release, failed) = (Signal::new(), Signal::new());
            let tasks = [
                boxed({
                    let failed = failed.clone();
                    move || {
                        failed.set();
                        Err("no")
                    }
                }),
                boxed({
                    let release = release.clone();
                    move || {
                        release.wait();
                        Ok(1)
                    }
                }),
            ];
            std::thread::scope(|scope| {
                let caller = scope.spawn(|| executor.invoke_any(tasks));
                failed.wait();
                std::thread::sleep(SHORT); // perhaps it has noticed the failure by now
                assert!(!caller.is_finished());
                release.set();
                assert_eq!(caller.join().unwrap().unwrap(), 1);
            });
        });
    });
}

/// INV-32, INV-33, INV-35, INV-41, SLIP-13
#[test]
fn every_loser_that_runs_is_told_before_it_returns() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            each_form(|invoke_any| {
                let ((one, one_waits, one_told), (two, two_waits, two_told)) = (loser(), loser());
                let winner = FutureTask::new(move || {
                    one_waits.wait_until_blocked();
                    two_waits.wait_until_blocked();
                    Ok(1)
                });
                assert_eq!(invoke_any(executor, vec![one, winner, two]).unwrap(), 1);
                assert!(one_told.is_set() && two_told.is_set());
            });
        });
    });
}

#[test]
fn losers_that_wait_in_the_queue_never_begin() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let busy = occupy(&*pool);
        let (holds_the_thread, release) = (Signal::new(), Signal::new());
        let (captured, is_alive) = tracked();
        let tasks = [
            boxed({
                let pool = Arc::clone(&pool);
                move || {
                    eventually("the others are in the queue", || pool.stats().queued == 2);
                    Ok(1)
                }
            }),
            boxed({
                let (holds_the_thread, release) = (holds_the_thread.clone(), release.clone());
                move || {
                    holds_the_thread.set();
                    release.wait();
                    fail() // it has lost
                }
            }),
            boxed(move || {
                drop(captured);
                fail()
            }),
        ];
        assert_eq!(pool.invoke_any(tasks).unwrap(), 1);
        assert!(!is_alive());
        assert_eq!(pool.stats().queued, 0);
        release.set();
        drop(busy);
    });
}

/// SLIP-14
#[test]
fn an_executor_that_runs_tasks_inline_runs_none_after_the_first_success() {
    within_deadline(|| {
        let runs = Arc::new(AtomicUsize::new(0));
        let tasks = [Err("no"), Ok(2), Ok(3)].map(|result| {
            let runs = Arc::clone(&runs);
            boxed(move || {
                runs.fetch_add(1, Ordering::Relaxed);
                result
            })
        });
        assert_eq!(DirectExecutor.invoke_any(tasks).unwrap(), 2);
        assert_eq!(runs.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn a_success_that_is_there_counts_even_if_it_came_too_late() {
    within_deadline(|| {
        for tasks in [1, 2] {
            with_enough_time(|timeout| {
                let late = move || {
                    std::thread::sleep(2 * timeout);
                    Ok::<_, Infallible>(1)
                };
                match DirectExecutor.invoke_any_timeout(vec![late; tasks], timeout) {
                    Ok(value) => value == 1,
                    Err(error) => {
                        assert_eq!(error.not_submitted.len(), tasks, "one that was begun has succeeded");
                        false
                    }
                }
            });
        }
        let token = CancelToken::new();
        let cancels = [(); 2].map(|()| {
            let token = token.clone();
            move || {
                token.cancel();
                Ok::<_, Infallible>(1)
            }
        });
        assert_eq!(token.attach(|| DirectExecutor.invoke_any(cancels)).unwrap(), 1);
    });
}

#[test]
fn a_task_may_invoke_others_on_a_pool_with_a_thread_to_spare() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let winner = pool.submit({
            let pool = Arc::clone(&pool);
            move || pool.invoke_any([boxed(|| Err("no")), boxed(|| Ok(2))]).unwrap()
        });
        assert_eq!(winner.unwrap().join().unwrap(), 2);
    });
}

// ----- no task wins -----

/// INV-11, INV-46, INV-47, SLIP-13
#[test]
fn nobody_can_win_among_none() {
    within_deadline(|| {
        on_every_executor(|executor| {
            each_form(|invoke_any| {
                let error = invoke_any(executor, Vec::new()).unwrap_err();
                assert_matches!(error.reason, InvokeFailure::Empty);
                assert_eq!(error.to_string(), "there is no task");
            });
        });
    });
}

/// INV-12, INV-36, SLIP-13
#[test]
fn if_all_fail_it_says_so_at_once_and_how_in_the_order_of_failing() {
    within_deadline(|| {
        on_every_executor(|executor| {
            each_form(|invoke_any| {
                let tasks = vec![FutureTask::new(|| Err("no")), FutureTask::new(|| fail())];
                let error = invoke_any(executor, tasks).unwrap_err();
                assert_matches!(error.reason, InvokeFailure::AllFailed);
                let mut causes = told(&error);
                causes.sort();
                assert_eq!(causes, ["no", "the task panicked: oh"]);
            });
        });
        let error = DirectExecutor.invoke_any([boxed(|| Err("one")), boxed(|| Err("two"))]).unwrap_err();
        assert_eq!(told(&error), ["one", "two"]);
        assert_eq!(error.to_string(), "each task has failed; the first failure: one");
    });
}

/// INV-37
#[test]
fn it_waits_for_the_last_one_to_fail() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let release = Signal::new();
        let waiter = blocked({
            let release = release.clone();
            let tasks = [
                boxed(|| Err("early")),
                boxed(move || {
                    release.wait();
                    Err("late")
                }),
            ];
            move || pool.invoke_any(tasks)
        });
        assert!(waiter.still_waits());
        release.set();
        let mut causes = told(&waiter.result().unwrap_err());
        causes.sort();
        assert_eq!(causes, ["early", "late"]);
    });
}

/// INV-41
#[test]
fn when_the_time_is_up_all_are_cancelled_and_told() {
    within_deadline(|| {
        on_every_concurrent_executor(|executor| {
            with_enough_time(|timeout| {
                let ((one, _, one_told), (two, _, two_told)) = (loser(), loser());
                let (one_begun, two_begun) = (one.handle.canceller(), two.handle.canceller());
                let failed = FutureTask::new(move || {
                    let pending = |task: &Canceller| task.state() == TaskState::Pending;
                    eventually("the others have begun", || !pending(&one_begun) && !pending(&two_begun));
                    Err("no")
                });
                let start = Instant::now();
                let error = executor.invoke_any_timeout([one, failed, two], timeout).unwrap_err();
                assert!(start.elapsed() >= timeout);
                assert_matches!(error.reason, InvokeFailure::TimedOut);
                assert_eq!(error.failures.len() + error.not_submitted.len(), 3);
                if !error.not_submitted.is_empty() || told(&error)[0] != "no" {
                    return false;
                }
                assert_eq!(told(&error)[1..], ["the task was cancelled: its deadline has passed"; 2]);
                assert!(
                    error.to_string().starts_with("no task has succeeded in time; the first failure: no")
                );
                one_told.wait();
                two_told.wait();
                true
            });
        });
    });
}

#[test]
fn without_any_time_nothing_is_begun_and_all_comes_back() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let error = executor.invoke_any_timeout([boxed(|| Ok(1)), boxed(|| Ok(2))], Duration::ZERO);
            let error = error.unwrap_err();
            assert_matches!(error.reason, InvokeFailure::TimedOut);
            assert!(error.failures.is_empty());
            assert_eq!(DirectExecutor.invoke_any(error.not_submitted).unwrap(), 1);
        });
    });
}
