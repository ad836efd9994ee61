//! Wrong: a lock lets one caller in at a time, from the permit to the end of the hand-over, so that jobs stay in order. But what
//! the inner executor does in that time may be to run the job.
//! The learner sees: a job that executes another one waits for a lock that its own thread holds.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task};

use crate::sync::{Arc, Mutex};

/// Hands jobs to another executor, and never more than `bound` that are not done, running or queued there.
pub struct BoundedExecutor<E> {
    inner: E,
    room: Arc<Semaphore>,
    turn: Mutex<()>,
}

/// A permit that travels with its job. However the job ends (it returns, it panics, it is dropped unrun), its captured
/// values are dropped, and the permit with them.
struct Place(Arc<Semaphore>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.release(1);
    }
}

impl<E: Executor> BoundedExecutor<E> {
    /// Lets in `bound` jobs at a time.
    pub fn new(inner: E, bound: usize) -> Self {
        Self { inner, room: Arc::new(Semaphore::new(bound)), turn: Mutex::new(()) }
    }

    /// Waits until there is room, then hands the job to the inner executor.
    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        let _turn = self.turn.lock().unwrap();
        let Ok(permit) = self.room.acquire() else {
            return Err(RejectedExecution { reason: RejectReason::Interrupted, task: Task::new(job) });
        };
        permit.forget();
        let place = Place(Arc::clone(&self.room));
        self.inner.execute(move || {
            let _place = place; // taken along, and dropped after the job
            job();
        })
    }
}
