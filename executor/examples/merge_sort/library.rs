//! The easy way: a library that does all of it.

use super::input::{input, verdict};
use executor::fork_join::par_sort_unstable;
use std::error::Error;

// ANCHOR: show
pub fn show() -> Result<(), Box<dyn Error>> {
    let mut numbers = input();
    par_sort_unstable(&mut numbers);
    println!("{}", verdict(&numbers));
    Ok(())
}
// ANCHOR_END: show
