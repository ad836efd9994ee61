//! Merges two sorted halves into one sorted list.

/// The largest number of elements that one task sorts.
pub const THRESHOLD: usize = 500;

// ANCHOR: merge
pub fn merge(left: &[u32], right: &[u32]) -> Vec<u32> {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    let mut merged = Vec::with_capacity(left.len() + right.len());
    while let (Some(of_left), Some(of_right)) = (left.peek(), right.peek()) {
        let smaller = if of_left <= of_right { left.next() } else { right.next() };
        merged.extend(smaller);
    }
    merged.extend(left.chain(right)); // one of them is empty
    merged
}
// ANCHOR_END: merge
