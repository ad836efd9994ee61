//! Executors for an answer that runs its jobs on another executor. A property gives the answer one of these
//! executors. This file is compiled twice, like `probe.rs`.
//!
//! Each exercise has its own executor trait, and the suite of the exercise implements that trait for these
//! executors. Each executor accepts a job, or returns the job to the caller.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::probe::{Counter, Shared};
use super::sync::{Arc, thread};
use crate::recorder::{expect, step};

/// A job that an answer gives to another executor.
pub type Job = Box<dyn FnOnce() + Send>;

/// A gate at which one thread waits until another thread opens the gate.
#[derive(Debug)]
pub struct Gate {
    reached: Counter,
    open: Counter,
}

impl Gate {
    /// Makes a closed gate.
    pub fn new() -> Arc<Self> {
        let (reached, open) =
            (Counter::new("a thread to come to the gate"), Counter::new("the gate to be opened"));
        Arc::new(Self { reached, open })
    }

    /// Waits until the gate is open.
    pub fn pass(&self) {
        self.reached.add();
        self.open.wait_for(1);
    }

    /// Makes a job that waits until the gate is open.
    pub fn passes(self: &Arc<Self>) -> Job {
        let gate = Arc::clone(self);
        Box::new(move || gate.pass())
    }

    /// Waits until a thread has arrived at the gate.
    pub fn until_reached(&self, cause: &str) {
        expect("waiting for a job to begin", cause, || self.reached.wait_for(1));
    }

    /// Opens the gate: all threads that wait at the gate go on, and later threads do not wait.
    pub fn open(&self) {
        step("opens the gate");
        self.open.add();
    }
}

/// Calls a job; a panic of the job does not end the calling thread. Every executor in this file calls its
/// jobs in this way.
fn call(entry: Job) {
    step("the executor calls what it was given");
    drop(catch_unwind(AssertUnwindSafe(entry)));
}

/// The action of an executor when a job is submitted.
type Answer = Box<dyn FnOnce(Job) -> Result<(), Job> + Send>;

/// An executor that keeps jobs in a queue until the property calls them, and refuses jobs if the property
/// says so.
#[derive(Default)]
pub struct Desk {
    entries: Arc<Shared<VecDeque<Job>>>,
    refuses: Shared<bool>,
    answers: Shared<VecDeque<Answer>>,
}

impl Desk {
    /// Makes a desk that puts all jobs into its queue.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Handles the job as the property has ordered. Without an order, either puts the job into the queue, or
    /// refuses the job and returns it to the caller.
    pub fn submit(&self, job: Job) -> Result<(), Job> {
        if let Some(answer) = self.answers.with(VecDeque::pop_front) {
            return answer(job);
        }
        if self.refuses.with(|refuses| *refuses) {
            step("the executor refuses");
            return Err(job);
        }
        step("the executor queues what it was given");
        self.entries.with(|entries| entries.push_back(job));
        Ok(())
    }

    /// Sets whether the desk refuses all jobs from now on.
    pub fn refuse(&self, refuses: bool) {
        self.refuses.with(|now| *now = refuses);
    }

    /// Makes the next `submit` wait at the gate. After the gate opens, `submit` puts its job into the queue
    /// if `takes` is true, and refuses the job if `takes` is false.
    pub fn decide_at(&self, gate: &Arc<Gate>, takes: bool) {
        let (gate, queue) = (Arc::clone(gate), Arc::clone(&self.entries));
        let answer = move |entry| {
            step("the executor takes its time");
            gate.pass();
            if !takes {
                step("the executor refuses");
                return Err(entry);
            }
            step("the executor queues what it was given");
            queue.with(|entries| entries.push_back(entry));
            Ok(())
        };
        self.answers.with(|answers| answers.push_back(Box::new(answer)));
    }

    /// Makes the next `submit` call its job, and then wait at the gate before `submit` returns.
    pub fn call_and_stay_at(&self, gate: &Arc<Gate>) {
        let gate = Arc::clone(gate);
        let answer = move |entry| {
            call(entry);
            step("the executor has called what it was given, and has not returned yet");
            gate.pass();
            Ok(())
        };
        self.answers.with(|answers| answers.push_back(Box::new(answer)));
    }

    /// Calls all jobs of the queue on the calling thread, including jobs that are submitted meanwhile.
    pub fn run_all(&self, cause: &str) {
        while let Some(entry) = self.take() {
            expect("what the executor was given", cause, || call(entry));
        }
    }

    /// Calls the oldest job of the queue on a new thread.
    pub fn run_one_elsewhere(&self) -> Option<thread::JoinHandle<()>> {
        let entry = self.take()?;
        Some(on_a_thread("the executor's thread", Box::new(move || call(entry))))
    }

    fn take(&self) -> Option<Job> {
        self.entries.with(VecDeque::pop_front)
    }
}

/// An executor that starts a thread for each job.
#[derive(Default)]
pub struct Threads(Shared<Vec<thread::JoinHandle<()>>>);

impl Threads {
    /// Starts a thread for the job.
    pub fn submit(&self, job: Job) -> Result<(), Job> {
        let thread = on_a_thread("a thread of the executor", Box::new(move || call(job)));
        self.0.with(|threads| threads.push(thread));
        Ok(())
    }

    /// Waits for all threads.
    pub fn join(&self, cause: &str) {
        while let Some(thread) = self.0.with(Vec::pop) {
            expect("the executor's threads", cause, || drop(thread.join()));
        }
    }
}

/// An executor that calls each job before `submit` returns.
pub struct AtOnce {
    elsewhere: bool,
    inside: Counter,
}

impl AtOnce {
    /// Makes an executor that calls jobs on the submitting thread. If `elsewhere` is true, another thread
    /// calls the jobs, and the submitting thread waits for that thread.
    pub fn new(elsewhere: bool) -> Arc<Self> {
        Arc::new(Self { elsewhere, inside: Counter::new("nothing") })
    }

    /// Returns the number of jobs that have been called and have not returned.
    pub fn depth(&self) -> usize {
        self.inside.get()
    }

    /// Calls the job.
    pub fn submit(&self, job: Job) -> Result<(), Job> {
        self.inside.add();
        if self.elsewhere {
            let thread = on_a_thread("a thread of the executor", Box::new(move || call(job)));
            drop(thread.join());
        } else {
            call(job);
        }
        self.inside.sub();
        Ok(())
    }
}

/// Starts a named thread that runs the given closure.
pub fn on_a_thread(name: &str, work: Box<dyn FnOnce() + Send>) -> thread::JoinHandle<()> {
    thread::Builder::new().name(name.into()).spawn(work).expect("a thread")
}
