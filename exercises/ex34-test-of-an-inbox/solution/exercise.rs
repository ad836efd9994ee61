//! A test of an inbox that must not lose a job. The test passes with each correct inbox, and fails with an
//! inbox that forgets a worker.
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
    oldest_first(new);
    each_worker_gets_a_job(new);
    a_woken_worker_changes_no_order(new);
}

/// Checks on one thread that the jobs come out in the order in which they were put.
fn oldest_first(new: fn() -> Arc<dyn Inbox>) {
    let inbox = new();
    (1..=3).for_each(|job| inbox.put(job));
    let taken = [(); 3].map(|()| inbox.take());
    assert_eq!(taken, [1, 2, 3], "the oldest job comes first");
}

/// Three workers take one job each, and three jobs are put. On some schedules all workers sleep before the
/// first job comes.
fn each_worker_gets_a_job(new: fn() -> Arc<dyn Inbox>) {
    let inbox = new();
    let workers = [(); 3].map(|()| {
        let inbox = Arc::clone(&inbox);
        thread::spawn(move || inbox.take())
    });
    (1..=3).for_each(|job| inbox.put(job));
    let mut taken = workers.map(|worker| worker.join().unwrap());
    taken.sort(); // which worker gets which job is not promised
    assert_eq!(taken, [1, 2, 3], "each job is taken once");
}

/// Checks that one worker gets two jobs in the order in which they were put, while another worker is woken
/// for a job.
fn a_woken_worker_changes_no_order(new: fn() -> Arc<dyn Inbox>) {
    let inbox = new();
    let [sleeper, other] = [1, 2].map(|jobs| {
        let inbox = Arc::clone(&inbox);
        thread::spawn(move || (0..jobs).map(|_| inbox.take()).collect::<Vec<_>>())
    });
    (1..=3).for_each(|job| inbox.put(job));
    sleeper.join().unwrap();
    let taken = other.join().unwrap();
    assert!(taken.is_sorted(), "one worker took {taken:?}");
}
