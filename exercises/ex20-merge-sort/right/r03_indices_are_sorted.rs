//! Right: what is sorted is indices; the items come to their places at the end.
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
    let mut indices: Vec<usize> = (0..items.len()).collect();
    sort_indices(items, &mut indices, threshold, joiner)?;
    let sorted: Vec<T> = indices.iter().map(|index| items[*index].clone()).collect();
    items.clone_from_slice(&sorted);
    Ok(())
}

fn sort_indices<T: Ord + Sync>(
    items: &[T],
    indices: &mut [usize],
    threshold: usize,
    joiner: &dyn Joiner,
) -> Result<(), Failed> {
    if indices.len() <= threshold.max(1) {
        indices.sort_by(|one, other| items[*one].cmp(&items[*other]));
        return Ok(());
    }
    let middle = indices.len() / 2;
    let (left, right) = indices.split_at_mut(middle);
    joiner.join(
        Box::new(|| sort_indices(items, left, threshold, joiner)),
        Box::new(|| sort_indices(items, right, threshold, joiner)),
    )?;
    let (left, mut right) = (left.to_vec(), VecDeque::from(right.to_vec()));
    let mut places = indices.iter_mut();
    for index in left {
        while let Some(first) = right.front().copied().filter(|first| items[*first] < items[index]) {
            *places.next().unwrap() = first;
            right.pop_front();
        }
        *places.next().unwrap() = index;
    }
    Ok(())
}
