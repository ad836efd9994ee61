//! Right: the job and execute() share the permit and a flag. Whoever takes the flag down first gives the permit
//! back.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task};

use crate::sync::Arc;
use crate::sync::atomic::{AtomicBool, Ordering};

pub struct BoundedExecutor<E> {
    inner: E,
    semaphore: Arc<Semaphore>,
}

/// A permit that can be given back any number of times. Only the first counts.
struct Place {
    semaphore: Arc<Semaphore>,
    taken: AtomicBool,
}

impl Place {
    fn give_back(&self) {
        if self.taken.swap(false, Ordering::AcqRel) {
            self.semaphore.release(1);
        }
    }
}

/// The task's share in it.
struct Duty(Arc<Place>);

impl Drop for Duty {
    fn drop(&mut self) {
        self.0.give_back();
    }
}

impl<E: Executor> BoundedExecutor<E> {
    pub fn new(inner: E, bound: usize) -> Self {
        BoundedExecutor { inner, semaphore: Arc::new(Semaphore::new(bound)) }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        match self.semaphore.acquire() {
            Ok(permit) => {
                permit.forget();
            }
            Err(_) => {
                return Err(RejectedExecution { reason: RejectReason::Interrupted, task: Task::new(job) });
            }
        }
        let place = Arc::new(Place { semaphore: Arc::clone(&self.semaphore), taken: AtomicBool::new(true) });
        let duty = Duty(Arc::clone(&place));
        self.inner
            .execute(move || {
                let _duty = duty; // until the job has ended, however it ends
                job();
            })
            .inspect_err(|_| place.give_back()) // the task in the error keeps its duty, which has nothing left to do
    }
}
