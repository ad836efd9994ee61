//! A search in an unsorted slice. When a task has found the element in its piece, the other tasks stop.

use executor::fork_join::join;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The number of elements that a task searches between two checks of the flag.
pub const PIECE: usize = 1000;

// ANCHOR: find
/// Returns the index of `wanted`, or `None` if the slice does not contain `wanted`. If the slice contains
/// `wanted` several times, returns the index of any of these elements.
pub fn find<T: PartialEq + Sync>(items: &[T], wanted: &T) -> Option<usize> {
    find_in(items, wanted, 0, &AtomicBool::new(false))
}

fn find_in<T: PartialEq + Sync>(items: &[T], wanted: &T, start: usize, found: &AtomicBool) -> Option<usize> {
    if found.load(Relaxed) {
        return None; // another task has found it
    }
    if items.len() <= PIECE {
        let place = items.iter().position(|item| item == wanted)?;
        found.store(true, Relaxed); // the flag orders nothing: the place is in the result
        return Some(start + place);
    }
    let middle = items.len() / 2;
    let (left, right) = items.split_at(middle);
    let (left, right) =
        join(|| find_in(left, wanted, start, found), || find_in(right, wanted, start + middle, found));
    left.or(right)
}
// ANCHOR_END: find
