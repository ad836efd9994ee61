//! Computes the sum of a slice by halving the slice until the pieces are small enough.

use executor::fork_join::{fork, join};
use executor::{ThreadPoolExecutor, prelude::*};
use std::sync::Arc;

// ANCHOR: sequential
/// Returns the summand for an element: some ten nanoseconds of work.
fn weight(number: u64) -> u64 {
    (0..24).fold(number | 1, |x, _| {
        let x = x ^ (x << 13);
        let x = x ^ (x >> 7);
        x ^ (x << 17)
    }) >> 40
}

#[inline(never)] // all ways run the same code
pub fn sequential(numbers: &[u64]) -> u64 {
    numbers.iter().map(|&number| weight(number)).sum()
}
// ANCHOR_END: sequential

// ANCHOR: join
/// Offers the second half of each slice to other workers; the half is borrowed and not copied.
pub fn by_join(numbers: &[u64], threshold: usize) -> u64 {
    if numbers.len() <= threshold {
        return sequential(numbers);
    }
    let (first, second) = numbers.split_at(numbers.len() / 2);
    let (first, second) = join(|| by_join(first, threshold), || by_join(second, threshold));
    first + second
}
// ANCHOR_END: join

// ANCHOR: fork
/// Forks a task for the second half of each slice; the task owns its data.
pub fn by_fork(numbers: Arc<[u64]>, from: usize, until: usize, threshold: usize) -> u64 {
    if until - from <= threshold {
        return sequential(&numbers[from..until]);
    }
    let (middle, shared) = (from + (until - from) / 2, Arc::clone(&numbers));
    let second = fork(move || by_fork(shared, middle, until, threshold));
    by_fork(numbers, from, middle, threshold) + second.join().expect("it neither panics nor is cancelled")
}
// ANCHOR_END: fork

// ANCHOR: submit
/// A pool that does not steal: the caller cuts the slice into pieces, and submits a task for each piece.
pub fn by_submit(pool: &ThreadPoolExecutor, numbers: &Arc<[u64]>, threshold: usize) -> u64 {
    let piece = |from: usize| {
        let (numbers, until) = (Arc::clone(numbers), (from + threshold).min(numbers.len()));
        pool.submit(move || sequential(&numbers[from..until])).expect("it has no bound")
    };
    let handles: Vec<_> = (0..numbers.len()).step_by(threshold).map(piece).collect();
    handles.into_iter().map(|handle| handle.join().expect("it neither panics nor is cancelled")).sum()
}
// ANCHOR_END: submit
