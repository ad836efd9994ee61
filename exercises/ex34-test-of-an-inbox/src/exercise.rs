//! A test of an inbox that must not lose a job. The test passes with each correct inbox, and fails with an
//! inbox that forgets a worker.
//!
//! This file is the only file to edit. `cargo test -p ex34-test-of-an-inbox` checks it.
#![allow(unused)]

use crate::sync::{Arc, thread};

/// The inbox of exercise 10: submitters leave jobs in the inbox, and workers take the jobs. Each job is a
/// number.
pub trait Inbox: Send + Sync {
    /// Leaves a job in the inbox. Waits only for a lock.
    fn put(&self, job: u32);

    /// Takes the oldest job. Sleeps while the inbox is empty.
    fn take(&self) -> u32;
}

/// Tests the inboxes that `new` makes. Each call of `new` makes an empty inbox of the same kind. If the
/// inboxes keep all their promises, this function returns. If an inbox breaks a promise, this function panics
/// or never returns on at least one schedule.
pub fn no_job_lies_beside_a_sleeping_worker(new: fn() -> Arc<dyn Inbox>) {
    todo!("start workers, put jobs, join the workers, and look at what they took")
}
