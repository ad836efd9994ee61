//! Shows joins whose halves wait for each other.

use executor::fork_join::{ForkJoinPool, join};
use executor::prelude::*;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Barrier};

// ANCHOR: joins
/// Runs `count` joins at the same time, each on a different worker. The two halves of each join wait for each
/// other: each half calls `wait`.
pub fn joins(count: usize, pool: &ForkJoinPool, wait: fn(&Barrier)) -> Receiver<()> {
    let (tell_met, all_met) = mpsc::channel();
    let all_begun = Arc::new(Barrier::new(count));
    for _ in 0..count {
        let (all_begun, tell_met) = (Arc::clone(&all_begun), tell_met.clone());
        let computation = move || {
            all_begun.wait(); // otherwise the second worker would steal before it begins its own join
            let meet = Barrier::new(2);
            let half = || {
                wait(&meet);
                let _ = tell_met.send(()); // fails when the watchdog has given up
            };
            join(half, half);
        };
        pool.execute(computation).expect("the pool runs");
    }
    all_met
}
// ANCHOR_END: joins
