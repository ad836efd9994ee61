//! Right: One scenario for all. Three workers take two jobs each from one inbox; each sees its jobs in rising
//! order, and together they have all six.
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
