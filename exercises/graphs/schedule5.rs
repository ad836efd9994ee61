//! A worker takes jobs until the owner says that there will be no more jobs. The owner puts one job, and then
//! says that there will be no more jobs.

use exercises_harness::model::graph::Scenario;

use super::exercise::Inbox;
use crate::sync::Arc;

pub fn scenario() -> Scenario {
    let inbox = Arc::new(Inbox::new());
    let of_the_worker = Arc::clone(&inbox);
    Scenario::new()
        .thread("worker", "while let Some(job) = inbox.next_job() {}", move || {
            while of_the_worker.next_job().is_some() {}
        })
        .thread("owner", "inbox.put(job); inbox.end()", move || {
            inbox.put("job");
            inbox.end();
        })
}
