//! Handles for many waiters.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use executor::{
    CancelToken, FutureTask, Promise, SharedJoinError, TaskError, TaskState, ThreadPoolExecutor, prelude::*,
};

use crate::support::{
    LONG, Record, SHORT, Signal, assert_matches, blocked, occupy, on_thread, within_deadline,
};

/// FUT-18
#[test]
fn all_waiters_get_the_one_value_when_a_third_runs_the_task() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        let handle = handle.shared();
        let waiters = [
            blocked({
                let handle = handle.clone();
                move || handle.join()
            }),
            blocked({
                let handle = handle.clone();
                move || handle.join_timeout(Duration::MAX)
            }),
        ];
        assert!(!handle.is_finished());
        let runner = on_thread(move || task.run());
        let [first, second] = waiters.map(|waiter| waiter.result().unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        assert!(
            Arc::ptr_eq(&first, &handle.join().unwrap()),
            "a later waiter gets the same one, any number of times"
        );
        assert!(handle.is_finished());
        drop(runner.result());
    });
}

#[test]
fn it_can_be_made_of_a_finished_handle() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| "text");
        task.run();
        let handle = handle.shared();
        assert!(handle.is_finished());
        assert_eq!(*handle.join().unwrap(), "text");
    });
}

#[test]
fn all_waiters_are_told_of_the_panic_and_share_its_payload() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let handle = pool.submit(|| -> i32 { std::panic::resume_unwind(Box::new("no")) }).unwrap().shared();
        let panics = [&handle, &handle.clone()].map(|handle| match handle.join() {
            Err(SharedJoinError::Panicked(panic)) => panic,
            other => panic!("not panicked but {other:?}"),
        });
        assert!(panics.iter().all(|panic| panic.message() == "no"));
        assert!(panics[0].take_payload().is_some());
        assert!(panics[1].take_payload().is_none(), "there is only one");
    });
}

/// FUT-21
#[test]
fn any_of_them_can_cancel_and_all_waiters_are_released() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let handle = pool.submit_cancellable(|token| token.sleep(Duration::MAX)).unwrap().shared();
        let waiters = [(); 2].map(|()| {
            let handle = handle.clone();
            blocked(move || handle.join())
        });
        assert!(handle.clone().cancel());
        assert!(!handle.cancel());
        assert!(handle.is_finished());
        assert_eq!(handle.state(), TaskState::Cancelled);
        for waiter in waiters {
            assert_matches!(waiter.result(), Err(SharedJoinError::Cancelled(_)));
        }
    });
}

#[test]
fn any_of_them_can_cancel_and_leave_the_body_alone() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (promise, token) = Promise::new();
        let release = Signal::new();
        let go_on = release.clone();
        let body = move || {
            promise.complete(CancelToken::current()).unwrap();
            go_on.wait();
        };
        let handle = pool.submit(body).unwrap().shared();
        let token = token.join().unwrap();
        assert!(handle.clone().cancel_keep_running());
        assert_matches!(handle.join(), Err(SharedJoinError::Cancelled(_)));
        assert!(!token.is_cancelled(), "the body goes on undisturbed");
        assert!(!handle.cancel_keep_running(), "it is cancelled already");
        release.set();
    });
}

#[test]
fn a_wait_that_times_out_or_is_interrupted_leaves_the_handle_as_it_was() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        let handle = handle.shared();
        let start = Instant::now();
        assert_matches!(handle.join_timeout(SHORT), Err(SharedJoinError::TimedOut));
        assert!(start.elapsed() >= SHORT);
        let token = CancelToken::new();
        let waiter = blocked({
            let (token, handle) = (token.clone(), handle.clone());
            move || token.attach(|| handle.join())
        });
        token.cancel();
        assert_matches!(waiter.result(), Err(SharedJoinError::Interrupted));
        task.run();
        assert_eq!(*handle.join().unwrap(), 1);
    });
}

#[test]
fn it_can_be_awaited_by_many_and_again_and_again() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 1);
        let handle = handle.shared();
        let awaiting = [(); 2].map(|()| {
            let handle = handle.clone();
            blocked(move || pollster::block_on(handle))
        });
        task.run();
        for value in awaiting.map(|waiter| waiter.result().unwrap()) {
            assert_eq!(*value, 1);
        }
        let (mut handle, mut context) = (pin!(handle), Context::from_waker(Waker::noop()));
        for _ in 0..2 {
            assert_matches!(handle.as_mut().poll(&mut context), Poll::Ready(Ok(value)) if *value == 1);
        }
    });
}

/// FUT-42, FUT-44, FUT-46: repeated calls of `try_join` return the same outcome.
#[test]
fn looking_without_waiting_gives_the_outcome_if_there_is_one() {
    let (promise, handle) = Promise::new();
    let handle = handle.shared();
    assert!(handle.try_join().is_none());
    promise.complete(1).unwrap();
    for _ in 0..2 {
        assert_matches!(handle.try_join(), Some(Ok(value)) if *value == 1);
    }

    let (promise, handle) = Promise::<()>::new();
    let handle = handle.shared();
    promise.panic_with(Box::new("no")).unwrap();
    for _ in 0..2 {
        assert_matches!(handle.try_join(), Some(Err(TaskError::Panicked(panic))) if panic.message() == "no");
    }

    let (_, handle) = Promise::<()>::new();
    assert_matches!(handle.shared().try_join(), Some(Err(TaskError::Cancelled(_))));
}

#[test]
fn threads_and_asynchronous_tasks_wait_for_one_result_side_by_side() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let handle = pool.submit(|| 1).unwrap().shared();
        let waiters: Vec<_> = (0..6)
            .map(|n| {
                let handle = handle.clone();
                blocked(move || match n % 3 {
                    0 => handle.join().unwrap(),
                    1 => pollster::block_on(handle).unwrap(),
                    _ => tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
                        let (one, other) = (tokio::spawn(handle.clone()), tokio::spawn(handle));
                        assert!(Arc::ptr_eq(&one.await.unwrap().unwrap(), &other.await.unwrap().unwrap()));
                        Arc::new(1)
                    }),
                })
            })
            .collect();
        drop(busy);
        for waiter in waiters {
            assert_eq!(*waiter.result(), 1);
        }
    });
}

// ----- callbacks -----

#[test]
fn any_number_of_callbacks_are_called_in_their_order_on_the_thread_that_ends_the_task() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let (handle, calls) = (handle.shared(), Record::new());
        let call = |name: &'static str| {
            let calls = calls.clone();
            move |result: Result<Arc<i32>, TaskError>| {
                calls.add((name, *result.unwrap(), thread::current().id()));
            }
        };
        handle.on_done(call("first"));
        handle.clone().on_done(call("second"));
        handle.on_done(call("third"));
        assert_eq!(calls.so_far(), []);
        let runner = on_thread(move || {
            task.run();
            thread::current().id()
        });
        let runner = runner.result();
        assert_eq!(calls.so_far(), [("first", 7, runner), ("second", 7, runner), ("third", 7, runner)]);
        handle.on_done(call("late"));
        assert_eq!(calls.so_far()[3..], [("late", 7, thread::current().id())]);
    });
}

#[test]
fn callbacks_are_called_by_whoever_cancels_also_if_no_handle_is_left() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let (handle, calls) = (handle.shared(), Record::new());
        let canceller = handle.canceller();
        for n in 0..2 {
            let calls = calls.clone();
            handle.on_done(move |result| {
                assert_matches!(result, Err(TaskError::Cancelled(_)));
                calls.add((n, thread::current().id()));
            });
        }
        drop(handle);
        assert!(canceller.cancel());
        let here = thread::current().id();
        assert_eq!(calls.so_far(), [(0, here), (1, here)]);
        drop(task);
    });
}

#[test]
fn a_callback_that_panics_keeps_nobody_else_from_hearing() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let busy = occupy(&pool);
        let handle = pool.submit(|| 7).unwrap().shared();
        let called = Signal::new();
        handle.on_done(|_| std::panic::resume_unwind(Box::new("oh")));
        let waiter = blocked({
            let handle = handle.clone();
            move || handle.join()
        });
        handle.on_done({
            let called = called.clone();
            move |result| {
                assert_eq!(*result.unwrap(), 7);
                called.set();
            }
        });
        drop(busy);
        called.wait();
        assert_eq!(*waiter.result().unwrap(), 7);
        assert_eq!(pool.submit(|| 8).unwrap().join_timeout(LONG).unwrap(), 8, "and the worker lives on");
    });
}

#[test]
fn a_callback_may_use_the_handle_that_it_was_given_to() {
    within_deadline(|| {
        let (promise, handle) = Promise::new();
        let (handle, calls) = (handle.shared(), Record::new());
        handle.on_done({
            let (handle, calls) = (handle.clone(), calls.clone());
            move |_| {
                assert_eq!(*handle.join().unwrap(), 1);
                assert!(handle.is_finished() && !handle.cancel());
                let calls = calls.clone();
                handle.on_done(move |_| calls.add("inner"));
            }
        });
        promise.complete(1).unwrap();
        assert_eq!(calls.so_far(), ["inner"]);
    });
}

// ----- what waiters leave behind -----

struct Ignores;

impl Wake for Ignores {
    fn wake(self: Arc<Self>) {}
}

/// Returns a waker, and a function that counts the other copies of the waker.
fn counted() -> (Waker, impl Fn() -> usize) {
    let wake = Arc::new(Ignores);
    let weak = Arc::downgrade(&wake);
    (Waker::from(wake), move || weak.strong_count() - 1)
}

/// A future that polls several handles can pass a new waker to each poll. In this case a handle keeps only
/// the waker of the last poll.
#[test]
fn a_handle_keeps_only_the_waker_of_its_last_poll_and_none_when_it_is_gone() {
    let (_promise, handle) = Promise::<()>::new();
    let (_other_promise, other) = Promise::<()>::new();
    let (mut handle, other) = (handle.shared(), pin!(other.shared()));
    let ((first, kept_of_first), (last, kept_of_last)) = (counted(), counted());
    assert!(pin!(&mut handle).poll(&mut Context::from_waker(&first)).is_pending());
    assert!(other.poll(&mut Context::from_waker(&first)).is_pending());
    assert_eq!(kept_of_first(), 2);
    assert!(pin!(&mut handle).poll(&mut Context::from_waker(&last)).is_pending());
    assert_eq!((kept_of_first(), kept_of_last()), (1, 1));
    let clone = handle.clone();
    drop(handle);
    assert_eq!((kept_of_first(), kept_of_last()), (1, 0), "although the task and a clone are still there");
    drop(clone);
}
