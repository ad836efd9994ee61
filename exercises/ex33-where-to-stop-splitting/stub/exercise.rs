//! A function that finds by measuring where to stop dividing a task.
//!
//! This file is the only file to edit. `cargo test -p ex33-where-to-stop-splitting` checks it.
#![allow(unused)]

/// Returns how many items a piece should have, 1 to `items`: a task of more items is divided, and other tasks
/// are not.
///
/// `measure(n)` runs a task of `n` items, 0 to `items`, and returns how many nanoseconds it has taken. With
/// no items, the result is the cost of the task itself. There is at least one item, and at least one worker.
pub fn size_of_a_piece(items: usize, workers: usize, mut measure: impl FnMut(usize) -> u64) -> usize {
    todo!(
        "find the smallest piece that is worth a task, and the largest that leaves four pieces for each worker"
    )
}
