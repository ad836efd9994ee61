//! Each task borrows its half of the slice; while a thread waits in a join, it runs other tasks of the pool.

use super::input::{input, verdict};
use super::merge::{THRESHOLD, merge};
use executor::fork_join::{ForkJoinPool, join};
use std::error::Error;

// ANCHOR: sort
pub fn sort(numbers: &mut [u32]) {
    if numbers.len() <= THRESHOLD {
        return numbers.sort_unstable();
    }
    let (left, right) = numbers.split_at_mut(numbers.len() / 2);
    join(|| sort(left), || sort(right));
    let merged = merge(left, right);
    numbers.copy_from_slice(&merged);
}
// ANCHOR_END: sort

// ANCHOR: show
pub fn show() -> Result<(), Box<dyn Error>> {
    for threads in [1, 2] {
        let mut numbers = input();
        ForkJoinPool::new(threads)?.invoke(|| sort(&mut numbers))?;
        println!("threads: {threads:2}  {}", verdict(&numbers));
    }
    Ok(())
}
// ANCHOR_END: show
