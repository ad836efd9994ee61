//! Right: the two halves are merged by slice::sort, which detects the two sorted runs. The joiner gets the
//! right half first.
#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Mutex, thread};

// ----- Given. -----

/// The error for a part that could not be sorted: a sort inside the part panicked or was never called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failed;

/// The closure that sorts one half.
pub type Half<'a> = Box<dyn FnOnce() -> Result<(), Failed> + Send + 'a>;

/// A joiner calls two halves: at the same time if it has a thread for each half, otherwise one after the
/// other.
pub trait Joiner: Sync {
    /// Calls both halves, on any threads and in any order, and returns when both have ended. Returns an error
    /// if a half has returned an error or has panicked, or if this joiner could not call a half.
    fn join<'a>(&self, one: Half<'a>, other: Half<'a>) -> Result<(), Failed>;
}

// ----- Yours. -----

/// Sorts the items; equal items keep their order. A part that has at least two items and more than
/// `threshold` items is split in the middle; then `joiner` calls the closures that sort the halves. If a part
/// was not sorted, returns an error; then the slice still contains all items, in some order.
pub fn sort<T: Ord + Clone + Send + Sync>(
    items: &mut [T],
    threshold: usize,
    joiner: &dyn Joiner,
) -> Result<(), Failed> {
    if items.len() <= threshold.max(1) {
        items.sort();
        return Ok(());
    }
    let (left, right) = items.split_at_mut(items.len() / 2);
    joiner.join(Box::new(|| sort(right, threshold, joiner)), Box::new(|| sort(left, threshold, joiner)))?;
    items.sort();
    Ok(())
}
