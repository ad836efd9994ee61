//! The two tasks that sort the halves share one list. If a join fails, the task ignores the failure: it
//! merges the list even if the halves are not sorted.

use super::input::{input, verdict};
use super::merge::{THRESHOLD, merge};
use executor::{ThreadPoolExecutor, prelude::*};
use std::{error::Error, ops::Range, sync::Arc, sync::Mutex};

#[derive(Clone)]
struct Shared {
    pool: Arc<ThreadPoolExecutor>,
    numbers: Arc<Mutex<Vec<u32>>>,
}

// ANCHOR: sort
fn sort(shared: &Shared, part: Range<usize>) {
    if part.len() <= THRESHOLD {
        return shared.numbers.lock().unwrap()[part].sort_unstable();
    }
    let middle = part.start + part.len() / 2;
    let halves = [part.start..middle, middle..part.end].map(|half| {
        let own = shared.clone();
        shared.pool.submit(move || sort(&own, half)).expect("the pool accepts tasks")
    });
    for half in halves {
        let _ = half.join(); // catch (Exception e) {}
    }
    let mut numbers = shared.numbers.lock().unwrap();
    let merged = merge(&numbers[part.start..middle], &numbers[middle..part.end]);
    numbers[part].copy_from_slice(&merged);
}
// ANCHOR_END: sort

pub fn show() -> Result<(), Box<dyn Error>> {
    for threads in [1, 32] {
        let pool = Arc::new(ThreadPoolExecutor::builder().name("sorter").threads(threads).build()?);
        let shared = Shared { pool, numbers: Arc::new(Mutex::new(input())) };
        let own = shared.clone();
        let all = shared.pool.submit(move || {
            sort(&own, 0..input().len());
            let result = own.numbers.lock().unwrap().clone(); // abandoned tasks may sort it later
            (verdict(&result), own.pool.stats().starved)
        });
        let (verdict, starved) = all?.join()?;
        println!("threads: {threads:2}  {verdict}\n  waits that starved: {starved}");
    }
    Ok(())
}
