//! Simulates several trees; each tree runs on more and more workers.

use super::costs::ROUND;
use super::pool::simulate;
use super::trees;

pub fn scale() {
    println!("{ROUND}");
    for (name, tree) in trees::all() {
        let (work, span) = (tree.work(), tree.span());
        let parallelism = work as f64 / span as f64;
        println!("\n{name}");
        println!("T1 = {:.1} ms, T∞ = {:.3} ms, T1/T∞ = {parallelism:.1}", millis(work), millis(span));
        println!("workers   Tp in ms   T1/p + T∞   T1/Tp   offered   stolen   wake-ups");
        for workers in [1, 2, 4, 8, 16, 32, 64] {
            let run = simulate(&tree, workers, ROUND, 1, false);
            let greedy = work / workers as u64 + span;
            println!(
                "{workers:7}{:11.3}{:12.3}{:8.2}{:10}{:9}{:11}",
                millis(run.time),
                millis(greedy),
                work as f64 / run.time as f64,
                run.offered,
                run.stolen,
                run.wake_ups,
            );
        }
    }
}

fn millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}
