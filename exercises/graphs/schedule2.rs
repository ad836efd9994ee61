//! Each of two workers takes one job, and a submitter puts two jobs.

use exercises_harness::model::graph::Scenario;

use super::exercise::Inbox;
use crate::sync::Arc;

pub fn scenario() -> Scenario {
    let inbox = Arc::new(Inbox::new());
    let take = || {
        let inbox = Arc::clone(&inbox);
        move || _ = inbox.take()
    };
    let scenario = Scenario::new().thread("worker a", "inbox.take()", take());
    let scenario = scenario.thread("worker b", "inbox.take()", take());
    scenario.thread("submitter", "inbox.put(job 1); inbox.put(job 2)", move || {
        inbox.put("job 1");
        inbox.put("job 2");
    })
}
