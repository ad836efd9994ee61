//! A worker waits for a task, and the worker's owner asks the worker to stop.

use exercises_harness::model::graph::Scenario;

use super::exercise::{Desk, Worker};
use crate::sync::Arc;

pub fn scenario() -> Scenario {
    let desk = Arc::new(Desk::<&str>::new());
    let worker = Worker::new(Arc::clone(&desk));
    Scenario::new().thread("worker", "worker.take()", move || _ = worker.take()).thread(
        "owner",
        "desk.cancel()",
        move || desk.cancel(),
    )
}
