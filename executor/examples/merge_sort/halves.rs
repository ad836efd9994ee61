//! Sorts both halves of a list, each half in a task of the pool.

use executor::{FutureTask, TaskHandle, ThreadPoolExecutor, prelude::*};
use std::sync::Arc;

pub type Pool = Arc<ThreadPoolExecutor>;

// ANCHOR: submit
/// Submits two tasks, each of which sorts a half.
pub fn submit<T: Send + 'static>(
    pool: &Pool,
    mut numbers: Vec<u32>,
    sort: fn(&Pool, Vec<u32>) -> T,
) -> [TaskHandle<T>; 2] {
    let right = numbers.split_off(numbers.len() / 2);
    [("left", numbers), ("right", right)].map(|(name, half)| {
        let own = Arc::clone(pool);
        let task = FutureTask::new(move || sort(&own, half)).named(name);
        pool.submit(task).expect("the pool accepts tasks")
    })
}
// ANCHOR_END: submit

/// Sorts all numbers in a task of the pool.
pub fn whole<T: Send + 'static>(
    pool: &Pool,
    numbers: Vec<u32>,
    sort: fn(&Pool, Vec<u32>) -> T,
) -> TaskHandle<T> {
    let own = Arc::clone(pool);
    let task = FutureTask::new(move || sort(&own, numbers)).named("sort");
    pool.submit(task).expect("the pool accepts tasks")
}
