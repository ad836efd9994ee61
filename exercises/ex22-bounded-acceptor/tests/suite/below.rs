//! The executors of the tests: the harness's executors, and an executor that drops the jobs it has taken.

use super::super::exercise::{Executor, Job, Refused};
use crate::below::{AtOnce, Desk};
use crate::probe::{Counter, Shared};
use crate::sync::Arc;

impl Executor for Arc<AtOnce> {
    fn execute(&self, job: Job) -> Result<(), Refused> {
        self.submit(job).map_err(Refused)
    }
}

/// An executor that counts the jobs that it takes and the jobs that it refuses.
pub struct Counted {
    pub desk: Arc<Desk>,
    pub given: Counter,
}

impl Counted {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            desk: Desk::new(),
            given: Counter::new("the accept loop to hand a client to the executor"),
        })
    }
}

impl Executor for Arc<Counted> {
    fn execute(&self, job: Job) -> Result<(), Refused> {
        let answer = self.desk.submit(job).map_err(Refused);
        self.given.add();
        answer
    }
}

/// An executor that takes jobs and never calls them, like a pool that has ended.
pub struct Dropping {
    jobs: Shared<Vec<Job>>,
    pub taken: Counter,
}

impl Dropping {
    pub fn new() -> Arc<Self> {
        let taken = Counter::new("the accept loop to hand a client to the executor");
        Arc::new(Self { jobs: Shared::default(), taken })
    }

    pub fn drop_all(&self) {
        exercises_harness::step("the executor drops the jobs that it has taken, and calls none of them");
        drop(self.jobs.with(std::mem::take));
    }
}

impl Executor for Arc<Dropping> {
    fn execute(&self, job: Job) -> Result<(), Refused> {
        self.jobs.with(|jobs| jobs.push(job));
        self.taken.add();
        Ok(())
    }
}
