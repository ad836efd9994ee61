//! Right: the permit lies in an envelope that belongs to the task. The job takes the permit out when it
//! begins, and execute() empties the envelope of a task that was refused.
#![allow(unused)]

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Semaphore, Task};

use crate::sync::{Arc, Mutex};

/// One permit that can be moved to another thread. Dropping this value gives the permit back.
struct OwnedPermit(Arc<Semaphore>);

impl Drop for OwnedPermit {
    fn drop(&mut self) {
        self.0.release(1);
    }
}

/// An envelope, which holds a permit until the permit is taken out.
struct Envelope(Mutex<Option<OwnedPermit>>);

impl Envelope {
    fn open(&self) -> Option<OwnedPermit> {
        self.0.lock().unwrap().take()
    }
}

pub struct BoundedExecutor<E> {
    inner: E,
    semaphore: Arc<Semaphore>,
}

impl<E: Executor> BoundedExecutor<E> {
    pub fn new(inner: E, bound: usize) -> Self {
        BoundedExecutor { inner, semaphore: Arc::new(Semaphore::new(bound)) }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) -> Result<(), RejectedExecution> {
        let permit = match self.semaphore.acquire() {
            Ok(permit) => {
                permit.forget();
                OwnedPermit(Arc::clone(&self.semaphore))
            }
            Err(_) => {
                return Err(RejectedExecution { reason: RejectReason::Interrupted, task: Task::new(job) });
            }
        };
        let envelope = Arc::new(Envelope(Mutex::new(Some(permit))));
        let copy_of_address = Arc::downgrade(&envelope);
        let handed_over = self.inner.execute(move || {
            let _permit = envelope.open(); // `None` if the task was refused and is run all the same
            job();
        });
        if handed_over.is_err() {
            if let Some(envelope) = copy_of_address.upgrade() {
                drop(envelope.open());
            }
        }
        handed_over
    }
}
