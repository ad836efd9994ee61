//! Two submitters use a serial executor, which gives its jobs to another executor. The other executor refuses
//! each job.

use exercises_harness::model::graph::Scenario;
use exercises_harness::step;

use super::exercise::{Executor, Job, Refused, SerialExecutor};
use crate::sync::Arc;

struct Full;

impl Executor for Full {
    fn execute(&self, entry: Job) -> Result<(), Refused> {
        Err(Refused(entry))
    }
}

pub fn scenario() -> Scenario {
    let line = Arc::new(SerialExecutor::new(Full));
    let submit = |job: &'static str| {
        let line = Arc::clone(&line);
        move || {
            if let Err(Refused(job)) = line.execute(Box::new(move || step(job))) {
                job();
            }
        }
    };
    let runs = |job: &str| format!("if let Err(Refused(job)) = serial.execute(job {job}) {{ job() }}");
    Scenario::new()
        .thread("submitter a", &runs("a"), submit("runs job a"))
        .thread("submitter b", &runs("b"), submit("runs job b"))
        .promise("runs job a", "job a was taken and has not run")
        .promise("runs job b", "job b was taken and has not run")
}
