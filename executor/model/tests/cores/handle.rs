//! The outcome of a task is decided once, and all waiters of the task get this outcome.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use executor_model::{CancelToken, FutureTask, JoinError, Latch, Outcome, TaskState};
use loom::cell::UnsafeCell;
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::{block_on, model, model_bounded};

#[test]
fn what_the_submitter_did_reaches_the_body_and_what_the_body_did_reaches_the_joiner() {
    model(|| {
        // Loom reports an access to the cell if the access is not ordered after the previous access.
        let payload = UnsafeCell::new(0);
        payload.with_mut(|_written_by_the_submitter| ());
        let FutureTask { task, handle } = FutureTask::new(move || {
            payload.with_mut(|_written_by_the_body| ());
            payload
        });
        let worker = thread::spawn(move || drop(task.run()));
        handle.join().unwrap().with(|_read_by_the_joiner| ());
        worker.join().unwrap();
    });
}

#[test]
fn a_join_ends_when_the_task_does() {
    model(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let worker = thread::spawn(move || task.run());
        assert_eq!(handle.join().unwrap(), 7);
        assert!(matches!(worker.join().unwrap(), Outcome::Completed));
    });
}

#[test]
fn a_join_ends_when_the_task_is_dropped() {
    model(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let worker = thread::spawn(move || drop(task));
        assert!(matches!(handle.join(), Err(JoinError::Cancelled(_))));
        worker.join().unwrap();
    });
}

#[test]
fn a_timed_join_gives_the_result_or_the_handle() {
    model(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let worker = thread::spawn(move || drop(task.run()));
        match handle.join_timeout(Duration::from_secs(1)) {
            Ok(result) => assert_eq!(result, 7),
            Err(JoinError::TimedOut(handle)) => assert_eq!(handle.join().unwrap(), 7),
            Err(other) => panic!("{other:?}"),
        }
        worker.join().unwrap();
    });
}

#[test]
fn a_join_that_may_cancel_gives_the_result_or_has_cancelled_the_task() {
    model(|| {
        let ran = Arc::new(AtomicUsize::new(0));
        let FutureTask { task, handle } = FutureTask::new({
            let ran = Arc::clone(&ran);
            move || ran.fetch_add(1, Relaxed)
        });
        let worker = thread::spawn(move || drop(task.run()));
        match handle.join_or_cancel(Duration::from_secs(1)) {
            Ok(result) => assert_eq!(result, 0),
            Err(JoinError::TimedOut(handle)) => assert_eq!(handle.state(), TaskState::Cancelled),
            Err(other) => panic!("{other:?}"),
        }
        worker.join().unwrap();
    });
}

#[test]
fn an_awaited_handle_wakes_the_waker_of_its_last_poll() {
    model(|| {
        let FutureTask { task, mut handle } = FutureTask::new(|| 7);
        let worker = thread::spawn(move || drop(task.run()));
        match Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => assert_eq!(result.unwrap(), 7),
            Poll::Pending => assert_eq!(block_on(handle).unwrap(), 7),
        }
        worker.join().unwrap();
    });
}

#[test]
fn an_awaited_handle_tells_of_a_cancel() {
    model(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let canceller = handle.canceller();
        let worker = thread::spawn(move || drop(task.run()));
        let other = thread::spawn(move || canceller.cancel());
        let awaited = block_on(handle);
        assert_eq!(other.join().unwrap(), awaited.is_err(), "{awaited:?}");
        worker.join().unwrap();
    });
}

#[test]
fn a_result_that_nobody_takes_is_dropped_while_a_canceller_is_kept() {
    model(|| {
        let result = Arc::new(());
        let alive = Arc::downgrade(&result);
        let FutureTask { task, handle } = FutureTask::new(move || result);
        let canceller = handle.canceller();
        let worker = thread::spawn(move || drop(task.run()));
        drop(handle);
        worker.join().unwrap();
        assert_eq!(alive.strong_count(), 0);
        assert!(canceller.is_finished());
    });
}

#[test]
fn of_the_body_and_two_cancels_exactly_one_decides() {
    model(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let worker = thread::spawn(move || drop(task.run()));
        let canceller = handle.canceller();
        let other = thread::spawn(move || canceller.cancel());
        let cancelled_here = handle.cancel();
        let joined = handle.join();
        assert!(matches!(joined, Ok(7) | Err(JoinError::Cancelled(_))), "{joined:?}");
        let winners = [cancelled_here, other.join().unwrap(), joined.is_ok()];
        assert_eq!(winners.into_iter().filter(|&won| won).count(), 1, "{winners:?}");
        worker.join().unwrap();
    });
}

#[test]
fn a_cancel_releases_the_joiner_before_and_while_the_body_runs() {
    model_bounded(4, || {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let canceller = handle.canceller();
        let worker = thread::spawn(move || drop(task.run()));
        let other = thread::spawn(move || canceller.cancel());
        let joined = handle.join();
        let won = other.join().unwrap();
        assert_eq!(won, matches!(joined, Err(JoinError::Cancelled(_))), "{joined:?}");
        assert_eq!(!won, joined.is_ok());
        worker.join().unwrap();
    });
}

#[test]
fn a_cancel_reaches_the_token_that_the_body_makes_meanwhile() {
    model(|| {
        let made = Arc::new(Mutex::new(None));
        let FutureTask { task, handle } = FutureTask::new({
            let made = Arc::clone(&made);
            move || *made.lock().unwrap() = Some(CancelToken::current())
        });
        let worker = thread::spawn(move || drop(task.run()));
        let cancelled = handle.cancel();
        worker.join().unwrap();
        if let Some(token) = made.lock().unwrap().take() {
            assert_eq!(token.is_cancelled(), cancelled);
        }
    });
}

#[test]
fn a_cancel_ends_the_wait_in_the_body() {
    model(|| {
        let never = Latch::new(1);
        let FutureTask { task, handle } = FutureTask::new(move || never.wait());
        let worker = thread::spawn(move || drop(task.run()));
        assert!(handle.cancel());
        assert_eq!(handle.state(), TaskState::Cancelled);
        worker.join().unwrap(); // otherwise loom reports a deadlock
    });
}

#[test]
fn a_cancel_that_lets_the_body_go_on_leaves_its_token_alone() {
    model(|| {
        let made = Arc::new(Mutex::new(None));
        let FutureTask { task, handle } = FutureTask::new({
            let made = Arc::clone(&made);
            move || *made.lock().unwrap() = Some(CancelToken::current())
        });
        let worker = thread::spawn(move || drop(task.run()));
        handle.cancel_keep_running();
        worker.join().unwrap();
        assert!(made.lock().unwrap().take().is_none_or(|token| !token.is_cancelled()));
    });
}

#[test]
fn the_callback_is_called_once_with_the_outcome_that_was_decided() {
    model(|| {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let canceller = handle.canceller();
        let worker = thread::spawn(move || drop(task.run()));
        let other = thread::spawn(move || canceller.cancel());
        handle.on_done({
            let calls = Arc::clone(&calls);
            move |result| calls.lock().unwrap().push(result.is_ok())
        });
        let won = other.join().unwrap();
        worker.join().unwrap();
        assert_eq!(*calls.lock().unwrap(), [!won]);
    });
}

#[test]
fn a_cancelled_waiter_gets_the_result_or_its_handle_back() {
    model_bounded(3, || {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let token = CancelToken::new();
        let waiter = thread::spawn({
            let token = token.clone();
            move || token.attach(|| handle.join())
        });
        let worker = thread::spawn(move || drop(task.run()));
        token.cancel();
        match waiter.join().unwrap() {
            Ok(result) => assert_eq!(result, 7),
            Err(JoinError::Interrupted(handle)) => assert_eq!(handle.join().unwrap(), 7),
            Err(other) => panic!("{other:?}"),
        }
        worker.join().unwrap();
    });
}

#[test]
fn a_result_that_was_there_before_the_waiter_was_cancelled_is_not_hidden() {
    model(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let token = CancelToken::new();
        let waiter = thread::spawn({
            let token = token.clone();
            move || token.attach(|| handle.join())
        });
        task.run();
        token.cancel();
        assert_eq!(waiter.join().unwrap().unwrap(), 7);
    });
}

#[test]
fn a_body_is_run_or_dropped_and_never_both() {
    struct Captured(Arc<AtomicUsize>);
    impl Drop for Captured {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    model(|| {
        let (ran, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let captured = Captured(Arc::clone(&dropped));
        let FutureTask { task, handle } = FutureTask::new({
            let ran = Arc::clone(&ran);
            move || {
                let _captured = captured;
                ran.fetch_add(1, Relaxed);
            }
        });
        let worker = thread::spawn(move || task.run());
        let cancelled = handle.cancel();
        let outcome = worker.join().unwrap();
        assert_eq!(dropped.load(Relaxed), 1);
        assert_eq!(ran.load(Relaxed), usize::from(matches!(outcome, Outcome::Completed)));
        assert!(cancelled || ran.load(Relaxed) == 1);
    });
}

/// The callback waits for the thread that joins the task. If the library called the callback before it
/// released the joiner, the callback would never return.
#[test]
fn a_cancel_lets_the_joiner_go_before_the_callbacks_of_the_running_body() {
    model_bounded(2, || {
        let (ready, joined, never) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)), Latch::new(1));
        let FutureTask { task, handle } = FutureTask::new({
            let (ready, joined) = (Arc::clone(&ready), Arc::clone(&joined));
            move || {
                CancelToken::current().on_cancel(move || joined.wait().unwrap()).keep();
                ready.count_down();
                never.wait()
            }
        });
        let to_cancel = handle.canceller();
        let worker = thread::spawn(move || drop(task.run()));
        let waiter = thread::spawn(move || {
            let cancelled = matches!(handle.join(), Err(JoinError::Cancelled(_)));
            joined.count_down();
            cancelled
        });
        ready.wait().unwrap();
        assert!(to_cancel.cancel());
        assert!(waiter.join().unwrap());
        worker.join().unwrap();
    });
}

#[test]
fn a_cancel_lets_the_joiner_go_before_it_drops_what_the_task_captured() {
    struct WaitsWhenDropped(Arc<Latch>);
    impl Drop for WaitsWhenDropped {
        fn drop(&mut self) {
            self.0.wait().unwrap();
        }
    }
    model(|| {
        let joined = Arc::new(Latch::new(1));
        let captured = WaitsWhenDropped(Arc::clone(&joined));
        let FutureTask { task, handle } = FutureTask::new(move || drop(captured));
        let to_cancel = handle.canceller();
        let waiter = thread::spawn(move || {
            let cancelled = matches!(handle.join(), Err(JoinError::Cancelled(_)));
            joined.count_down();
            cancelled
        });
        assert!(to_cancel.cancel()); // otherwise loom reports a deadlock
        assert!(waiter.join().unwrap());
        drop(task);
    });
}

/// A join replaces a waker that the user has set. If the drop of that waker waits for an event, the join
/// waits for that event, too.
#[test]
fn a_wait_inside_a_join_leaves_it_its_wake_up() {
    struct WaitsWhenDropped(Arc<Latch>, thread::ThreadId);
    impl Wake for WaitsWhenDropped {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for WaitsWhenDropped {
        fn drop(&mut self) {
            if thread::current().id() == self.1 {
                self.0.wait().unwrap();
            }
        }
    }
    model(|| {
        let after_the_task = Arc::new(Latch::new(1));
        let FutureTask { task, mut handle } = FutureTask::new(|| 7);
        let waker = WaitsWhenDropped(Arc::clone(&after_the_task), thread::current().id());
        let waker = Waker::from(Arc::new(waker));
        assert!(Pin::new(&mut handle).poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        let worker = thread::spawn(move || {
            task.run();
            after_the_task.count_down();
        });
        // The task ends before or while this thread waits for the latch.
        assert_eq!(handle.join().unwrap(), 7); // otherwise loom reports a deadlock
        worker.join().unwrap();
    });
}
