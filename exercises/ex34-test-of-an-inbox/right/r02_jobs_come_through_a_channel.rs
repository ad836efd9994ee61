//! Right: The workers run in a scope, and send what they took through a channel. The scope hands on a panic
//! of a worker.
#![allow(unused)]

use crate::sync::mpsc;
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
