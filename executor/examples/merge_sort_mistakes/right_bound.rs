//! The caller passes, as the argument `right`, the last index of the part. But the function expects the index
//! after that last index.

// ANCHOR: sort
fn sort(array: &mut [u32], left: usize, right: usize) {
    if right - left <= 1 {
        return; // one number is sorted
    }
    let middle = left + (right - left) / 2;
    sort(array, left, middle);
    sort(array, middle, right);
    merge(array, left, middle, right);
}
// ANCHOR_END: sort

/// Merges the part that ends before `middle` with the part from `middle` to `right`.
fn merge(array: &mut [u32], left: usize, middle: usize, right: usize) {
    let halves = array[left..right].to_vec();
    let (mut next, mut other) = (0, middle - left);
    for place in &mut array[left..right] {
        let takes_left = other == halves.len() || next < middle - left && halves[next] <= halves[other];
        let from = if takes_left { &mut next } else { &mut other };
        *place = halves[*from];
        *from += 1;
    }
}

// ANCHOR: show
pub fn show() {
    let mut array = [8, 3, 5, 1, 9, 2];
    let last = array.len() - 1;
    sort(&mut array, 0, last);
    println!("sort(array, 0, length - 1): {array:?}");

    let mut array = [3, 5, 1, 8, 2, 9];
    sort(&mut array, 0, last);
    println!("with the largest at the end: {array:?}");
}
// ANCHOR_END: show
