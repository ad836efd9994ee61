//! Two pages wait, and each of two workers takes one of these pages.

use exercises_harness::model::graph::Scenario;
use exercises_harness::step;

use super::exercise::Queue;
use crate::sync::Arc;

pub fn scenario() -> Scenario {
    let queue = Arc::new(Queue::new(&[1, 2], 10, 3));
    let take = || {
        let queue = Arc::clone(&queue);
        move || {
            if let Some(lease) = queue.take(0) {
                step(&format!("has page {}", lease.page));
            }
        }
    };
    Scenario::new()
        .thread("worker a", "queue.take(now)", take())
        .thread("worker b", "queue.take(now)", take())
        .promise("has page 2", "page 2 waits no more, and no worker has it")
}
