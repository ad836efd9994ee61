//! The easy way: pieces that are sorted by a loop, and the standard library's `sort`, which merges sorted pieces.

use super::input::{input, verdict};
use super::merge::THRESHOLD;
use executor::fork_join::par_for_each;
use std::error::Error;

// ANCHOR: sort
pub fn sort(numbers: &mut [u32]) {
    let mut pieces: Vec<_> = numbers.chunks_mut(THRESHOLD).collect();
    par_for_each(&mut pieces[..], |piece| piece.sort_unstable());
    numbers.sort();
}
// ANCHOR_END: sort

pub fn show() -> Result<(), Box<dyn Error>> {
    let mut numbers = input();
    sort(&mut numbers);
    println!("{}", verdict(&numbers));
    Ok(())
}
