//! Compares a limit for each call with one limit for all calls.
//!
//! ```sh
//! cargo run --example one_deadline -- each
//! cargo run --example one_deadline -- all
//! ```
//!
//! The book explains this example in the chapter "Deadlines, reasons, links".

use executor::{CancelToken, Latch};
use std::fmt::Display;
use std::time::{Duration, Instant};

/// The time limit for a page.
const LIMIT: Duration = Duration::from_secs(1);

/// A page asks three other servers for data. Only the price arrives.
fn answers() -> [(&'static str, Latch); 3] {
    [("the price", Latch::new(0)), ("the stock", Latch::new(1)), ("the reviews", Latch::new(1))]
}

// ANCHOR: each
fn each() {
    for (what, answer) in answers() {
        tell(what, answer.wait_timeout(LIMIT));
    }
}
// ANCHOR_END: each

// ANCHOR: all
fn all() {
    let page = CancelToken::current().with_timeout(LIMIT);
    let _attached = page.attached(); // is the current token to the end of this block
    for (what, answer) in answers() {
        tell(what, answer.wait());
    }
}
// ANCHOR_END: all

fn tell(what: &str, result: Result<(), impl Display>) {
    println!("{what}: {}", result.map_or_else(|error| error.to_string(), |()| "here".to_owned()));
}

fn main() {
    let began = Instant::now();
    match std::env::args().nth(1).as_deref() {
        Some("each") => each(),
        Some("all") => all(),
        _ => {
            eprintln!("say which: each or all");
            std::process::exit(2);
        }
    }
    println!("twice the limit is over: {}", began.elapsed() >= 2 * LIMIT);
}
