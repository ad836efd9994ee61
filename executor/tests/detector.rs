//! Checks that the library finds a wait that can never end, even in a program without any pool. This test
//! runs in a separate process, because the first worker of a pool makes the library search the waits of all
//! threads.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use executor::{CutShort, Semaphore, ThreadPerTaskExecutor, prelude::*};

#[test]
fn of_two_tasks_without_a_pool_that_each_hold_what_the_other_wants_one_is_told() {
    let both_hold_one = Arc::new(Barrier::new(2));
    let task = |own: &Arc<Semaphore>, other: &Arc<Semaphore>| {
        let (own, other, both_hold_one) = (Arc::clone(own), Arc::clone(other), Arc::clone(&both_hold_one));
        let is_told = move || {
            let _held = own.acquire().unwrap();
            both_hold_one.wait();
            matches!(other.acquire(), Err(CutShort::Starved(_)))
        };
        ThreadPerTaskExecutor::new().submit(is_told).unwrap()
    };
    let (left, right) = (Arc::new(Semaphore::new(1)), Arc::new(Semaphore::new(1)));
    let tasks = [task(&left, &right), task(&right, &left)];
    let told = tasks.map(|task| task.join_timeout(Duration::from_secs(10)).expect("both tasks wait forever"));
    assert_eq!(told.iter().filter(|told| **told).count(), 1);
}
