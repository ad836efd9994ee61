//! Measures all thresholds, from single elements to the whole slice.

use super::{plot, ways};
use executor::ThreadPoolExecutor;
use executor::fork_join::ForkJoinPool;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const ELEMENTS: usize = 1 << 17;
const TURNS: usize = 7;

/// Prints a table, and returns the curves as SVG.
pub fn sweep() -> String {
    let numbers: Arc<[u64]> = (0..ELEMENTS as u64).collect();
    let (stealing, plain) = (ForkJoinPool::new(2).expect("two are allowed"), ThreadPoolExecutor::fixed(2));
    let thresholds: Vec<_> = (0..=ELEMENTS.ilog2()).map(|power| 1 << power).collect();
    let mut curves = vec![Vec::new(); 3];
    println!("{ELEMENTS} elements, two threads; the time as a part of the sequential one");
    println!("threshold   pieces    join    fork  submit");
    for &threshold in &thresholds {
        let whole = || Arc::clone(&numbers);
        let in_pool = |f: &(dyn Fn() -> u64 + Sync)| stealing.invoke(f).expect("the pool runs");
        let alone = median_of(|| ways::sequential(&numbers));
        let times = [
            median_of(|| in_pool(&|| ways::by_join(&numbers, threshold))),
            median_of(|| in_pool(&|| ways::by_fork(whole(), 0, ELEMENTS, threshold))),
            median_of(|| ways::by_submit(&plain, &numbers, threshold)),
        ]
        .map(|time| time / alone);
        curves.iter_mut().zip(times).for_each(|(curve, time)| curve.push(time));
        let [join, fork, submit] = times;
        println!("{threshold:9}{:9}{join:8.2}{fork:8.2}{submit:8.2}", ELEMENTS / threshold);
    }
    let lines: Vec<_> = ["join", "fork", "submit"].into_iter().zip(curves).collect();
    let thresholds: Vec<_> = thresholds.iter().map(|&threshold| threshold as u64).collect();
    plot::of("the time with two threads, as a part of the sequential time", &thresholds, &lines)
}

/// Returns the median time, in seconds.
fn median_of(f: impl Fn() -> u64) -> f64 {
    let turn = |_| {
        let began = Instant::now();
        black_box(f());
        began.elapsed()
    };
    let mut times: Vec<_> = (0..TURNS).map(turn).collect();
    times.sort_unstable();
    times[TURNS / 2].as_secs_f64()
}
