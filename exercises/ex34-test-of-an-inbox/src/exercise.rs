//! A test of an inbox that must lose no job: it lets each right inbox pass, and none that forgets a worker.
//!
//! This is the only file to edit. `cargo test -p ex34-test-of-an-inbox` checks it.
#![allow(unused)]

use crate::sync::{Arc, thread};

/// An inbox, as exercise 10 has it: submitters leave jobs, workers take them. Each job is a number.
pub trait Inbox: Send + Sync {
    /// Leaves a job. Waits for nothing but a lock.
    fn put(&self, job: u32);

    /// Takes the oldest job. Sleeps while there is none.
    fn take(&self) -> u32;
}

/// The test. `new` makes an empty inbox, each time of the same kind. The test comes back if such an inbox
/// keeps its promises. If not, it panics or never comes back, on one schedule or another.
pub fn no_job_lies_beside_a_sleeping_worker(new: fn() -> Arc<dyn Inbox>) {
    todo!("start workers, put jobs, join the workers, and look at what they took")
}
