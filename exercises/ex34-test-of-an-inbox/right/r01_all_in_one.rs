//! Right: One scenario tests all promises. Three workers take two jobs each from one inbox. Each worker gets
//! its jobs in rising order, and together the workers get all six jobs.
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
    let inbox = new();
    let mut workers = Vec::new();
    for _ in 0..3 {
        let inbox = Arc::clone(&inbox);
        workers.push(thread::spawn(move || [inbox.take(), inbox.take()]));
    }
    for job in 0..6 {
        inbox.put(job);
    }
    let mut seen = [false; 6];
    for worker in workers {
        let [first, second] = worker.join().expect("take() does not panic");
        assert!(first < second, "{first} came before {second}");
        for job in [first, second] {
            assert!(!std::mem::replace(&mut seen[job as usize], true), "job {job} came twice");
        }
    }
    assert_eq!(seen, [true; 6]);
}
