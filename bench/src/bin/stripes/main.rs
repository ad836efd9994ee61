//! Compares `StripedExecutor` with other ways to keep the order of tasks with the same key.
//!
//! Run it with `cargo run --release --bin stripes` in `bench/`. README.md says what the rows are and how they
//! are measured.

mod board;
mod sides;

use anyhow::Context;
use bench::figures::{Spread, median_ratio, spread};
use bench::java::Java;
use clap::Parser;

use board::{Board, Load};
use sides::Cost;

/// Compares the striped executor with other ways to keep the order of tasks with the same key, side by side
///
/// Each row measures ours and each peer in turns. Each measurement checks that every task ran once and in its
/// order.
#[derive(Parser)]
#[command(name = "stripes")]
struct Args {
    /// What to measure [default: all]: uniform-10k, uniform-1m, zipf-10k, zipf-1m
    #[arg(value_name = "ROW", value_parser = ["uniform-10k", "uniform-1m", "zipf-10k", "zipf-1m"])]
    rows: Vec<String>,

    /// How often each side is measured
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// How many tasks one measurement submits
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1000..=100_000_000))]
    tasks: u32,

    /// How many threads the pool below has
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1000))]
    workers: u16,

    /// Measure only peers whose name contains this
    #[arg(long = "peer", value_name = "WORD")]
    peers: Vec<String>,

    /// Print an array of {`row`, `peer`, `time_ratio`, `cpu_ratio`} and nothing else
    #[arg(long)]
    json: bool,
}

/// The rows: name, number of keys, and whether they are skewed. The first is workload G.
const ROWS: [(&str, u32, bool); 4] = [
    ("uniform-10k", 10_000, false),
    ("zipf-10k", 10_000, true),
    ("uniform-1m", 1_000_000, false),
    ("zipf-1m", 1_000_000, true),
];

enum Side {
    Here(fn(&Load, &'static Board) -> Cost),
    Java(&'static str),
}

struct Peer {
    name: &'static str,
    side: Side,
    /// The goal in the first row: our time is at most this part of the peer's.
    goal: Option<f64>,
}

const PEERS: [Peer; 7] = [
    Peer { name: "Java draining executor", side: Side::Java("draining"), goal: Some(0.8) },
    Peer { name: "Java draining, ForkJoinPool", side: Side::Java("draining-fjp"), goal: None },
    Peer { name: "Java SerialExecutor", side: Side::Java("serial"), goal: None },
    Peer { name: "DashMap of queues", side: Side::Here(sides::map_of_queues), goal: None },
    Peer { name: "fixed lanes", side: Side::Here(sides::fixed_lanes), goal: None },
    Peer { name: "unordered: crossbeam-channel pool", side: Side::Here(sides::unordered), goal: None },
    Peer { name: "unordered: our pool", side: Side::Here(sides::our_pool), goal: None },
];

/// How often a Java peer runs a whole load before it counts.
const JAVA_WARM_UPS: u32 = 3;

enum Contestant {
    Here(fn(&Load, &'static Board) -> Cost),
    Java(Box<Java>),
}

impl Contestant {
    fn start(peer: &Peer, load: &Load) -> anyhow::Result<Self> {
        let mut contestant = match peer.side {
            Side::Here(run) => Self::Here(run),
            Side::Java(mode) => Self::Java(Box::new(Java::start("src/bin/stripes/Stripes.java", mode)?)),
        };
        let warm_ups = if matches!(contestant, Self::Java(_)) { JAVA_WARM_UPS } else { 1 };
        for _ in 0..warm_ups {
            contestant.run(load)?;
        }
        Ok(contestant)
    }

    /// Runs the side once. Returns nanoseconds per task, and those of processor time if known.
    fn run(&mut self, load: &Load) -> anyhow::Result<(f64, Option<f64>)> {
        let (wall, cpu) = match self {
            Self::Here(run) => {
                let (wall, cpu) = sides::measured(load, *run);
                (wall.as_nanos() as f64, Some(cpu.as_nanos() as f64))
            }
            Self::Java(java) => {
                let Load { tasks, keys, workers, skewed } = load;
                let (numbers, cpu) = java.run(&format!("{tasks} {keys} {workers} {}", u8::from(*skewed)))?;
                let wall = numbers.first().context("Java answers a number")?;
                (*wall as f64, cpu.map(|cpu| cpu.as_nanos() as f64))
            }
        };
        let tasks = f64::from(load.tasks);
        Ok((wall / tasks, cpu.map(|cpu| cpu / tasks)))
    }
}

/// A peer and ours: the times of both, measured one right after the other.
struct Compared<'a> {
    peer: &'a Peer,
    contestant: Contestant,
    wall: Vec<(f64, f64)>,
    cpu: Vec<(f64, f64)>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut objects = Vec::new();
    for &(row, keys, skewed) in &ROWS {
        if !args.rows.is_empty() && !args.rows.iter().any(|name| name == row) {
            continue;
        }
        let load = Load { tasks: args.tasks, keys, skewed, workers: args.workers.into() };
        let compared = measure(&args, &load)?;
        if !args.json {
            print(row, &load, &compared);
        }
        objects.extend(compared.iter().map(|compared| {
            let number =
                |pairs: &[_]| median_ratio(pairs).map_or("null".to_owned(), |ratio| format!("{ratio:.4}"));
            let (time, cpu, peer) = (number(&compared.wall), number(&compared.cpu), compared.peer.name);
            format!(r#"{{"row":"G {row}","peer":"{peer}","time_ratio":{time},"cpu_ratio":{cpu}}}"#)
        }));
    }
    if args.json {
        println!("[{}]", objects.join(",\n "));
    }
    Ok(())
}

fn measure(args: &Args, load: &Load) -> anyhow::Result<Vec<Compared<'static>>> {
    let is_wanted = |name: &str| {
        let name = name.to_lowercase();
        args.peers.is_empty() || args.peers.iter().any(|word| name.contains(&word.to_lowercase()))
    };
    let mut compared = Vec::new();
    for peer in PEERS.iter().filter(|peer| is_wanted(peer.name)) {
        match Contestant::start(peer, load) {
            Ok(contestant) => compared.push(Compared { peer, contestant, wall: Vec::new(), cpu: Vec::new() }),
            Err(error) => eprintln!("{} is left out: {error:#}", peer.name),
        }
    }
    let mut ours = Contestant::Here(sides::ours);
    ours.run(load)?; // not counted
    for _ in 0..args.rounds {
        for Compared { peer, contestant, wall, cpu } in &mut compared {
            let (our_wall, our_cpu) = ours.run(load)?;
            let (their_wall, their_cpu) = contestant.run(load).context(peer.name)?;
            wall.push((our_wall, their_wall));
            cpu.extend(our_cpu.zip(their_cpu));
        }
    }
    Ok(compared)
}

fn print(row: &str, load: &Load, compared: &[Compared<'static>]) {
    let Load { tasks, keys, workers, .. } = load;
    println!("\nG {row}: {tasks} tasks of {keys} keys, 1 submitting, {workers} working");
    println!("  {:<35}{:<26}{:<26}{:>6}{:>6}", "ns per task, median (range)", "time", "CPU", "ratio", "CPU");
    let ours = |pairs: fn(&Compared<'static>) -> Vec<(f64, f64)>| {
        range(&compared.iter().flat_map(pairs).map(|(ours, _)| ours).collect::<Vec<_>>())
    };
    let (wall, cpu) = (ours(|compared| compared.wall.clone()), ours(|compared| compared.cpu.clone()));
    println!("  {:<35}{:<26}{:<26}", "ours", wall, cpu);
    for Compared { peer, wall, cpu, .. } in compared {
        let theirs =
            |pairs: &[(f64, f64)]| range(&pairs.iter().map(|(_, theirs)| *theirs).collect::<Vec<_>>());
        let ratio = |pairs: &[(f64, f64)]| {
            median_ratio(pairs).map_or("–".to_owned(), |ratio| format!("{ratio:.2}"))
        };
        let goal = peer.goal.filter(|_| row == ROWS[0].0).zip(median_ratio(wall));
        let verdict = goal.map_or(String::new(), |(most, ratio)| {
            format!("  time ≤ {most}: {}", if ratio <= most { "met" } else { "missed" })
        });
        println!(
            "  {:<35}{:<26}{:<26}{:>6}{:>6}{verdict}",
            peer.name,
            theirs(wall),
            theirs(cpu),
            ratio(wall),
            ratio(cpu)
        );
    }
}

fn range(values: &[f64]) -> String {
    if values.is_empty() {
        return "–".to_owned();
    }
    let Spread { median, least, most } = spread(values);
    format!("{median:>6.0} ({least:.0} to {most:.0})")
}
