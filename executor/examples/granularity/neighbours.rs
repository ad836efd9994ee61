//! Adds the same numbers in two ways: the numbers of a piece are neighbours, or they lie far apart.

use executor::{ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// 128 MiB of numbers, which is more than any cache holds. A build without optimisation is slow, so such a
/// build uses fewer numbers.
const NUMBERS: usize = if cfg!(debug_assertions) { 1 << 16 } else { 1 << 24 };
const PIECES: usize = 256;

pub fn print() -> Result<(), Box<dyn Error>> {
    let numbers: Arc<Vec<u64>> = Arc::new((0..NUMBERS as u64).collect());
    println!("threads   neighbours, ms   far apart, ms");
    for threads in [1, 2] {
        let pool = ThreadPoolExecutor::fixed(threads);
        // ANCHOR: pieces
        let length = NUMBERS / PIECES;
        let neighbours = fastest(|| sum(&pool, &numbers, |number| (number * length, 1)))?;
        let far_apart = fastest(|| sum(&pool, &numbers, |number| (number, PIECES)))?;
        // ANCHOR_END: pieces
        println!("{threads:>7} {neighbours:>16.0} {far_apart:>15.0}");
    }
    Ok(())
}

/// Divides the numbers into pieces of equal length, and adds the numbers of each piece in a task of the pool.
/// `piece` returns the first index of a piece, and the step from each number of the piece to the next.
fn sum(
    pool: &ThreadPoolExecutor,
    numbers: &Arc<Vec<u64>>,
    piece: impl Fn(usize) -> (usize, usize),
) -> Result<(), Box<dyn Error>> {
    let tasks = (0..PIECES).map(|number| {
        let (numbers, (first, step)) = (Arc::clone(numbers), piece(number));
        move || numbers[first..].iter().step_by(step).take(NUMBERS / PIECES).sum::<u64>()
    });
    let sums = pool.invoke_all(tasks)?.into_iter().map(executor::TaskHandle::join);
    assert_eq!(sums.sum::<Result<u64, _>>()?, (0..NUMBERS as u64).sum());
    Ok(())
}

/// Returns the milliseconds of the fastest of five runs.
fn fastest(run: impl Fn() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut fastest = f64::MAX;
    for _ in 0..5 {
        let begin = Instant::now();
        run()?;
        fastest = fastest.min(begin.elapsed().as_secs_f64() * 1e3);
    }
    Ok(fastest)
}
