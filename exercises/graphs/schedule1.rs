//! A worker takes a job from an inbox, and a submitter puts a job into the inbox.

use exercises_harness::model::graph::Scenario;

use super::exercise::Inbox;
use crate::sync::Arc;

pub fn scenario() -> Scenario {
    let inbox = Arc::new(Inbox::new());
    let workers = Arc::clone(&inbox);
    Scenario::new().thread("worker", "inbox.take()", move || _ = workers.take()).thread(
        "submitter",
        "inbox.put(job)",
        move || inbox.put("a job"),
    )
}
