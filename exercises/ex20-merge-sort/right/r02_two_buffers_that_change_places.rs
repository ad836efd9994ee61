//! Right: two buffers change places at each level; the items are written when all is sorted.
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
    let (mut from, mut to) = (items.to_vec(), items.to_vec());
    sort_into(&mut from, &mut to, threshold.max(1), joiner)?;
    items.clone_from_slice(&to);
    Ok(())
}

/// Both have the same items. Afterwards they are sorted in `to`.
fn sort_into<T: Ord + Clone + Send + Sync>(
    from: &mut [T],
    to: &mut [T],
    threshold: usize,
    joiner: &dyn Joiner,
) -> Result<(), Failed> {
    if to.len() <= threshold {
        to.sort();
        return Ok(());
    }
    let middle = to.len() / 2;
    let (from_left, from_right) = from.split_at_mut(middle);
    let (to_left, to_right) = to.split_at_mut(middle);
    joiner.join(
        Box::new(|| sort_into(to_left, from_left, threshold, joiner)),
        Box::new(|| sort_into(to_right, from_right, threshold, joiner)),
    )?;
    let (mut left, mut right) = (0, middle);
    for place in to {
        let takes_left = right == from.len() || left < middle && from[left] <= from[right];
        let taken = if takes_left { &mut left } else { &mut right };
        place.clone_from(&from[*taken]);
        *taken += 1;
    }
    Ok(())
}
