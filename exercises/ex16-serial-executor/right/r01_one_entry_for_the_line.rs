//! Right: at any time, the underlying executor has at most one entry, which is a closure that runs the line.
//! While the executor decides about that entry, other submitters wait.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// A closure that is run once. A job may panic.
pub type Job = Box<dyn FnOnce() + Send>;

/// The error that `execute` returns when it refuses a job. The error contains the refused job, which was not
/// called.
pub struct Refused(pub Job);

/// Takes jobs and calls them.
pub trait Executor: Send + Sync {
    /// Takes a job or refuses it. If the executor takes the job, it calls the job once, either later or
    /// before `execute` returns, on a thread of the executor or on the thread that calls `execute`. The
    /// executor catches a panic of the job.
    fn execute(&self, job: Job) -> Result<(), Refused>;
}

// ----- Yours. -----

/// Runs jobs one at a time and in the order of their submission, no matter on which thread the underlying
/// executor calls them.
pub struct SerialExecutor<E> {
    below: E,
    line: Arc<Line>,
}

#[derive(Default)]
struct Line {
    state: Mutex<State>,
    /// Notified when the underlying executor has taken or refused the entry.
    decided: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    entry: Entry,
    /// The number of entries that submitters have offered to the underlying executor so far.
    offers: u64,
}

/// The state of the entry, which is the closure that runs the line. There is at most one entry.
#[derive(Default, PartialEq)]
enum Entry {
    #[default]
    None,
    /// The underlying executor has not decided about the entry with this number.
    Offered(u64),
    Taken,
}

impl<E: Executor + 'static> SerialExecutor<E> {
    /// Makes an empty line of jobs that uses the given executor.
    pub fn new(below: E) -> Self {
        Self { below, line: Arc::default() }
    }
}

impl<E: Executor + 'static> Executor for SerialExecutor<E> {
    /// Puts the job at the end of the line, and returns without waiting for any job. Refuses the job if the
    /// underlying executor has refused the entry for this job.
    fn execute(&self, job: Job) -> Result<(), Refused> {
        let Some(offer) = self.line.join(job) else { return Ok(()) };
        let line = Arc::clone(&self.line);
        match self.below.execute(Box::new(move || line.run())) {
            Ok(()) => {
                self.line.is_taken(offer);
                Ok(())
            }
            Err(_) => Err(Refused(self.line.is_refused())),
        }
    }
}

impl Line {
    /// Puts a job at the end. If no entry runs the line, returns the number of the entry that the caller must
    /// offer.
    fn join(&self, job: Job) -> Option<u64> {
        let mut state = self.state.lock().unwrap();
        while matches!(state.entry, Entry::Offered(_)) {
            state = self.decided.wait(state).unwrap();
        }
        state.jobs.push_back(job);
        if state.entry == Entry::Taken {
            return None;
        }
        state.offers += 1;
        state.entry = Entry::Offered(state.offers);
        Some(state.offers)
    }

    /// Notes that this entry was taken. Perhaps this entry has ended by now, and the next entry has been offered.
    fn is_taken(&self, offer: u64) {
        let mut state = self.state.lock().unwrap();
        if state.entry == Entry::Offered(offer) {
            state.entry = Entry::Taken;
            self.decided.notify_all();
        }
    }

    /// Notes that the entry was refused. No job has joined the line after the entry was offered, so the line
    /// has only this submitter's job.
    fn is_refused(&self) -> Job {
        let mut state = self.state.lock().unwrap();
        state.entry = Entry::None;
        self.decided.notify_all();
        state.jobs.pop_front().expect("the job of the one who offered")
    }

    /// The entry.
    fn run(&self) {
        self.state.lock().unwrap().entry = Entry::Taken;
        self.decided.notify_all();
        while let Some(job) = self.next() {
            drop(catch_unwind(AssertUnwindSafe(job)));
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock().unwrap();
        let next = state.jobs.pop_front();
        if next.is_none() {
            state.entry = Entry::None;
        }
        next
    }
}
