//! Right: the halves are merged in place, by rotation, and no item is ever cloned.
#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Mutex, thread};

// ----- Given. -----

/// A part was not sorted: it panicked, or a part of it did, or it was never called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failed;

/// What sorts one half.
pub type Half<'a> = Box<dyn FnOnce() -> Result<(), Failed> + Send + 'a>;

/// Calls two halves: at once if it has a thread for each, otherwise one after the other.
pub trait Joiner: Sync {
    /// Calls both halves, on any threads and in any order, and returns when both have ended. It gives an error if one of
    /// them has given an error or has panicked, or if it could not call it.
    fn join<'a>(&self, one: Half<'a>, other: Half<'a>) -> Result<(), Failed>;
}

// ----- Yours. -----

/// Sorts the items; equal items keep their order. A part of more than `threshold` items, and of more than one, is split in the
/// middle, and `joiner` calls what sorts its halves. An error says that a part was not sorted: then the items are all
/// there, in some order.
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
    joiner.join(Box::new(|| sort(left, threshold, joiner)), Box::new(|| sort(right, threshold, joiner)))?;
    merge(items, items.len() / 2);
    Ok(())
}

/// Merges what is before the middle with what is behind it. Splits the longer one, and looks for the place in the other.
fn merge<T: Ord>(items: &mut [T], middle: usize) {
    let (left, right) = items.split_at(middle);
    if left.is_empty() || right.is_empty() {
        return;
    }
    if items.len() == 2 {
        if right[0] < left[0] {
            items.swap(0, 1);
        }
        return;
    }
    let (from_left, from_right) = if left.len() >= right.len() {
        let half = left.len() / 2;
        (half, right.partition_point(|item| *item < left[half]))
    } else {
        let half = right.len() / 2;
        (left.partition_point(|item| *item <= right[half]), half)
    };
    items[from_left..middle + from_right].rotate_left(middle - from_left);
    let (low, high) = items.split_at_mut(from_left + from_right);
    // The one that was split goes on with its item alone, so both parts are shorter.
    merge(low, from_left);
    merge(high, middle - from_left);
}
