//! Quicksort moves the smaller numbers to the left of the pivot and the larger numbers to its right. Then
//! each side is sorted.

use executor::fork_join::join;
use std::cmp::Ordering;

/// The smallest number of elements for which a second thread is worth its cost.
const THRESHOLD: usize = 1000;

// ANCHOR: sort
pub fn sort(numbers: &mut [u32]) {
    if numbers.len() <= THRESHOLD {
        return numbers.sort_unstable();
    }
    let (smaller, larger) = partition(numbers);
    join(|| sort(smaller), || sort(larger));
}

/// Moves smaller numbers to the front and larger numbers to the back. After the call, the numbers equal to
/// the pivot are in their final places.
fn partition(numbers: &mut [u32]) -> (&mut [u32], &mut [u32]) {
    let pivot = middle_of([numbers[0], numbers[numbers.len() / 2], numbers[numbers.len() - 1]]);
    let (mut smaller, mut next, mut larger) = (0, 0, numbers.len());
    while next < larger {
        match numbers[next].cmp(&pivot) {
            Ordering::Less => {
                numbers.swap(smaller, next);
                (smaller, next) = (smaller + 1, next + 1);
            }
            Ordering::Equal => next += 1,
            Ordering::Greater => {
                larger -= 1;
                numbers.swap(next, larger);
            }
        }
    }
    let (front, back) = numbers.split_at_mut(larger);
    (&mut front[..smaller], back)
}
// ANCHOR_END: sort

fn middle_of(mut three: [u32; 3]) -> u32 {
    three.sort_unstable();
    three[1]
}
