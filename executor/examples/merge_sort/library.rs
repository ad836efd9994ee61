//! The easy way: a library does the whole sort.

use super::input::{input, verdict};
use executor::fork_join::par_sort_unstable;

// ANCHOR: show
pub fn show() {
    let mut numbers = input();
    par_sort_unstable(&mut numbers);
    println!("{}", verdict(&numbers));
}
// ANCHOR_END: show
