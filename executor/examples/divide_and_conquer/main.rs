//! Solves five problems by divide and conquer. The example compares each result with the result that one
//! thread computes.
//!
//! ```sh
//! cargo run --example divide_and_conquer
//! ```
//!
//! The book explains this example in the chapter "Mistakes in print, and five problems".

#![allow(unreachable_pub)] // the modules are written like modules of a library

#[path = "../merge_sort/input.rs"]
#[allow(dead_code)] // another example needs the rest
mod input;

mod quicksort; // all the work comes before the halves
mod find; // a search in a slice: a flag stops the other half
mod tree; // a search in a tree: a token stops the other tasks
mod matrix; // rows of a product
mod hull; // the convex hull of points
mod one_thread; // the same problems without tasks

use executor::fork_join::ForkJoinPool;
use std::error::Error;

// ANCHOR: main
fn main() -> Result<(), Box<dyn Error>> {
    let pool = ForkJoinPool::new(2)?;
    let random = input::numbers(1, 100_000, 1_000_000);

    let (mut ours, mut sorted) = (random.clone(), random.clone());
    pool.invoke(|| quicksort::sort(&mut ours))?;
    sorted.sort_unstable();
    println!("quicksort: {} numbers, sorted: {}", ours.len(), ours == sorted);

    let place = pool.invoke(|| find::find(&sorted, &sorted[70_000]))?;
    println!("slice:     found: {}", place.is_some_and(|place| sorted[place] == sorted[70_000]));
    println!("slice:     1000000 is there: {}", pool.invoke(|| find::find(&sorted, &1_000_000))?.is_some());

    let root = tree::of_depth(12, 1);
    let found = tree::find(&pool, &root, 3000)?.map(|node| node.children.len());
    println!("tree:      3000 is there, with {} children", found.unwrap_or(0));
    println!("tree:      9999 is there: {}", tree::find(&pool, &root, 9999)?.is_some());

    let (a, b) = (&random[..150 * 100], &random[..100 * 200]);
    let product = pool.invoke(|| matrix::multiply(a, b, 100, 200))?;
    println!("matrix:    150 × 200, as by one thread: {}", product == one_thread::multiply(a, b, 100, 200));

    let points = hull::points(&random);
    let corners = pool.invoke(|| hull::hull(&points))?;
    println!("hull:      {} corners around {} points", corners.len(), points.len());
    println!("hull:      as by one thread: {}", corners == one_thread::hull(&points));
    Ok(())
}
// ANCHOR_END: main
