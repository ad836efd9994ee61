//! A timer with one thread: the thread waits until a job is due, and then runs the job. The fault of this
//! timer: the thread that waits for the next due job also runs the jobs.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

type Job = Box<dyn FnOnce() + Send>;

pub(crate) struct Timer {
    new: Sender<(Instant, Job)>,
}

impl Timer {
    pub(crate) fn new() -> Self {
        let (new, jobs) = mpsc::channel();
        thread::spawn(move || run(&jobs));
        Self { new }
    }

    /// Plans a job that runs when `delay` has passed. Returns false if the timer's thread has ended.
    pub(crate) fn after(&self, delay: Duration, job: impl FnOnce() + Send + 'static) -> bool {
        self.new.send((Instant::now() + delay, Box::new(job))).is_ok()
    }
}

// ANCHOR: run
fn run(new: &Receiver<(Instant, Job)>) {
    let mut planned = BTreeMap::new();
    for number in 0.. {
        let received = match planned.first_key_value() {
            None => new.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(((at, _), _)) => new.recv_timeout(Instant::saturating_duration_since(at, Instant::now())),
        };
        match received {
            Ok((at, job)) => _ = planned.insert((at, number), job), // the number keeps equal times in order
            Err(RecvTimeoutError::Timeout) => {
                let (_, job): (_, Job) = planned.pop_first().expect("its time has come");
                job(); // on this thread: no other job runs meanwhile, and a panic ends the thread
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
// ANCHOR_END: run
