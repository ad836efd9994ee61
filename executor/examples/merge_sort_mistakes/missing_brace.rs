//! Without braces, only the first line belongs to the `if`. So the function always returns.

#![allow(unreachable_code)] // the compiler warns of this very mistake

use super::whole_array::input::{input, verdict};

// ANCHOR: sort
fn sort(array: &mut [u32]) {
    if array.len() <= 10 {
        array.sort_unstable();
    }
    return; // meant to be inside the `if`

    let (left, right) = array.split_at_mut(array.len() / 2);
    executor::fork_join::join(|| sort(left), || sort(right));
    unimplemented!("the merge, which never comes");
}
// ANCHOR_END: sort

// ANCHOR: show
pub fn show() {
    let mut small = [5, 2, 8, 1];
    sort(&mut small);
    println!("the array of a test: {small:?}");
    let mut large = input();
    sort(&mut large);
    println!("a large one: {}", verdict(&large));
}
// ANCHOR_END: show
