//! Right: The workers run in a scope, and use a channel to send the jobs that they took. If a worker panics,
//! the scope panics, too.
#![allow(unused)]

use crate::sync::mpsc;
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
    for takes in [[1, 1, 1], [1, 2, 0]] {
        let inbox = new();
        let (tells, told) = mpsc::channel();
        thread::scope(|scope| {
            for (worker, takes) in takes.into_iter().enumerate() {
                let (inbox, tells) = (&inbox, tells.clone());
                scope.spawn(move || (0..takes).for_each(|_| tells.send((worker, inbox.take())).unwrap()));
            }
            inbox.put(1);
            inbox.put(2);
            inbox.put(3);
        });
        drop(tells);
        let mut jobs: Vec<(usize, u32)> = told.iter().collect();
        for worker in 0..3 {
            let of_it = jobs.iter().filter(|(who, _)| *who == worker).map(|(_, job)| job);
            assert!(of_it.is_sorted(), "a worker took a newer job first: {jobs:?}");
        }
        jobs.sort_by_key(|(_, job)| *job);
        assert!(jobs.iter().map(|(_, job)| *job).eq(1..=3), "{jobs:?}");
    }
}
