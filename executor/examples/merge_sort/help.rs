//! While a task waits for its two halves to be sorted, it runs other tasks of the queue.

use super::halves::{Pool, submit, whole};
use super::input::{input, verdict};
use super::merge::{THRESHOLD, merge};
use super::on_top::{self, OnTop};
use executor::{FifoQueue, LifoQueue, TaskHandle, ThreadPoolBuilder, ThreadPoolExecutor};
use std::{error::Error, sync::Arc};

// ANCHOR: sort
fn sort(pool: &Pool, mut numbers: Vec<u32>) -> Vec<u32> {
    let _on_top = OnTop::begin(); // counts the depth
    if numbers.len() <= THRESHOLD {
        numbers.sort_unstable();
        return numbers;
    }
    let [left, right] = submit(pool, numbers, sort).map(|half| wait_for(pool, half));
    merge(&left, &right)
}

fn wait_for(pool: &Pool, half: TaskHandle<Vec<u32>>) -> Vec<u32> {
    while !half.is_finished() && pool.help() {}
    half.join().expect("no half panics, and none is cancelled")
}
// ANCHOR_END: sort

fn sort_on(name: &str, builder: ThreadPoolBuilder) -> Result<(), Box<dyn Error>> {
    let pool = Arc::new(builder.name("sorter").build()?);
    println!("{name}: {}", verdict(&whole(&pool, input(), sort).join()?));
    println!("  waits that starved: {}", pool.stats().starved);
    Ok(())
}

// ANCHOR: show
pub fn show() -> Result<(), Box<dyn Error>> {
    let builder = ThreadPoolExecutor::builder;
    sort_on("FIFO, 1 thread", builder().queue(FifoQueue::unbounded()))?;
    println!("  tasks on one stack: {}", on_top::most());
    sort_on("LIFO, 1 thread", builder().queue(LifoQueue::unbounded()))?;
    println!("  tasks on one stack: {}", on_top::most());
    sort_on("LIFO, 2 threads", builder().queue(LifoQueue::unbounded()).threads(2))
}
// ANCHOR_END: show
