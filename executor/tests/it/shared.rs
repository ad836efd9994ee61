//! Handles for many waiters.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use executor::{CancelToken, FutureTask, SharedJoinError, TaskState, ThreadPoolExecutor, prelude::*};

use crate::support::{SHORT, assert_matches, blocked, on_thread, within_deadline};

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
            "and so does who comes later, any number of times"
        );
        assert!(handle.is_finished());
        drop(runner.result());
    });
}

#[test]
fn it_can_be_made_of_a_finished_handle() {
    let FutureTask { task, handle } = FutureTask::new(|| "text");
    task.run();
    let handle = handle.shared();
    assert!(handle.is_finished());
    assert_eq!(*handle.join().unwrap(), "text");
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
            assert_matches!(waiter.result(), Err(SharedJoinError::Cancelled));
        }
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
