//! Two submitters use a serial executor, which gives its jobs to another executor. The other executor calls
//! each job at once.

use exercises_harness::model::graph::Scenario;
use exercises_harness::step;

use super::exercise::{Executor, Job, Refused, SerialExecutor};
use crate::sync::Arc;

struct AtOnce;

impl Executor for AtOnce {
    fn execute(&self, entry: Job) -> Result<(), Refused> {
        entry();
        Ok(())
    }
}

pub fn scenario() -> Scenario {
    let line = Arc::new(SerialExecutor::new(AtOnce));
    let submit = |job: &'static str| {
        let line = Arc::clone(&line);
        move || drop(line.execute(Box::new(move || step(job))))
    };
    Scenario::new()
        .thread("submitter a", "serial.execute(job a)", submit("runs job a"))
        .thread("submitter b", "serial.execute(job b)", submit("runs job b"))
        .promise("runs job a", "job a was taken and has not run")
        .promise("runs job b", "job b was taken and has not run")
}
