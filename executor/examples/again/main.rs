//! Shows when the runs of a series begin. Each argument selects one subject: delays that add up, late runs,
//! runs that panic, changes of a series, or the end of the pool.
//!
//! ```sh
//! cargo run --example again -- drift|late|panics|changes|ends
//! ```
//!
//! The period of `late`, `panics` and `changes` is 100 ms. A busy machine needs a longer period, such as a
//! second: `-- late 1000`.

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
            eprintln!("say which: drift, late, panics, changes or ends");
            process::exit(2);
        }
    }
}

/// Returns the time of an event as a number of periods after `start`, rounded down to a multiple of 0.5. No
/// run begins early, so the rounding hides only the small delays of a busy machine.
fn periods(start: Instant, period: Duration, when: Instant) -> String {
    let halves = when.duration_since(start).div_duration_f64(period / 2).floor();
    format!("{:.1}", halves / 2.0)
}
