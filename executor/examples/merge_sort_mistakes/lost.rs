//! The base case sorts the whole array while another task merges its own part. The task that merges does not
//! hold the lock while it merges. The example uses latches to force this order of events.

use executor::{Latch, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::Mutex;

// ANCHOR: show
pub fn show() -> Result<(), Box<dyn Error>> {
    let array = Mutex::new([4, 3, 2, 1]);
    let (copied, sorted) = (Latch::new(1), Latch::new(1));
    ThreadPoolExecutor::fixed(2).scope(|scope| {
        scope.spawn(|| {
            let mut part = array.lock().unwrap()[0..2].to_vec(); // the left half, to be merged
            copied.count_down();
            part.reverse(); // its merge: 3 before 4
            sorted.wait().expect("it is not cancelled");
            array.lock().unwrap()[0..2].copy_from_slice(&part);
        })?;
        scope.spawn(|| {
            copied.wait().expect("it is not cancelled");
            array.lock().unwrap().sort_unstable(); // the base case of the right half
            println!("after the base case: {:?}", array.lock().unwrap());
            sorted.count_down();
        })
    })??;
    println!("after the merge:     {:?}", array.lock().unwrap());
    Ok(())
}
// ANCHOR_END: show
