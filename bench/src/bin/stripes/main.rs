//! Compares `StripedExecutor` with other ways to keep the order of tasks with the same key.
//!
//! Run this comparison with `cargo run --release --bin stripes` in `bench/`. README.md describes the rows and
//! how they are measured.

mod board;
mod sides;

use std::time::Duration;

use bench::contest::{self, Cost, Flags, Goal, Measure, Peer};
use clap::Parser;

use board::{Board, Load};

/// Compares the striped executor with other ways to keep the order of tasks with the same key, side by side
///
/// Each row measures our side and each peer alternately. Each measurement checks that every task ran exactly
/// once and in its order.
#[derive(Parser)]
#[command(name = "stripes")]
struct Args {
    /// What to measure [default: all]: uniform-10k, uniform-1m, zipf-10k, zipf-1m
    #[arg(value_name = "ROW", value_parser = ["uniform-10k", "uniform-1m", "zipf-10k", "zipf-1m"])]
    rows: Vec<String>,

    /// How many tasks one measurement submits
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1000..=100_000_000))]
    tasks: u32,

    /// How many threads the underlying pool has
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=1000))]
    workers: u16,

    #[command(flatten)]
    flags: Flags,
}

/// The rows: each has a name, a number of keys, and a flag that says whether the keys are skewed.
/// The first row is workload G.
const ROWS: [(&str, u32, bool); 4] = [
    ("uniform-10k", 10_000, false),
    ("zipf-10k", 10_000, true),
    ("uniform-1m", 1_000_000, false),
    ("zipf-1m", 1_000_000, true),
];

#[derive(Clone, Copy)]
enum Side {
    Here(fn(&Load, &'static Board) -> (Duration, Duration)),
    Java(&'static str),
}

/// The peers, and the goals in all rows.
const PEERS: [(&str, Side, &[Goal]); 7] = [
    ("Java draining executor", Side::Java("draining"), &[Goal::Time(0.8)]),
    ("Java draining, ForkJoinPool", Side::Java("draining-fjp"), &[Goal::Time(1.0)]),
    ("Java SerialExecutor", Side::Java("serial"), &[]),
    ("DashMap of queues", Side::Here(sides::map_of_queues), &[]),
    ("fixed lanes", Side::Here(sides::fixed_lanes), &[]),
    ("unordered: crossbeam-channel pool", Side::Here(sides::unordered), &[]),
    ("unordered: our pool", Side::Here(sides::our_pool), &[]),
];

const UNIT: &str = "ns per task";

/// How often a Java peer runs its whole load before a run counts.
const JAVA_WARM_UPS: u32 = 3;

impl Side {
    fn start(self, load: Load) -> anyhow::Result<Measure> {
        let Load { tasks, keys, workers, skewed } = load;
        match self {
            Self::Here(run) => Ok(Box::new(move || {
                let (wall, cpu) = sides::measured(&load, run);
                Ok(Cost::of(wall, Some(cpu), tasks.into()))
            })),
            Self::Java(mode) => {
                let text = format!("{tasks} {keys} {workers} {}", u8::from(skewed));
                contest::java("src/bin/stripes/Stripes.java", mode, JAVA_WARM_UPS, text, tasks.into())
            }
        }
    }
}

fn main() -> anyhow::Result<()> {
    let Args { rows, tasks, workers, flags } = Args::parse();
    let mut findings = Vec::new();
    for (row, keys, skewed) in ROWS {
        if !rows.is_empty() && !rows.iter().any(|name| name == row) {
            continue;
        }
        let load = Load { tasks, keys, skewed, workers: workers.into() };
        let peers =
            PEERS.map(|(name, side, goals)| Peer { name, goals, start: Box::new(move || side.start(load)) });
        let compared = contest::hold(row, &flags, Side::Here(sides::ours).start(load)?, peers)?;
        if !flags.json {
            println!("\nG {row}: {tasks} tasks of {keys} keys, 1 submitting, {workers} working");
            contest::print(UNIT, 0, &compared);
        }
        findings.extend(compared.iter().flat_map(|compared| compared.findings(&format!("G {row}"), UNIT)));
    }
    flags.print(&findings);
    Ok(())
}
