//! Shows what an idle connection costs each stage, and how many system calls a request on such a connection
//! takes.
//!
//! ```sh
//! cargo build --release -p servers
//! cargo run --release --example cost_of_a_connection -- idle
//! cargo run --release --example cost_of_a_connection -- idle 10000 reactor multi_reactor
//! cargo run --release --example cost_of_a_connection -- calls
//! ```
//!
//! The subcommand `calls` needs `strace`. Both subcommands read `/proc`, so they run on Linux.
//!
//! The chapter "One loop for each processor" of the book explains this program.

mod calls;
mod idle;
mod stage;

use anyhow::{Context, bail};
use std::env;

const STAGES: [&str; 8] = [
    "single_threaded",
    "thread_per_task",
    "shared_accept",
    "pooled",
    "lifecycle",
    "bounded",
    "reactor",
    "multi_reactor",
];

/// The number of clients; most systems allow that many descriptors.
const CLIENTS: usize = 1_000;

fn main() -> anyhow::Result<()> {
    let mut arguments = env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let mut arguments = arguments.peekable();
    let clients = arguments.next_if(|word| word.parse::<usize>().is_ok());
    let mut stages: Vec<String> = arguments.collect();
    if stages.is_empty() {
        stages = STAGES.map(str::to_owned).to_vec();
    }
    match what.as_str() {
        "idle" => {
            let clients = clients.map_or(Ok(CLIENTS), |clients| clients.parse()).context("how many?")?;
            idle::show(&stages, clients)
        }
        "calls" => calls::show(&stages),
        _ => bail!("say what to measure: idle or calls"),
    }
}
