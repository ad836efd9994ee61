//! Implements the executor trait of this exercise for the harness's executors.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use exercises_harness::{expect, fail, step};

use super::super::exercise::{Executor, Job};
use crate::below::{AtOnce, Threads};
use crate::probe::{Counter, Shared, others_come_to_rest};
use crate::sync::Arc;

impl Executor for Threads {
    fn execute(&self, job: Job) {
        drop(self.submit(job));
    }
}

/// An executor that takes every job that it is given.
pub(super) struct Calls(Arc<AtOnce>);

impl Calls {
    /// Makes an executor that calls each job before `execute` returns: on the thread that submits, or on
    /// another thread for which the submitting thread waits.
    pub(super) fn at_once(elsewhere: bool) -> Arc<Self> {
        Arc::new(Self(AtOnce::new(elsewhere)))
    }
}

impl Executor for Calls {
    fn execute(&self, job: Job) {
        drop(self.0.submit(job));
    }
}

/// An executor that keeps jobs until the property calls them.
pub(super) struct Desk {
    jobs: Shared<VecDeque<Job>>,
    given: Counter,
}

impl Desk {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { jobs: Shared::default(), given: Counter::new("the executor to be given a job") })
    }

    /// Waits until the executor was given `jobs` jobs in all.
    pub(super) fn until_given(&self, jobs: usize, cause: &str) {
        if others_come_to_rest() && self.given.get() < jobs {
            let given = self.given.get();
            fail(
                &format!("{jobs} runs are due and all threads wait; the executor was given {given} jobs"),
                cause,
            );
        }
        expect("waiting for the executor to be given a job", cause, || self.given.wait_for(jobs));
    }

    /// Calls the kept jobs on the current thread.
    pub(super) fn call_all(&self, cause: &str) {
        while let Some(job) = self.jobs.with(VecDeque::pop_front) {
            step("the executor calls its jobs");
            expect("what the executor was given", cause, || {
                drop(catch_unwind(AssertUnwindSafe(job)));
            });
        }
    }
}

impl Executor for Desk {
    fn execute(&self, job: Job) {
        step("the executor queues a job");
        self.jobs.with(|jobs| jobs.push_back(job));
        self.given.add();
    }
}
