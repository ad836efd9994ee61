//! Tests the timed runs of `examples/timed_run`: for each version, the tests show the fault, and show that
//! the cure works.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use executor::{
    CancelKind, CancelToken, Executor, RejectReason, RejectedExecution, Task, ThreadPoolExecutor, prelude::*,
};

use crate::support::{LONG, SHORT, Signal, blocked, occupy, with_enough_time, within_deadline};

#[path = "../../examples/timed_run/on_an_executor.rs"]
#[allow(unreachable_pub)] // it reads like a module of a library
mod on_an_executor;
#[path = "../../examples/timed_run/on_its_own_thread.rs"]
#[allow(unreachable_pub)]
mod on_its_own_thread;
#[path = "../../examples/timed_run/on_the_callers_thread.rs"]
#[allow(unreachable_pub)]
mod on_the_callers_thread;

use on_an_executor::{NoResult, hides_the_time_out};
use on_its_own_thread::silent_join;
use on_the_callers_thread::{late_cancel, taken_back};

const AN_HOUR: Duration = Duration::from_secs(3600);

/// Returns a task that ends when it is asked to stop, and that sets the signal at its end. (If no request
/// comes in time, the task sets the signal, too.)
fn until_told(told: &Signal) -> impl FnOnce() + Send + 'static {
    let told = told.clone();
    move || {
        if CancelToken::current().sleep(2 * LONG).is_err() {
            told.set();
        }
    }
}

/// Runs `f` as the caller of a timed run; returns the result of `f`, and the token of the caller.
fn as_a_caller<R>(f: impl FnOnce() -> R) -> (R, CancelToken) {
    let caller = CancelToken::new();
    (caller.attach(f), caller)
}

// On the caller's thread

#[test]
fn a_late_cancel_hits_what_the_caller_does_next() {
    within_deadline(|| {
        let (next, caller) = as_a_caller(|| {
            assert_eq!(late_cancel(SHORT, || 1), 1);
            CancelToken::current().sleep(AN_HOUR)
        });
        let reason = next.unwrap_err().reason().unwrap().clone();
        assert_eq!(reason.message(), Some("the weather takes too long"));
        assert!(caller.is_cancelled());
    });
}

/// In Java, such a cancellation can hit the next task, because Java interrupts the thread and not the task.
#[test]
fn a_late_cancel_does_not_hit_the_next_task_of_its_thread() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let first = pool.submit(|| {
            late_cancel(SHORT, || ());
            let token = CancelToken::current();
            while !token.is_cancelled() {
                thread::yield_now();
            }
        });
        first.unwrap().join().unwrap();
        assert!(pool.submit(|| CancelToken::current().check()).unwrap().join().unwrap().is_ok());
    });
}

#[test]
fn a_cancel_that_is_taken_back_in_time_does_not_come() {
    with_enough_time(|limit| {
        let began = Instant::now();
        let ((), caller) = as_a_caller(|| taken_back(limit, || ()));
        let in_time = began.elapsed() < limit;
        thread::sleep(limit.saturating_sub(began.elapsed()) + SHORT);
        assert!(!in_time || !caller.is_cancelled());
        in_time
    });
}

#[test]
fn a_cancel_that_came_just_before_cannot_be_taken_back() {
    within_deadline(|| {
        let (value, caller) = as_a_caller(|| {
            let caller = CancelToken::current();
            taken_back(SHORT, || {
                while !caller.is_cancelled() {
                    thread::yield_now();
                }
                "a result"
            })
        });
        assert_eq!(value, "a result");
        assert!(caller.is_cancelled(), "although there is a result");
    });
}

#[test]
fn a_token_of_its_own_is_all_that_the_time_limit_cancels() {
    within_deadline(|| {
        let (seen, caller) =
            as_a_caller(|| on_the_callers_thread::timed_run(SHORT, || CancelToken::current().sleep(AN_HOUR)));
        assert_eq!(seen.unwrap_err().reason().unwrap().kind(), CancelKind::Deadline);
        assert!(!caller.is_cancelled());
    });
}

#[test]
fn on_the_callers_thread_a_task_takes_as_long_as_it_likes() {
    let rest_of_the_work = || {
        assert!(CancelToken::current().is_cancelled(), "the time was up before it began");
        "done all the same"
    };
    assert_eq!(on_the_callers_thread::timed_run(Duration::ZERO, rest_of_the_work), "done all the same");
}

// On a thread of its own

#[test]
fn a_silent_join_comes_back_alike_from_an_end_a_panic_and_a_time_out() {
    within_deadline(|| {
        silent_join(AN_HOUR, || ());
        silent_join(AN_HOUR, || panic_any("a bug"));
        let goes_on = Signal::new();
        let waits = goes_on.clone();
        silent_join(SHORT, move || waits.wait());
        goes_on.set();
    });
}

#[test]
fn a_thread_of_its_own_tells_how_its_task_has_ended() {
    within_deadline(|| {
        assert_eq!(on_its_own_thread::timed_run(AN_HOUR, || 7).unwrap(), 7);
        let panics = || on_its_own_thread::timed_run(AN_HOUR, || panic_any(7));
        let panic = catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&7));
        let told = Signal::new();
        let (late, caller) = as_a_caller(|| on_its_own_thread::timed_run(SHORT, until_told(&told)));
        late.unwrap_err();
        told.wait();
        assert!(!caller.is_cancelled());
    });
}

// On an executor

#[test]
fn the_classic_listing_comes_back_alike_with_and_without_a_result() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        hides_the_time_out(&pool, AN_HOUR, || ());
        let panics = || hides_the_time_out(&pool, AN_HOUR, || panic_any("a bug"));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err(), "at least a panic is told");
        let told = Signal::new();
        hides_the_time_out(&pool, SHORT, until_told(&told));
        pool.close(); // waits for the task, which was cancelled
        hides_the_time_out(&pool, SHORT, || unreachable!("the pool has refused it"));
    });
}

#[test]
fn on_an_executor_the_caller_is_told_why_there_is_no_result() {
    within_deadline(|| {
        use on_an_executor::timed_run;
        let pool = ThreadPoolExecutor::single();
        assert_eq!(timed_run(&pool, AN_HOUR, || 7).unwrap(), 7);
        let panic =
            catch_unwind(AssertUnwindSafe(|| timed_run(&pool, AN_HOUR, || panic_any(7)))).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&7));
        let busy = occupy(&pool);
        assert!(matches!(timed_run(&pool, SHORT, || ()), Err(NoResult::TimedOut)));
        drop(busy);
        assert!(matches!(timed_run(&Drops, AN_HOUR, || ()), Err(NoResult::Cancelled)));
        pool.shutdown();
        assert!(matches!(timed_run(&pool, AN_HOUR, || ()), Err(NoResult::Refused(RejectReason::Shutdown))));
    });
}

/// An executor that loses every task.
struct Drops;

impl Executor for Drops {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        drop(task);
        Ok(())
    }
}

#[test]
fn on_an_executor_the_task_is_told_when_the_time_is_up() {
    with_enough_time(|limit| {
        let pool = ThreadPoolExecutor::single();
        let (began, told) = (Signal::new(), Signal::new());
        let (begins, sleeps) = (began.clone(), until_told(&told));
        let task = move || {
            begins.set();
            sleeps();
        };
        assert!(matches!(on_an_executor::timed_run(&pool, limit, task), Err(NoResult::TimedOut)));
        pool.close();
        assert_eq!(began.is_set(), told.is_set());
        began.is_set()
    });
}

#[test]
fn on_an_executor_the_task_is_told_when_its_caller_is() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let (began, told, caller) = (Signal::new(), Signal::new(), CancelToken::new());
        let waiter = blocked({
            let (pool, caller, begins, sleeps) =
                (Arc::clone(&pool), caller.clone(), began.clone(), until_told(&told));
            let task = move || {
                begins.set();
                sleeps();
            };
            move || caller.attach(|| on_an_executor::timed_run(&*pool, AN_HOUR, task))
        });
        began.wait();
        caller.cancel();
        assert!(matches!(waiter.result(), Err(NoResult::Interrupted)));
        told.wait();
    });
}
