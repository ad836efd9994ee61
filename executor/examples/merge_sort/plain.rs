//! Each task submits a task for each of its halves, and joins both tasks. On a pool with few threads the
//! tasks starve.

use super::halves::{Pool, submit, whole};
use super::input::{input, verdict};
use super::merge::{THRESHOLD, merge};
use executor::{JoinError, Starvation, TaskHandle, ThreadPoolExecutor};
use std::{error::Error, sync::Arc};

type Sorted = Result<Vec<u32>, Starvation>;

// ANCHOR: sort
fn sort(pool: &Pool, mut numbers: Vec<u32>) -> Sorted {
    if numbers.len() <= THRESHOLD {
        numbers.sort_unstable();
        return Ok(numbers);
    }
    let [left, right] = submit(pool, numbers, sort);
    Ok(merge(&wait_for(left)?, &wait_for(right)?))
}
// ANCHOR_END: sort

fn wait_for(half: TaskHandle<Sorted>) -> Sorted {
    match half.join() {
        Err(JoinError::Starved(_half, report)) => Err(report),
        other => other.expect("no half panics, and none is cancelled before its parent ends"),
    }
}

// ANCHOR: show
pub fn show() -> Result<(), Box<dyn Error>> {
    for threads in [1, 8, 32] {
        let pool = Arc::new(ThreadPoolExecutor::builder().name("sorter").threads(threads).build()?);
        match whole(&pool, input(), sort).join()? {
            Ok(result) => println!("threads: {threads:2}  {}", verdict(&result)),
            Err(report) if threads == 1 => println!("threads:  1  {report:#}"),
            Err(_) => println!("threads: {threads:2}  starvation deadlock"), // the reported circle varies
        }
    }
    Ok(())
}
// ANCHOR_END: show
