//! A function that measures tasks, and finds the size at which a task is no longer divided.
//!
//! This file is the only file to edit. `cargo test -p ex33-where-to-stop-splitting` checks it.
#![allow(unused)]

/// Returns the number of items that a piece should have, from 1 to `items`. A task is divided only if it has
/// more items than this number.
///
/// `measure(n)` runs a task of `n` items, from 0 to `items`, and returns its time in nanoseconds.
/// `measure(0)` is the cost of the task itself. There is at least one item, and at least one worker.
pub fn size_of_a_piece(items: usize, workers: usize, mut measure: impl FnMut(usize) -> u64) -> usize {
    todo!(
        "find the smallest piece that is worth a task, and the largest that leaves four pieces for each worker"
    )
}
