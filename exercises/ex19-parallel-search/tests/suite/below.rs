//! Implements the executor trait of this exercise for the harness's executors.

use exercises_harness::{expect, step};

use super::super::exercise::{Executor, Job, Refused};
use super::BELOW_RUNS;
use crate::below::{AtOnce, Desk, Threads};
use crate::probe::Counter;
use crate::sync::Arc;

type Submit = Box<dyn Fn(Job) -> Result<(), Job> + Send + Sync>;

/// The executor that a solver gets.
pub(super) struct Below {
    submit: Submit,
    /// True if every job with an even number is refused.
    refuses_some: bool,
    /// The number of jobs that the executor was given.
    given: Counter,
    /// The number of jobs that the executor has taken or refused.
    decided: Counter,
}

impl Below {
    fn over(submit: Submit) -> Arc<Self> {
        Arc::new(Self {
            submit,
            refuses_some: false,
            given: Counter::new("nothing"),
            decided: Counter::new("the inner executor to be given something"),
        })
    }

    /// Makes an executor that keeps its jobs until the property calls them.
    pub(super) fn desk() -> (Arc<Desk>, Arc<Self>) {
        let desk = Desk::new();
        let same = Arc::clone(&desk);
        (desk, Self::over(Box::new(move |job| same.submit(job))))
    }

    /// Makes an executor that refuses every job.
    pub(super) fn refusing() -> Arc<Self> {
        let (desk, below) = Self::desk();
        desk.refuse(true);
        below
    }

    /// Makes an executor that calls each job before `execute` returns: on the thread that submits, or on
    /// another thread.
    pub(super) fn at_once(elsewhere: bool) -> Arc<Self> {
        let at_once = AtOnce::new(elsewhere);
        Self::over(Box::new(move |job| at_once.submit(job)))
    }

    /// Makes an executor with a thread for each job.
    pub(super) fn threads() -> (Arc<Threads>, Arc<Self>) {
        let threads = Arc::new(Threads::default());
        let same = Arc::clone(&threads);
        (threads, Self::over(Box::new(move |job| same.submit(job))))
    }

    /// Makes an executor that has a thread for each job, and refuses every second job.
    pub(super) fn threads_for_some() -> (Arc<Threads>, Arc<Self>) {
        let (threads, below) = Self::threads();
        let below = Arc::into_inner(below).expect("it is new");
        (threads, Arc::new(Self { refuses_some: true, ..below }))
    }

    /// The number of jobs that the executor was given.
    pub(super) fn given(&self) -> usize {
        self.given.get()
    }

    /// Waits until the executor has taken a job.
    pub(super) fn until_given(&self) {
        expect("waiting for a job", BELOW_RUNS, || self.decided.wait_for(1));
    }
}

impl Executor for Below {
    fn execute(&self, job: Job) -> Result<(), Refused> {
        let number = self.given.add();
        let result = if self.refuses_some && number.is_multiple_of(2) {
            step("the executor refuses");
            Err(job)
        } else {
            (self.submit)(job)
        };
        self.decided.add();
        result.map_err(Refused)
    }
}
