//! "Other workers can steal the job" is no guarantee: a thief must be free. In pools of two workers, the two
//! jobs of a pair wait for each other, and a watchdog reports pairs that hang.
//!
//! ```sh
//! cargo run --example no_free_thief
//! ```
//!
//! The book explains this example in the chapter "Work stealing".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod lanes; // a pool whose workers take batches that others can steal
mod pairs; // jobs that wait for each other
mod joins; // halves that wait for each other

use executor::fork_join::{ForkJoinPool, blocking};
use executor::{ThreadPoolExecutor, prelude::*};
use std::mem::ManuallyDrop;
use std::sync::Barrier;

// ANCHOR: main
fn main() {
    for count in [1, 2] {
        println!("pairs: {count}");
        let lanes = lanes::Pool::new(2);
        let met = pairs::pairs(count, |job| lanes.execute(job));
        println!("  lanes that can be stolen from: {}", pairs::watch(&met));

        let pool = ThreadPoolExecutor::fixed(2);
        let met = pairs::pairs(count, |job| pool.execute(job).expect("the pool runs"));
        println!("  ThreadPoolExecutor:            {}", pairs::watch(&met));

        // The example does not drop the pool: dropping the pool would wait for halves that hang.
        let pool = || ManuallyDrop::new(ForkJoinPool::new(2).expect("two are allowed"));
        let met = joins::joins(count, &pool(), |meet: &Barrier| _ = meet.wait());
        println!("  halves of joins:               {}", pairs::watch(&met));

        let met = joins::joins(count, &pool(), |meet: &Barrier| _ = blocking(|| meet.wait()));
        println!("  halves that say they block:    {}", pairs::watch(&met));
    }
}
// ANCHOR_END: main
