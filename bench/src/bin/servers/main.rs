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

use anyhow::{Context, ensure};
use clap::Parser;
use client::{Clients, Counted};
use process::{Server, own_cpu_time};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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
    let built = build()?;
    let threads = args.connections.to_string();
    let pooled = ["--quiet", "--addr", "127.0.0.1:0", "--threads", &threads];
    let pooled = Server::start(&built.join(executable("pooled")), &pooled)?;
    let handlers: Vec<_> = args.handlers.iter().map(u16::to_string).collect();
    let tiny_http = Server::start(&built.join(executable("tiny_http_server")), &handlers)?;
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

/// Builds both servers, each as it is optimised for use, and says where they are.
fn build() -> anyhow::Result<PathBuf> {
    // This program is target/<profile>/servers.
    let me = env::current_exe().context("cannot find myself")?;
    let target = me.parent().and_then(|profile| profile.parent()).context("I am in no target directory")?;
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (workspace, package, binary) in
        [(here.join(".."), "servers", "pooled"), (here.to_owned(), "bench", "tiny_http_server")]
    {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["build", "--release", "--package", package, "--bin", binary, "--manifest-path"]);
        command.arg(workspace.join("Cargo.toml")).arg("--target-dir").arg(target);
        let status = command.stdout(Stdio::null()).status();
        ensure!(status.context("cannot run Cargo")?.success(), "Cargo's messages above say what is wrong");
    }
    Ok(target.join("release"))
}

fn executable(name: &str) -> String {
    format!("{name}{}", env::consts::EXE_SUFFIX)
}

fn report(contenders: &[Contender; 2]) {
    println!(
        "{:10} {:>10} {:>18} {:>14} {:>12}",
        "medians", "answers/s", "least to most", "server CPU µs", "load CPU µs"
    );
    for Contender { name, per_second, server_cpu, load_cpu, .. } in contenders {
        let least = per_second.iter().copied().fold(f64::INFINITY, f64::min);
        let most = per_second.iter().copied().fold(0.0, f64::max);
        let (middle, range) = (median(per_second), format!("{least:.0} to {most:.0}"));
        let [server_cpu, load_cpu] = [server_cpu, load_cpu].map(|cpu| match cpu[..] {
            [] => "–".to_owned(),
            _ => format!("{:.1}", median(cpu)),
        });
        println!("{name:10} {middle:>10.0} {range:>18} {server_cpu:>14} {load_cpu:>12}");
    }
    let [ours, theirs] = contenders.each_ref().map(|contender| contender.per_second.iter());
    // Of the same round each: what disturbed one has probably disturbed the other.
    let ratios: Vec<_> = ours.zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    let ratio = median(&ratios);
    let verdict = if ratio >= GOAL { "met" } else { "missed" };
    println!("pooled answers {ratio:.2} times as many as tiny_http (goal: at least {GOAL}; {verdict})");
}

/// The middle one, of at least one.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn a_median_is_in_the_middle() {
        for (values, middle) in [(&[3.0, 1.0, 2.0][..], 2.0), (&[4.0, 1.0], 2.5), (&[7.0], 7.0)] {
            assert!((median(values) - middle).abs() < 1e-9);
        }
    }
}
