//! Implements the executor trait of this exercise for the harness's executors.

use super::super::exercise::{Executor, Job, Refused};
use crate::below::{AtOnce, Desk, Threads};
use crate::sync::Arc;

impl Executor for Arc<Desk> {
    fn execute(&self, job: Job) -> Result<(), Refused> {
        self.submit(job).map_err(Refused)
    }
}

impl Executor for Arc<Threads> {
    fn execute(&self, job: Job) -> Result<(), Refused> {
        self.submit(job).map_err(Refused)
    }
}

impl Executor for Arc<AtOnce> {
    fn execute(&self, job: Job) -> Result<(), Refused> {
        self.submit(job).map_err(Refused)
    }
}
