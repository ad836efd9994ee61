//! Each of two workers offers one half of its work. A worker that has nothing to do steals the half of the
//! other worker.

use exercises_harness::model::graph::Scenario;

use super::exercise::Pool;
use crate::sync::Arc;

pub fn scenario() -> Scenario {
    let pool = Arc::new(Pool::default());
    let join = |half: u32| {
        let pool = Arc::clone(&pool);
        move || pool.join(half)
    };
    Scenario::new().thread("worker 1", "pool.join(1)", join(1)).thread("worker 2", "pool.join(2)", join(2))
}
