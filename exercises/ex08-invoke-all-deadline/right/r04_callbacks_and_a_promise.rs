//! Right: no handle is joined. Callbacks put the outcomes into their places, and the last callback completes
//! a promise; the caller waits only for this promise.
#![allow(unused)]

use executor::prelude::*;
use executor::{
    Cancelled, Canceller, Executor, JoinError, JoinTimeoutError, Promise, RejectedSubmission, TaskError, TaskHandle,
};

use crate::sync::{Arc, Mutex};

/// Milliseconds: a moment on the clock, or the time from one moment to another.
pub type Millis = u64;

/// Tells the time, and lets a thread wait for a task. The tests have their own clock: its time advances only
/// while a thread waits on it.
pub trait Clock {
    /// Returns the current time.
    fn now(&self) -> Millis;

    /// Waits for the task, but no longer than `at_most` on this clock, like `TaskHandle::join_timeout`. If
    /// the task has ended, its result is returned even if `at_most` is 0.
    fn join<T: Send + 'static>(
        &self,
        handle: TaskHandle<T>,
        at_most: Millis,
    ) -> Result<T, JoinTimeoutError<T>>;
}

/// The closure that one task runs.
pub type Job<T> = Box<dyn FnOnce() -> T + Send>;

/// The place where the outcomes are collected.
struct Board<T> {
    slots: Vec<Option<Result<T, TaskError>>>,
    /// The number of callbacks that are still to come, plus one while the caller is still submitting.
    open: usize,
    complete: Option<Promise<()>>,
}

impl<T> Board<T> {
    /// Subtracts one. The thread that brings the number to zero gets the promise. This thread must release
    /// the lock before it completes the promise.
    fn close_one(&mut self) -> Option<Promise<()>> {
        self.open -= 1;
        if self.open == 0 { self.complete.take() } else { None }
    }
}

fn keep(promise: Option<Promise<()>>) {
    if let Some(promise) = promise {
        let _ = promise.complete(());
    }
}

/// Runs all jobs on the executor and returns the outcome of each, in the order of the jobs. The function
/// returns no later than `timeout` after the call.
///
/// A job that has not ended by the deadline is cancelled, and a job that was not submitted by the deadline is
/// never submitted. In both cases the outcome is `Err(TaskError::Cancelled)`. If the executor refuses a job,
/// the jobs submitted before it are cancelled, and the refusal is returned as it is. If the caller is told to
/// give up while it waits (`JoinTimeoutError::Interrupted`), the function does the same as at the deadline.
pub fn invoke_all<T: Send + 'static>(
    executor: &impl Executor,
    clock: &impl Clock,
    jobs: Vec<Job<T>>,
    timeout: Millis,
) -> Result<Vec<Result<T, TaskError>>, RejectedSubmission<T>> {
    let deadline = clock.now().saturating_add(timeout);
    let (promise, complete) = Promise::new();
    // A job that is never submitted keeps the outcome that is in its slot from the beginning.
    let slots = jobs.iter().map(|_| Some(Err(TaskError::Cancelled(Cancelled)))).collect();
    let board = Arc::new(Mutex::new(Board { slots, open: 1, complete: Some(promise) }));
    let mut cancellers: Vec<Canceller> = Vec::with_capacity(jobs.len());
    let cancel_all = |cancellers: &[Canceller]| {
        for canceller in cancellers {
            canceller.cancel();
        }
    };
    for (at, job) in jobs.into_iter().enumerate() {
        if clock.now() >= deadline {
            break;
        }
        let handle = match executor.submit(job) {
            Ok(handle) => handle,
            Err(refused) => {
                cancel_all(&cancellers);
                return Err(refused);
            }
        };
        cancellers.push(handle.canceller());
        board.lock().unwrap().open += 1;
        let board = Arc::clone(&board);
        handle.on_done(move |outcome| {
            let (before, promise) = {
                let mut board = board.lock().unwrap();
                (board.slots[at].replace(outcome), board.close_one())
            };
            drop(before);
            drop(board); // before the caller goes on, so that the caller drops the outcomes
            keep(promise);
        });
    }
    keep(board.lock().unwrap().close_one());
    match clock.join(complete, deadline.saturating_sub(clock.now())) {
        Err(JoinTimeoutError::TimedOut(complete) | JoinTimeoutError::Interrupted(complete)) => {
            cancel_all(&cancellers);
            // Now every outcome is decided, but the callback of a job that has just ended may not have run
            // yet.
            let mut complete = complete;
            while let Err(JoinError::Interrupted(again)) = executor::masked(|| complete.join()) {
                complete = again;
            }
        }
        _ => {}
    }
    let slots = std::mem::take(&mut board.lock().unwrap().slots);
    Ok(slots.into_iter().map(|slot| slot.expect("no slot is ever emptied")).collect())
}
