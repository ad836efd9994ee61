//! Wrong: a part that is short enough sorts the whole array, as in a listing with bounds whose base case forgets them.
//! The learner sees: both halves have compared the same items.
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
    let all = Mutex::new(items.to_vec());
    sort_range(&all, 0, items.len(), threshold.max(1), joiner)?;
    items.clone_from_slice(&all.into_inner().unwrap());
    Ok(())
}

fn sort_range<T: Ord + Clone + Send + Sync>(
    all: &Mutex<Vec<T>>,
    from: usize,
    to: usize,
    threshold: usize,
    joiner: &dyn Joiner,
) -> Result<(), Failed> {
    if to - from <= threshold {
        let mut sorted = all.lock().unwrap().clone();
        sorted.sort();
        *all.lock().unwrap() = sorted;
        return Ok(());
    }
    let middle = from + (to - from) / 2;
    joiner.join(
        Box::new(|| sort_range(all, from, middle, threshold, joiner)),
        Box::new(|| sort_range(all, middle, to, threshold, joiner)),
    )?;
    let mut all = all.lock().unwrap();
    let merged = merge(&all[from..middle], &all[middle..to]);
    all[from..to].clone_from_slice(&merged);
    Ok(())
}

/// The items of two sorted slices, sorted.
fn merge<T: Ord + Clone>(mut left: &[T], mut right: &[T]) -> Vec<T> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while let ([first, more @ ..], [second, others @ ..]) = (left, right) {
        if first <= second {
            merged.push(first.clone()); // of two equal items the left one
            left = more;
        } else {
            merged.push(second.clone());
            right = others;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    merged
}
