//! The run times of a series: how they add up, and what happens when runs are late, when runs panic, when the
//! series is changed, and when its pool ends.
//!
//! ```sh
//! cargo run --example again -- drift|late|panics|changes|ends
//! ```
//!
//! For a busy machine, a longer period than 100 ms can follow `late`, `panics` or `changes`: `-- late 1000`.

mod changes;
mod drift;
mod ends;
mod late;
mod panics;

use std::time::{Duration, Instant};
use std::{env, process};

fn main() {
    let period = env::args().nth(2).and_then(|millis| millis.parse().ok()).unwrap_or(100);
    let period = Duration::from_millis(period);
    match env::args().nth(1).as_deref() {
        Some("drift") => drift::show(),
        Some("late") => late::show(period),
        Some("panics") => panics::show(period),
        Some("changes") => changes::show(period),
        Some("ends") => ends::show(),
        _ => {
            eprintln!("again drift|late|panics|changes|ends");
            process::exit(2);
        }
    }
}

/// The time of an event, in periods after `start`, rounded down to halves: no run is early, and the lateness
/// on a busy machine is not the series' fault.
fn periods(start: Instant, period: Duration, when: Instant) -> String {
    let halves = when.duration_since(start).div_duration_f64(period / 2).floor();
    format!("{:.1}", halves / 2.0)
}
