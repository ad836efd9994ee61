//! Right: when the first wait times out, one sweep cancels all that is left, and a second one collects, with waits of 0.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, JoinTimeoutError, RejectedSubmission, TaskError, TaskHandle};

/// Milliseconds: a moment on the clock, or the time from one to another.
pub type Millis = u64;

/// What time it is, and waiting until it is later. The tests bring their own clock: its time goes on only while somebody
/// waits on it.
pub trait Clock {
    /// The time now.
    fn now(&self) -> Millis;

    /// `TaskHandle::join_timeout` on this clock: waits for the task, for `at_most` at most. A result that is there
    /// already is returned even if `at_most` is 0.
    fn join<T: Send + 'static>(
        &self,
        handle: TaskHandle<T>,
        at_most: Millis,
    ) -> Result<T, JoinTimeoutError<T>>;
}

/// What one task does.
pub type Job<T> = Box<dyn FnOnce() -> T + Send>;

enum Slot<T> {
    Submitted(TaskHandle<T>),
    Settled(Result<T, TaskError>),
}

use Slot::{Settled, Submitted};

impl<T: Send + 'static> Slot<T> {
    fn cancel(&self) {
        if let Submitted(handle) = self {
            handle.cancel();
        }
    }

    /// Waits. False if the time was up first.
    fn settle(&mut self, clock: &impl Clock, deadline: Millis) -> bool {
        let handle = match std::mem::replace(self, Settled(Err(TaskError::Cancelled))) {
            Submitted(handle) => handle,
            settled => {
                *self = settled;
                return true;
            }
        };
        let (slot, settled) = match clock.join(handle, deadline.saturating_sub(clock.now())) {
            Ok(value) => (Settled(Ok(value)), true),
            Err(JoinTimeoutError::Panicked(panic)) => (Settled(Err(TaskError::Panicked(panic))), true),
            Err(JoinTimeoutError::TimedOut(handle) | JoinTimeoutError::Interrupted(handle)) => {
                (Submitted(handle), false)
            }
            Err(_) => (Settled(Err(TaskError::Cancelled)), true),
        };
        *self = slot;
        settled
    }
}

/// Has all jobs run and returns what came of each, in the order of the jobs, `timeout` after the call at the latest.
///
/// What has not ended by then is cancelled, and what was not submitted by then never is: `Err(TaskError::Cancelled)`. If
/// the executor refuses a job, those submitted before it are cancelled, and the refusal is returned as it is. If the caller
/// is told to give up while it waits (`JoinTimeoutError::Interrupted`), that ends the wait as the deadline does.
pub fn invoke_all<T: Send + 'static>(
    executor: &impl Executor,
    clock: &impl Clock,
    jobs: Vec<Job<T>>,
    timeout: Millis,
) -> Result<Vec<Result<T, TaskError>>, RejectedSubmission<T>> {
    let deadline = clock.now().saturating_add(timeout);
    let mut slots: Vec<Slot<T>> = Vec::with_capacity(jobs.len());
    for job in jobs {
        if clock.now() >= deadline {
            slots.push(Settled(Err(TaskError::Cancelled)));
        } else {
            match executor.submit(job) {
                Ok(handle) => slots.push(Submitted(handle)),
                Err(refused) => {
                    slots.iter().for_each(Slot::cancel);
                    return Err(refused);
                }
            }
        }
    }
    // Up to the first that is not settled in time.
    if !slots.iter_mut().all(|slot| slot.settle(clock, deadline)) {
        // Those that have ended do not mind.
        slots.iter().for_each(Slot::cancel);
        let now = clock.now();
        for slot in &mut slots {
            slot.settle(clock, now);
        }
    }
    Ok(slots
        .into_iter()
        .map(|slot| match slot {
            Settled(outcome) => outcome,
            Submitted(_) => Err(TaskError::Cancelled),
        })
        .collect())
}
