//! The executors that the properties put below an answer.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use exercises_harness::{expect, step};

use super::super::exercise::{Executor, Job, Refused};
use super::jobs::Gate;
use crate::probe::Shared;
use crate::sync::{Arc, thread};

/// As every executor here: a panic ends the entry, and not the thread.
fn call(entry: Job) {
    step("the executor calls what it was given");
    drop(catch_unwind(AssertUnwindSafe(entry)));
}

/// What an executor does with an entry.
type Answer = Box<dyn FnOnce(Job) -> Result<(), Refused> + Send>;

/// Keeps entries until the property has them called, and refuses if it is told to.
#[derive(Default)]
pub(super) struct Desk {
    entries: Arc<Shared<VecDeque<Job>>>,
    refuses: Shared<bool>,
    answers: Shared<VecDeque<Answer>>,
}

impl Executor for Arc<Desk> {
    fn execute(&self, job: Job) -> Result<(), Refused> {
        if let Some(answer) = self.answers.with(VecDeque::pop_front) {
            return answer(job);
        }
        if self.refuses.with(|refuses| *refuses) {
            step("the executor refuses");
            return Err(Refused(job));
        }
        step("the executor queues what it was given");
        self.entries.with(|entries| entries.push_back(job));
        Ok(())
    }
}

impl Desk {
    pub(super) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(super) fn refuse(&self, refuses: bool) {
        self.refuses.with(|now| *now = refuses);
    }

    /// When it is asked next, it waits at the gate; then it queues what it was given, or refuses.
    pub(super) fn decide_at(&self, gate: &Arc<Gate>, takes: bool) {
        let (gate, queue) = (Arc::clone(gate), Arc::clone(&self.entries));
        let answer = move |entry| {
            step("the executor takes its time");
            gate.pass();
            if !takes {
                step("the executor refuses");
                return Err(Refused(entry));
            }
            step("the executor queues what it was given");
            queue.with(|entries| entries.push_back(entry));
            Ok(())
        };
        self.answers.with(|answers| answers.push_back(Box::new(answer)));
    }

    /// When it is asked next, it calls what it is given, and waits at the gate before it returns.
    pub(super) fn call_and_stay_at(&self, gate: &Arc<Gate>) {
        let gate = Arc::clone(gate);
        let answer = move |entry| {
            call(entry);
            step("the executor has called what it was given, and has not returned yet");
            gate.pass();
            Ok(())
        };
        self.answers.with(|answers| answers.push_back(Box::new(answer)));
    }

    /// Calls what is here, and what comes meanwhile, on the calling thread.
    pub(super) fn run_all(&self, cause: &str) {
        while let Some(entry) = self.take() {
            expect("what the executor was given", cause, || call(entry));
        }
    }

    /// Calls what came first of what is here, on a thread of its own.
    pub(super) fn run_one_elsewhere(&self) -> Option<thread::JoinHandle<()>> {
        let entry = self.take()?;
        Some(on_a_thread("the executor's thread", Box::new(move || call(entry))))
    }

    fn take(&self) -> Option<Job> {
        self.entries.with(VecDeque::pop_front)
    }
}

/// Starts a thread for each entry.
#[derive(Default)]
pub(super) struct Threads(Shared<Vec<thread::JoinHandle<()>>>);

impl Executor for Arc<Threads> {
    fn execute(&self, job: Job) -> Result<(), Refused> {
        let thread = on_a_thread("a thread of the executor", Box::new(move || call(job)));
        self.0.with(|threads| threads.push(thread));
        Ok(())
    }
}

impl Threads {
    /// Waits for them.
    pub(super) fn join(&self, cause: &str) {
        while let Some(thread) = self.0.with(Vec::pop) {
            expect("the executor's threads", cause, || drop(thread.join()));
        }
    }
}

/// Calls each entry before it returns.
pub(super) struct AtOnce {
    elsewhere: bool,
}

impl AtOnce {
    /// On the thread that submits, or on another one, for which that thread waits.
    pub(super) fn new(elsewhere: bool) -> Arc<Self> {
        Arc::new(Self { elsewhere })
    }
}

impl Executor for Arc<AtOnce> {
    fn execute(&self, job: Job) -> Result<(), Refused> {
        if self.elsewhere {
            let thread = on_a_thread("a thread of the executor", Box::new(move || call(job)));
            drop(thread.join());
        } else {
            call(job);
        }
        Ok(())
    }
}

pub(super) fn on_a_thread(name: &str, work: Box<dyn FnOnce() + Send>) -> thread::JoinHandle<()> {
    thread::Builder::new().name(name.into()).spawn(work).expect("a thread")
}
