//! The executors that properties put below an answer that runs its jobs on another one. Compiled twice, like
//! `probe.rs`.
//!
//! An exercise has an executor trait of its own, so its suite implements that trait for these executors: each
//! takes a job, or gives it back.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::probe::{Counter, Shared};
use super::sync::{Arc, thread};
use crate::recorder::{expect, step};

/// What an answer gives to the executor below it.
pub type Job = Box<dyn FnOnce() + Send>;

/// A gate at which one party waits until another opens it.
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

    /// Waits until a thread has come to the gate.
    pub fn until_reached(&self, cause: &str) {
        expect("waiting for a job to begin", cause, || self.reached.wait_for(1));
    }

    /// Lets through the threads that wait and all that come later.
    pub fn open(&self) {
        step("opens the gate");
        self.open.add();
    }
}

/// Calls an entry as every executor here does: a panic ends the entry, and not the thread.
fn call(entry: Job) {
    step("the executor calls what it was given");
    drop(catch_unwind(AssertUnwindSafe(entry)));
}

/// What an executor does with an entry.
type Answer = Box<dyn FnOnce(Job) -> Result<(), Job> + Send>;

/// Keeps entries until the property has them called, and refuses if it is told to.
#[derive(Default)]
pub struct Desk {
    entries: Arc<Shared<VecDeque<Job>>>,
    refuses: Shared<bool>,
    answers: Shared<VecDeque<Answer>>,
}

impl Desk {
    /// Makes a desk that queues.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Does what the desk was told to do next, or queues the job, or refuses and gives it back.
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

    /// Says whether the desk refuses from now on.
    pub fn refuse(&self, refuses: bool) {
        self.refuses.with(|now| *now = refuses);
    }

    /// Makes the next `submit` wait at the gate; then it queues what it was given, or refuses.
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

    /// Makes the next `submit` call what it is given, and wait at the gate before it returns.
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

    /// Calls all entries, and those that come meanwhile, on the calling thread.
    pub fn run_all(&self, cause: &str) {
        while let Some(entry) = self.take() {
            expect("what the executor was given", cause, || call(entry));
        }
    }

    /// Calls the oldest entry on a thread of its own.
    pub fn run_one_elsewhere(&self) -> Option<thread::JoinHandle<()>> {
        let entry = self.take()?;
        Some(on_a_thread("the executor's thread", Box::new(move || call(entry))))
    }

    fn take(&self) -> Option<Job> {
        self.entries.with(VecDeque::pop_front)
    }
}

/// Starts a thread for each entry.
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

/// Calls each entry before it returns.
pub struct AtOnce {
    elsewhere: bool,
    inside: Counter,
}

impl AtOnce {
    /// Makes an executor that calls on the submitting thread, or (`elsewhere`) on another one, for which the
    /// submitting thread waits.
    pub fn new(elsewhere: bool) -> Arc<Self> {
        Arc::new(Self { elsewhere, inside: Counter::new("nothing") })
    }

    /// How many calls of entries have not returned.
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

/// Starts a named thread that does the work.
pub fn on_a_thread(name: &str, work: Box<dyn FnOnce() + Send>) -> thread::JoinHandle<()> {
    thread::Builder::new().name(name.into()).spawn(work).expect("a thread")
}
