//! Right: who comes while an entry is offered waits for a message: it is in the line, or its job comes back.
#![allow(unused)]

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Mutex, mpsc};

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

#[derive(Default)]
struct Line {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// An entry was taken.
    moves: bool,
    /// The entry of this number is offered, by a thread that decides for those that come meanwhile.
    offered: Option<u64>,
    offers: u64,
    waiting: VecDeque<(Job, mpsc::Sender<Option<Job>>)>,
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
        let (offer, verdict) = {
            let mut state = self.line.state.lock().unwrap();
            if state.moves {
                state.jobs.push_back(job);
                return Ok(());
            }
            if state.offered.is_some() {
                let (tell, verdict) = mpsc::channel();
                state.waiting.push_back((job, tell));
                (0, Some(verdict))
            } else {
                state.offers += 1;
                state.offered = Some(state.offers);
                state.jobs.push_back(job);
                (state.offers, None)
            }
        };
        match verdict {
            // Who offers decides for those that came meanwhile: they are in the line, or come back.
            Some(verdict) => verdict.recv().unwrap_or(None).map_or(Ok(()), |job| Err(Refused(job))),
            None => self.offer(offer),
        }
    }
}

impl<E: Executor + 'static> SerialExecutor<E> {
    fn offer(&self, number: u64) -> Result<(), Refused> {
        let line = Arc::clone(&self.line);
        let result = self.below.execute(Box::new(move || line.run(number)));
        if result.is_ok() {
            self.line.is_taken(number);
            return Ok(());
        }
        let mut state = self.line.state.lock().unwrap();
        let own = state.jobs.pop_front().expect("the only one");
        let others = mem::take(&mut state.waiting);
        state.offered = None;
        drop(state);
        for (job, tell) in others {
            let _ = tell.send(Some(job));
        }
        Err(Refused(own))
    }
}

impl Line {
    /// The entry was taken: those that came meanwhile are in the line. It is still offered if it has not begun.
    fn is_taken(&self, number: u64) {
        let mut state = self.state.lock().unwrap();
        if state.offered == Some(number) {
            state.offered = None;
            state.moves = true;
            let waiting = mem::take(&mut state.waiting);
            state.jobs.extend(waiting.into_iter().map(|(job, _)| job)); // who drops the sender says yes
        }
    }

    fn run(&self, number: u64) {
        self.is_taken(number);
        while let Some(job) = self.next() {
            drop(catch_unwind(AssertUnwindSafe(job)));
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock().unwrap();
        let next = state.jobs.pop_front();
        state.moves = next.is_some();
        next
    }
}
