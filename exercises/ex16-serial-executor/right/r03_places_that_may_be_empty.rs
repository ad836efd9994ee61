//! Right: a refused job leaves its place in the line, empty.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// What is to be done. It may panic.
pub type Job = Box<dyn FnOnce() + Send>;

/// The executor did not take the job. Here it is, and it was not called.
pub struct Refused(pub Job);

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job or refuses it. A job that it takes is called once: some time later, or before `execute` returns; on a
    /// thread of the executor, or on the one that calls `execute`. A panic of the job ends there.
    fn execute(&self, job: Job) -> Result<(), Refused>;
}

// ----- Yours. -----

/// Runs jobs one at a time and in the order of their submission, where the executor below calls them.
pub struct SerialExecutor<E> {
    below: E,
    line: Arc<Line>,
}

/// A job's place in the line. It is empty when the job has begun, or was taken back.
type Place = Arc<Mutex<Option<Job>>>;

#[derive(Default)]
struct Line {
    places: Mutex<(VecDeque<Place>, bool)>,
}

impl<E: Executor + 'static> SerialExecutor<E> {
    /// Makes an empty line of jobs over an executor.
    pub fn new(below: E) -> Self {
        Self { below, line: Arc::default() }
    }
}

impl<E: Executor + 'static> Executor for SerialExecutor<E> {
    /// Puts the job at the end of the line, and returns without waiting for any job. It refuses the job if the executor below
    /// has refused what it was given for it.
    fn execute(&self, job: Job) -> Result<(), Refused> {
        let place = Place::new(Mutex::new(Some(job)));
        self.line.places.lock().unwrap().0.push_back(Arc::clone(&place));
        let line = Arc::clone(&self.line);
        match self.below.execute(Box::new(move || line.run())) {
            Ok(()) => Ok(()),
            Err(_) => match place.lock().unwrap().take() {
                Some(job) => Err(Refused(job)), // its place goes when the next entry comes to it
                None => Ok(()),
            },
        }
    }
}

impl Line {
    fn run(&self) {
        if mem::replace(&mut self.places.lock().unwrap().1, true) {
            return;
        }
        while let Some(place) = self.next() {
            let job = place.lock().unwrap().take();
            if let Some(job) = job {
                drop(catch_unwind(AssertUnwindSafe(job)));
            }
        }
    }

    fn next(&self) -> Option<Place> {
        let mut line = self.places.lock().unwrap();
        let next = line.0.pop_front();
        line.1 = next.is_some();
        next
    }
}
