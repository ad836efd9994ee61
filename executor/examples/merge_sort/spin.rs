//! A task checks again and again whether its two halves are sorted. No worker blocks in a join, so the pool
//! reports no starvation.

use super::halves::{Pool, submit, whole};
use super::input::{input, verdict};
use super::merge::{THRESHOLD, merge};
use executor::{CancelToken, ExecutorService, JoinError, TaskHandle, ThreadPoolExecutor};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{error::Error, sync::Arc, time::Duration};

static QUESTIONS: AtomicU64 = AtomicU64::new(0);

// ANCHOR: sort
fn sort(pool: &Pool, mut numbers: Vec<u32>) -> Option<Vec<u32>> {
    if numbers.len() <= THRESHOLD {
        numbers.sort_unstable();
        return Some(numbers);
    }
    let halves = submit(pool, numbers, sort);
    while !halves.iter().all(TaskHandle::is_finished) {
        QUESTIONS.fetch_add(1, Relaxed);
        if CancelToken::current().is_cancelled() {
            return None; // without this line, only the end of the process ends the loop
        }
    }
    let [left, right] = halves.map(|half| half.join().ok().flatten());
    Some(merge(&left?, &right?))
}
// ANCHOR_END: sort

// ANCHOR: show
pub fn show() -> Result<(), Box<dyn Error>> {
    let pool = Arc::new(ThreadPoolExecutor::builder().name("sorter").threads(8).build()?);
    let all = whole(&pool, input(), sort);
    match all.join_timeout(Duration::from_secs(1)) {
        Ok(result) => println!("{}", result.as_deref().map_or("cancelled".into(), verdict)),
        Err(JoinError::TimedOut(all)) => {
            let stats = pool.stats();
            println!("after a second: {} active, {} starved", stats.active, stats.starved);
            println!("more than a million questions: {}", QUESTIONS.load(Relaxed) > 1_000_000);
            drop(pool.shutdown_now()); // cancels the running tasks
            println!("after the cancel: {:?}", all.join()?);
        }
        Err(other) => return Err(other.into()),
    }
    Ok(())
}
// ANCHOR_END: show
