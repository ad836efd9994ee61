//! Measures all thresholds, from single elements to the whole slice.

use super::{plot, ways};
use executor::ThreadPoolExecutor;
use executor::fork_join::ForkJoinPool;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const ELEMENTS: usize = 1 << 17;
const TURNS: usize = 9;

/// Prints a table, and returns the curves as SVG.
pub fn sweep() -> String {
    let numbers: Arc<[u64]> = (0..ELEMENTS as u64).collect();
    let (stealing, plain) = (ForkJoinPool::new(2).expect("two are allowed"), ThreadPoolExecutor::fixed(2));
    let thresholds: Vec<_> = (0..=ELEMENTS.ilog2()).map(|power| 1 << power).collect();
    let mut curves = vec![Vec::new(); 3];
    println!("{ELEMENTS} elements, two threads; times as parts of the sequential one before and after");
    println!("threshold   pieces    join    fork  submit   sequential");
    for &threshold in &thresholds {
        let whole = || Arc::clone(&numbers);
        let in_pool = |f: &(dyn Fn() -> u64 + Sync)| stealing.invoke(f).expect("the pool runs");
        let mut alone = Vec::new();
        let mut part = |way: &dyn Fn() -> u64| paired(way, &|| ways::sequential(&numbers), &mut alone);
        let [join, fork, submit] = [
            part(&|| in_pool(&|| ways::by_join(&numbers, threshold))),
            part(&|| in_pool(&|| ways::by_fork(whole(), 0, ELEMENTS, threshold))),
            part(&|| ways::by_submit(&plain, &numbers, threshold)),
        ];
        curves.iter_mut().zip([join, fork, submit]).for_each(|(curve, part)| curve.push(part));
        alone.sort_unstable_by(f64::total_cmp);
        let (fastest, slowest) = (1e3 * alone[0], 1e3 * alone[alone.len() - 1]);
        print!("{threshold:9}{:9}{join:8.2}{fork:8.2}{submit:8.2}", ELEMENTS / threshold);
        println!("   {fastest:.2} to {slowest:.2} ms");
    }
    let lines: Vec<_> = ["join", "fork", "submit"].into_iter().zip(curves).collect();
    let thresholds: Vec<_> = thresholds.iter().map(|&threshold| threshold as u64).collect();
    plot::of("the time with two threads, as a part of the sequential time", &thresholds, &lines)
}

/// Returns the median of the times. Each time is relative to two sequential times: one was measured just
/// before it, and one just after it.
fn paired(way: &dyn Fn() -> u64, sequential: &dyn Fn() -> u64, alone: &mut Vec<f64>) -> f64 {
    let time = |f: &dyn Fn() -> u64| {
        let began = Instant::now();
        black_box(f());
        began.elapsed().as_secs_f64()
    };
    let turn = |_| {
        let [before, with_two, after] = [sequential, way, sequential].map(time);
        alone.extend([before, after]);
        2.0 * with_two / (before + after)
    };
    let mut parts: Vec<_> = (0..TURNS).map(turn).collect();
    parts.sort_unstable_by(f64::total_cmp);
    parts[TURNS / 2]
}
