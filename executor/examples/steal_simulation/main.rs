//! Simulates the pool in which workers steal from each other. The simulation shows the effect of more workers
//! than this machine has, and draws the queues.
//!
//! ```sh
//! cargo run --release --example steal_simulation -- check
//! cargo run --example steal_simulation -- scale
//! ```
//!
//! The book explains this example in the chapters "Work stealing" and "Granularity".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod tree; // the work
mod costs; // what the pool costs apart from the work
mod log; // the events
mod granularity; // whether pieces are fine
mod seat; // a worker, as other workers see it
mod pool; // the clock, and which workers sleep
mod joins; // what a worker does
mod thieves; // which worker takes which piece

mod trees; // trees to simulate
mod measure; // what the real pool costs here
mod check; // real pool and simulation, side by side
mod scale; // on more and more workers
#[path = "../granularity/plot.rs"]
mod plot; // curves as SVG
mod curve; // thresholds on more and more workers
mod lanes; // a small run, event by event
mod picture; // the small run, as SVG

use std::{env, error::Error, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let workers = arguments.get(1).and_then(|workers| workers.parse().ok());
    match (arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), workers) {
        (["check"], _) => check::check(),
        (["scale"], _) => scale::scale(),
        (["curve", file], _) => fs::write(file, curve::curve())?,
        (["lanes", _], Some(workers)) => lanes::print(workers),
        (["picture", _, file], Some(workers)) => fs::write(file, picture::of(workers))?,
        _ => {
            eprintln!("say which: check, scale, curve FILE, lanes WORKERS, picture WORKERS FILE");
            std::process::exit(2);
        }
    }
    Ok(())
}
