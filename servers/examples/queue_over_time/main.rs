//! Shows the queue of a server over time, without a bound and with a bound. During two seconds, more
//! clients arrive than the server can serve. The example also checks Little's law: the average number of
//! clients in the server equals the number of clients that arrive in a second, times the seconds that each
//! client stays.
//!
//! ```sh
//! cargo run --release --example queue_over_time
//! cargo run --release --example queue_over_time -- picture.svg
//! ```
//!
//! The chapter "Overload, and who notices it" of the book explains this program.

mod observe;
mod plot;
mod visitors;

use executor::FifoQueue;
use observe::{Observed, observe};
use std::time::Duration;
use std::{env, fs};

// ANCHOR: load
const THREADS: usize = 8;
const WORK: Duration = Duration::from_millis(50);

/// The length of each phase in seconds, and the number of clients that arrive in a second of that phase.
/// Eight threads can serve 160 clients in a second.
const PHASES: [(f64, f64); 3] = [(2.0, 120.0), (2.0, 240.0), (5.0, 120.0)];
// ANCHOR_END: load

const ROOM: usize = 48;

/// The number of seconds that each line of the table covers.
const LINE: f64 = 0.5;

fn main() -> anyhow::Result<()> {
    println!("clients waiting for a thread, of {THREADS}; each is served for {WORK:?}\n");
    let unbounded = observe(FifoQueue::unbounded())?;
    let bounded = observe(FifoQueue::bounded(ROOM))?;
    println!("     time    clients    no bound  room for {ROOM}");
    let mut begin = 0.0;
    for (length, rate) in PHASES {
        let end = begin + length;
        while begin < end {
            let waiting = [&unbounded, &bounded].map(|run| run.waiting(begin, begin + LINE));
            println!("{begin:7.1} s  {rate:7.0}/s  {:10.0}{:13.0}", waiting[0], waiting[1]);
            begin += LINE;
        }
    }
    print_law(&unbounded, &bounded);
    if let Some(path) = env::args().nth(1) {
        fs::write(path, plot::of(&PHASES, &[("no bound", &unbounded), ("room for 48", &bounded)]))?;
    }
    Ok(())
}

fn print_law(unbounded: &Observed, bounded: &Observed) {
    let row = |what: &str, value: fn(&Observed) -> f64, digits: usize| {
        println!("{what:38}{:9.digits$}{:13.digits$}", value(unbounded), value(bounded));
    };
    println!(
        "\n{:38}{:>9}{:>13}",
        "from the first client to the last",
        "no bound",
        format!("room for {ROOM}")
    );
    row("refused", |run| run.refused as f64, 0);
    row("the longest stay, s", Observed::longest_stay, 2);
    // ANCHOR: law
    row("came in each second, λ", Observed::arrival_rate, 1);
    row("stayed on average, s, W", Observed::mean_stay, 3);
    row("λ × W", |run| run.arrival_rate() * run.mean_stay(), 1);
    row("were there on average, counted, L", Observed::mean_there, 1);
    // ANCHOR_END: law
}
