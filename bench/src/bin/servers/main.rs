//! How many keep-alive requests `pooled` answers, beside `tiny_http`, at the same number of connections.
//!
//! ```sh
//! cd bench && cargo run --release --bin servers
//! ```
//!
//! `pooled` has as many threads as there are connections, and so has `tiny_http` by its nature. Both run all the time;
//! the load goes to one, then to the other, and again. So whatever else the machine does hits both, and the medians can
//! be compared when the numbers by themselves mean little.

mod client;
mod process;

use anyhow::Context;
use bench::figures::{median, median_ratio, spread};
use bench::programs::{self, Workspace};
use clap::Parser;
use client::{Clients, Counted};
use process::{Server, own_cpu_time};
use std::time::Duration;

/// What comes before each measurement and is not counted: connections are made, threads are started.
const WARM_UP: Duration = Duration::from_millis(500);

/// What `pooled` is to be better by, as a ratio of answers.
const GOAL: f64 = 1.3;

/// Compares the pooled stage with `tiny_http`, side by side
#[derive(Parser)]
struct Args {
    /// How many clients ask at the same time
    #[arg(long, default_value = "64", value_parser = clap::value_parser!(u16).range(1..=1000))]
    connections: u16,

    /// How often each server is measured
    #[arg(long, default_value = "9", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,

    /// How many seconds each measurement takes
    #[arg(long, default_value = "2", value_parser = clap::value_parser!(u16).range(1..=60))]
    seconds: u16,

    /// How many threads take requests from `tiny_http` [default: the best of those tried]
    #[arg(long)]
    handlers: Option<u16>,
}

/// A server, and what was measured so far.
struct Contender {
    name: &'static str,
    server: Server,
    per_second: Vec<f64>,
    /// Microseconds of processor time for an answer: the server's, and the load's.
    server_cpu: Vec<f64>,
    load_cpu: Vec<f64>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let pooled = programs::binary(Workspace::Course, "servers", "pooled")?;
    let tiny_http = programs::binary(Workspace::Bench, "bench", "tiny_http_server")?;
    let threads = args.connections.to_string();
    let pooled = Server::start(&pooled, &["--quiet", "--addr", "127.0.0.1:0", "--threads", &threads])?;
    let handlers: Vec<_> = args.handlers.iter().map(u16::to_string).collect();
    let tiny_http = Server::start(&tiny_http, &handlers)?;
    let mut contenders = [Contender::new("pooled", pooled), Contender::new("tiny_http", tiny_http)];

    println!("{} connections kept alive, {} rounds of {} s", args.connections, args.rounds, args.seconds);
    for round in 1..=args.rounds {
        for contender in &mut contenders {
            contender.measure(&args).with_context(|| contender.name)?;
        }
        let [ours, theirs] = contenders.each_ref().map(|contender| contender.per_second.last());
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            eprintln!(
                "round {round}: pooled {ours:.0}/s, tiny_http {theirs:.0}/s, ratio {:.2}",
                ours / theirs
            );
        }
    }
    report(&contenders);
    Ok(())
}

impl Contender {
    fn new(name: &'static str, server: Server) -> Contender {
        Contender { name, server, per_second: Vec::new(), server_cpu: Vec::new(), load_cpu: Vec::new() }
    }

    fn measure(&mut self, args: &Args) -> anyhow::Result<()> {
        let mut clients = Clients::connect(self.server.addr, args.connections.into())?;
        clients.count(WARM_UP)?;
        let before = [self.server.cpu_time(), own_cpu_time()];
        let Counted { answers, elapsed } = clients.count(Duration::from_secs(args.seconds.into()))?;
        let after = [self.server.cpu_time(), own_cpu_time()];
        self.per_second.push(answers as f64 / elapsed.as_secs_f64());
        for (kept, (before, after)) in
            [&mut self.server_cpu, &mut self.load_cpu].into_iter().zip(before.into_iter().zip(after))
        {
            if let (Some(before), Some(after)) = (before, after) {
                kept.push(after.saturating_sub(before).as_secs_f64() * 1e6 / answers as f64);
            }
        }
        Ok(())
    }
}

fn report(contenders: &[Contender; 2]) {
    println!(
        "{:10} {:>10} {:>18} {:>14} {:>12}",
        "medians", "answers/s", "least to most", "server CPU µs", "load CPU µs"
    );
    for Contender { name, per_second, server_cpu, load_cpu, .. } in contenders {
        let answers = spread(per_second);
        let (middle, range) = (answers.median, format!("{:.0} to {:.0}", answers.least, answers.most));
        let [server_cpu, load_cpu] = [server_cpu, load_cpu].map(|cpu| match cpu[..] {
            [] => "–".to_owned(),
            _ => format!("{:.1}", median(cpu)),
        });
        println!("{name:10} {middle:>10.0} {range:>18} {server_cpu:>14} {load_cpu:>12}");
    }
    let [ours, theirs] = contenders.each_ref().map(|contender| contender.per_second.iter().copied());
    let ratio = median_ratio(&ours.zip(theirs).collect::<Vec<_>>()).unwrap_or(f64::NAN);
    let verdict = if ratio >= GOAL { "met" } else { "missed" };
    println!("pooled answers {ratio:.2} times as many as tiny_http (goal: at least {GOAL}; {verdict})");
}
