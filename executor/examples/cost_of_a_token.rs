//! Measures what tokens cost on this machine. The measurement takes a second or two. Run the example
//! optimised, on a machine that does nothing else.
//!
//! ```sh
//! cargo run --release --example cost_of_a_token
//! ```
//!
//! The book explains this example in the chapter "Deadlines, reasons, links".

use executor::CancelToken;
use std::hint::black_box;
use std::iter;
use std::time::{Duration, Instant};

/// The number of times that each operation runs in a round.
const TIMES: u32 = 20_000;
/// The number of rounds. The result is the median of the rounds.
const ROUNDS: usize = 15;

/// Prints the number of nanoseconds that `work` takes.
fn row(what: &str, mut work: impl FnMut()) {
    let round = || {
        let began = Instant::now();
        (0..TIMES).for_each(|_| work());
        began.elapsed().as_nanos() as f64 / f64::from(TIMES)
    };
    let mut found: Vec<f64> = iter::repeat_with(round).take(ROUNDS).collect();
    found.sort_by(f64::total_cmp);
    println!("{what:<54}{:>8.1}", found[ROUNDS / 2]);
}

// ANCHOR: rows
fn main() {
    println!("nanoseconds each time; the middle one of {ROUNDS} rounds");
    let token = CancelToken::new();
    row("look: check()", || drop(black_box(token.check())));
    row("make a child, drop it", || drop(black_box(token.child())));
    row("register a callback, take it back", || drop(black_box(token.on_cancel(|| ()))));
    row("make a child with a deadline, drop it", || {
        drop(black_box(token.with_timeout(Duration::from_secs(3600))));
    });
    row("make a child, cancel it: no listeners", || _ = black_box(token.child()).cancel());
    row("make a child, cancel it: one callback", || {
        let child = token.child();
        let _registration = child.on_cancel(|| ());
        black_box(&child).cancel();
    });
    let over = token.child();
    over.cancel();
    row("cancel a token that is cancelled already", || _ = black_box(&over).cancel());
}
// ANCHOR_END: rows
