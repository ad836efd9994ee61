//! Right: jobs are numbered as they come. A worker without a job draws the next number and waits for that job, on
//! a Condvar on which no other worker waits.
#![allow(unused)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

type Job = Box<dyn FnOnce() + Send>;

struct Counter {
    /// By number. Only numbers below `arrived` are here, each until its worker has fetched it.
    jobs: BTreeMap<u64, Job>,
    /// The number that the next job gets.
    arrived: u64,
    /// The number that the next worker draws.
    drawn: u64,
    closed: bool,
}

struct Shared {
    counter: Mutex<Counter>,
    /// Those who wait hold the numbers from `arrived` to `drawn`: no more than there are workers, so no two share a seat.
    seats: Vec<Condvar>,
}

impl Shared {
    fn seat(&self, number: u64) -> &Condvar {
        &self.seats[(number % self.seats.len() as u64) as usize]
    }

    /// Draws a number and waits for its job. None if it will not come.
    fn next(&self) -> Option<Job> {
        let mut counter = self.counter.lock().unwrap();
        let number = counter.drawn;
        counter.drawn += 1;
        loop {
            if let Some(job) = counter.jobs.remove(&number) {
                return Some(job);
            }
            if counter.closed {
                return None; // every number below `arrived` is with its worker or still to be drawn
            }
            counter = self.seat(number).wait(counter).unwrap();
        }
    }
}

pub struct WorkerPool {
    shared: Arc<Shared>,
    handles: Vec<thread::JoinHandle<()>>,
}

impl WorkerPool {
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared {
            counter: Mutex::new(Counter { jobs: BTreeMap::new(), arrived: 0, drawn: 0, closed: false }),
            seats: (0..threads.max(1)).map(|_| Condvar::new()).collect(),
        });
        let handles = (0..threads)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    while let Some(job) = shared.next() {
                        let _ = catch_unwind(AssertUnwindSafe(job));
                    }
                })
            })
            .collect();
        WorkerPool { shared, handles }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        let job: Job = Box::new(job);
        let mut counter = self.shared.counter.lock().unwrap();
        let number = counter.arrived;
        counter.arrived += 1;
        counter.jobs.insert(number, job);
        if number < counter.drawn {
            self.shared.seat(number).notify_one();
        }
    }

    pub fn shutdown(self) {
        self.shared.counter.lock().unwrap().closed = true;
        for seat in &self.shared.seats {
            seat.notify_all();
        }
        for handle in self.handles {
            let _ = handle.join();
        }
    }
}
