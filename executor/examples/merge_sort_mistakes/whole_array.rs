//! The base case sorts the whole array instead of its part. The result is right, but each base case takes as
//! long as sorting the whole array.

#[path = "../merge_sort/input.rs"]
#[allow(dead_code)] // another example needs the rest
pub mod input;
#[path = "../merge_sort/merge.rs"]
mod merge;

use executor::fork_join::join;
use merge::{THRESHOLD, merge};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of elements that all base cases together have sorted.
static GIVEN: AtomicUsize = AtomicUsize::new(0);

// ANCHOR: sort
fn sort(array: &Mutex<Vec<u32>>, part: Range<usize>) {
    if part.len() <= THRESHOLD {
        let mut whole = array.lock().unwrap();
        GIVEN.fetch_add(whole.len(), Relaxed);
        return whole.sort_unstable(); // Arrays.sort(array)
    }
    let middle = part.start + part.len() / 2;
    join(|| sort(array, part.start..middle), || sort(array, middle..part.end));
    let mut array = array.lock().unwrap();
    let merged = merge(&array[part.start..middle], &array[middle..part.end]);
    array[part].copy_from_slice(&merged);
}
// ANCHOR_END: sort

// ANCHOR: slice
fn sort_slice(slice: &mut [u32]) {
    if slice.len() <= THRESHOLD {
        GIVEN.fetch_add(slice.len(), Relaxed);
        return slice.sort_unstable();
    }
    let (left, right) = slice.split_at_mut(slice.len() / 2);
    join(|| sort_slice(left), || sort_slice(right));
    let merged = merge(left, right);
    slice.copy_from_slice(&merged);
}
// ANCHOR_END: slice

pub fn show() {
    let array = Mutex::new(input::input());
    sort(&array, 0..input::input().len());
    println!("whole array: {}", input::verdict(&array.lock().unwrap()));
    println!("  given to its base cases: {} numbers", GIVEN.swap(0, Relaxed));
    let mut slice = input::input();
    sort_slice(&mut slice);
    println!("own slice:   {}", input::verdict(&slice));
    println!("  given to its base cases: {} numbers", GIVEN.swap(0, Relaxed));
}
