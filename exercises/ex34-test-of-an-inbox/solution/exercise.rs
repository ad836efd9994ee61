//! A test of an inbox that must lose no job: it lets each right inbox pass, and none that forgets a worker.
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
    oldest_first(new);
    each_worker_gets_a_job(new);
    a_woken_worker_changes_no_order(new);
}

/// One thread: what goes in comes out, in its order.
fn oldest_first(new: fn() -> Arc<dyn Inbox>) {
    let inbox = new();
    (1..=3).for_each(|job| inbox.put(job));
    let taken = [(); 3].map(|()| inbox.take());
    assert_eq!(taken, [1, 2, 3], "the oldest job comes first");
}

/// Three workers take one job each, and three jobs come: on some schedules while all of the workers sleep.
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

/// One worker sleeps, and is woken by the first job. Another one takes two jobs meanwhile.
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
