//! What becomes of the times of a series: as they add up, as runs are late, as runs panic, as they are changed, at the end.
//!
//! ```sh
//! cargo run -p executor --example again -- drift|late|panics|changes|ends
//! ```

mod changes;
mod drift;
mod ends;
mod late;
mod panics;

use std::time::{Duration, Instant};
use std::{env, process};

fn main() {
    match env::args().nth(1).as_deref() {
        Some("drift") => drift::show(),
        Some("late") => late::show(),
        Some("panics") => panics::show(),
        Some("changes") => changes::show(),
        Some("ends") => ends::show(),
        _ => {
            eprintln!("again drift|late|panics|changes|ends");
            process::exit(2);
        }
    }
}

/// When something happened, in periods after `start`.
fn periods(start: Instant, period: Duration, when: Instant) -> String {
    format!("{:.1}", when.duration_since(start).div_duration_f64(period))
}
