//! Models of batches and races, and of all events that can end them: the end of the pool, a deadline, or the
//! cancellation of the caller.

use std::sync::Arc;
use std::time::Duration;

use executor_model::{
    CancelToken, FutureTask, InvokeFailure, Latch, RejectReason, TaskFailure, TaskHandle, TaskState,
    ThreadPoolExecutor, prelude::*,
};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::{check, thread};

const SOON: Duration = Duration::from_millis(1);

type Attempt = Result<usize, &'static str>;

/// A task that ends only when it is cancelled.
fn sleeper<T: Send + 'static>() -> FutureTask<T> {
    FutureTask::cancellable(|token| {
        token.sleep(Duration::MAX)?;
        unreachable!("the sleep has no end of its own")
    })
}

fn all_finished<T: Send + 'static>(handles: &[TaskHandle<T>]) -> bool {
    handles.iter().all(TaskHandle::is_finished)
}

// ----- any -----

#[test]
fn a_race_during_a_shutdown_is_won_or_says_what_was_refused() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let runs = Arc::new(AtomicUsize::new(0));
        let tasks = [Err("no"), Err("no"), Ok(2)].map(|result: Attempt| {
            let runs = Arc::clone(&runs);
            move || {
                runs.fetch_add(1, SeqCst);
                result
            }
        });
        let stopper = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.shutdown())
        };
        match pool.invoke_any(tasks) {
            Ok(value) => assert_eq!(value, 2),
            Err(error) => {
                assert!(matches!(error.reason, InvokeFailure::Rejected(RejectReason::Shutdown)));
                assert_eq!(error.failures.len() + error.not_submitted.len(), 3);
                assert_eq!(runs.load(SeqCst), error.failures.len(), "the accepted tasks have run");
                assert!(error.not_submitted.iter().all(|task| task.handle.state() == TaskState::Pending));
            }
        }
        stopper.join().unwrap();
        pool.close();
    });
}

#[test]
fn a_race_against_shutting_down_now_ends() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let stopper = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || drop(pool.shutdown_now()))
        };
        let tasks = [FutureTask::new(|| Err("no")), sleeper::<Attempt>(), FutureTask::new(|| Err("no"))];
        let error = pool.invoke_any(tasks).unwrap_err();
        match error.reason {
            InvokeFailure::AllFailed => assert!(error.not_submitted.is_empty()),
            InvokeFailure::Rejected(RejectReason::Shutdown) => assert!(!error.not_submitted.is_empty()),
            other => panic!("{other}"),
        }
        assert_eq!(error.failures.len() + error.not_submitted.len(), 3);
        stopper.join().unwrap();
        pool.close();
    });
}

#[test]
fn the_losers_of_a_race_are_told_so_their_threads_come_back() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let tasks = [sleeper(), FutureTask::new(|| Attempt::Ok(1)), FutureTask::new(|| Attempt::Ok(2))];
        let loser = tasks[0].handle.canceller();
        assert!(matches!(pool.invoke_any(tasks), Ok(1 | 2)));
        assert_eq!(loser.state(), TaskState::Cancelled);
        pool.close();
    });
}

#[test]
fn a_race_with_a_deadline_is_won_or_all_are_cancelled() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let tasks = [sleeper(), FutureTask::new(|| Attempt::Ok(1))];
        let cancellers = [tasks[0].handle.canceller(), tasks[1].handle.canceller()];
        match pool.invoke_any_timeout(tasks, SOON) {
            Ok(value) => assert_eq!(value, 1),
            Err(error) => {
                assert!(matches!(error.reason, InvokeFailure::TimedOut));
                assert!(error.failures.iter().all(|cause| matches!(cause, TaskFailure::Cancelled(_))));
                drop(error);
                assert_eq!(cancellers[1].state(), TaskState::Cancelled);
            }
        }
        assert_eq!(cancellers[0].state(), TaskState::Cancelled);
        pool.close();
    });
}

// ----- all -----

#[test]
fn a_batch_is_complete_when_it_comes_back() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        let runs = Arc::new(AtomicUsize::new(0));
        let tasks = [(); 3].map(|()| {
            let runs = Arc::clone(&runs);
            move || runs.fetch_add(1, SeqCst)
        });
        let handles = pool.invoke_all(tasks).unwrap();
        assert_eq!(runs.load(SeqCst), 3);
        assert!(all_finished(&handles));
        pool.close();
    });
}

#[test]
fn at_the_deadline_of_a_batch_nothing_more_begins() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let begun = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&begun);
        let next = FutureTask::new(move || _ = counts.fetch_add(1, SeqCst));
        pool.invoke_all_timeout([sleeper(), next], SOON).unwrap();
        pool.close();
        assert_eq!(begun.load(SeqCst), 0, "the thread was free only because the time was up");
    });
}

#[test]
fn at_the_deadline_of_a_batch_every_handle_is_finished() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let handles = pool.invoke_all_timeout([FutureTask::new(|| ()), sleeper()], SOON).unwrap();
        assert!(all_finished(&handles));
        assert_eq!(handles[1].state(), TaskState::Cancelled);
        pool.close();
    });
}

#[test]
fn a_batch_against_shutting_down_now_is_accounted_for() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let stopper = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || drop(pool.shutdown_now()))
        };
        let handles = match pool.invoke_all([sleeper::<()>(), sleeper(), sleeper()]) {
            Ok(handles) => handles,
            Err(error) => {
                assert!(matches!(error.reason, InvokeFailure::Rejected(RejectReason::Shutdown)));
                assert_eq!(error.handles.len() + error.not_submitted.len(), 3);
                error.handles
            }
        };
        assert!(all_finished(&handles));
        stopper.join().unwrap();
        pool.close();
    });
}

#[test]
fn a_caller_that_is_cancelled_leaves_nothing_running() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let token = CancelToken::new();
        let other = {
            let token = token.clone();
            thread::spawn(move || token.cancel())
        };
        let error = token.attach(|| pool.invoke_all([sleeper::<()>(), sleeper()])).unwrap_err();
        assert!(matches!(error.reason, InvokeFailure::Interrupted));
        assert!(all_finished(&error.handles));
        drop(error);
        let error = token.attach(|| pool.invoke_any([sleeper::<Attempt>()])).unwrap_err();
        assert!(matches!(error.reason, InvokeFailure::Interrupted));
        other.join().unwrap();
        pool.close();
    });
}

/// Two batches share the pool with a plain task; neither batch takes a wake-up that was sent for the other
/// batch.
#[test]
fn batches_on_one_pool_do_not_take_each_others_wake_ups() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let done = Arc::new(Latch::new(2));
        let callers = [1, 2].map(|number| {
            let (pool, done) = (Arc::clone(&pool), Arc::clone(&done));
            thread::spawn(move || {
                let first = pool.invoke_any([|| Attempt::Err("no"), || Attempt::Err("no")]).unwrap_err();
                assert_eq!(first.failures.len(), 2);
                let value = pool.invoke_all([move || number]).unwrap().pop().unwrap().join().unwrap();
                assert_eq!(value, number);
                done.count_down();
            })
        });
        done.wait().unwrap();
        for caller in callers {
            caller.join().unwrap();
        }
        pool.close();
    });
}
