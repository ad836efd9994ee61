//! Tiny tasks through a pool: `ThreadPoolExecutor` beside the pool that anybody would write around `crossbeam-channel`.
//!
//! Run it with `cargo run --release --bin pools` in `bench/`. Each row runs the two in turns, A B A B …, in one process;
//! the numbers are medians, and what counts is the ratio. README.md says what the rows are.

mod rows;

use std::time::Duration;

use clap::Parser;
use cpu_time::ProcessTime;

use rows::{ROWS, Row};

/// Compares the executor's pool with one made of a crossbeam channel, for tasks that do next to nothing.
#[derive(Parser)]
struct Args {
    /// The rows to measure, by their letters; all of them if none is given.
    #[arg(value_name = "ROW")]
    rows: Vec<String>,

    /// How many tasks one measurement submits.
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    tasks: u64,

    /// How often each side is measured.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

fn main() {
    let args = Args::parse();
    let chosen: Vec<&Row> = ROWS.iter().filter(|row| is_chosen(row, &args.rows)).collect();
    if let Some(unknown) = args.rows.iter().find(|name| !ROWS.iter().any(|row| row.name == **name)) {
        let names: Vec<_> = ROWS.iter().map(|row| row.name).collect();
        eprintln!("there is no row {unknown}; there are {}", names.join(", "));
        std::process::exit(2);
    }
    println!("{} tasks, {} workers, medians of {} rounds, per task:", args.tasks, rows::WORKERS, args.rounds);
    println!("{:<44}{:>17}{:>17}{:>17}", "", "executor", "channel", "ratio");
    println!("{:<44}{:>9}{:>8}{:>9}{:>8}{:>9}{:>8}", "", "time", "CPU", "time", "CPU", "time", "CPU");
    for row in chosen {
        let (ours, theirs) = measure(row, args.tasks, args.rounds);
        println!(
            "{:<3}{:<41}{:>6.0} ns{:>5.0} ns{:>6.0} ns{:>5.0} ns{:>9.2}{:>8.2}",
            row.name,
            row.title,
            ours.time,
            ours.cpu,
            theirs.time,
            theirs.cpu,
            ours.time / theirs.time,
            ours.cpu / theirs.cpu,
        );
    }
}

fn is_chosen(row: &Row, names: &[String]) -> bool {
    names.is_empty() || names.iter().any(|name| name == row.name)
}

/// Nanoseconds per task.
struct Cost {
    time: f64,
    cpu: f64,
}

/// Runs both sides in turns, so that whatever else the machine does meanwhile hits both.
fn measure(row: &Row, tasks: u64, rounds: u32) -> (Cost, Cost) {
    (row.ours)(tasks / 10);
    (row.theirs)(tasks / 10);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        ours.push(once(row.ours, tasks));
        theirs.push(once(row.theirs, tasks));
    }
    (median(&ours, tasks), median(&theirs, tasks))
}

fn once(run: fn(u64) -> Duration, tasks: u64) -> (Duration, Duration) {
    let cpu = ProcessTime::now();
    let time = run(tasks);
    (time, cpu.elapsed())
}

fn median(samples: &[(Duration, Duration)], tasks: u64) -> Cost {
    let middle = |of: fn(&(Duration, Duration)) -> Duration| {
        let mut sorted: Vec<_> = samples.iter().map(of).collect();
        sorted.sort_unstable();
        sorted[sorted.len() / 2].as_nanos() as f64 / tasks as f64
    };
    Cost { time: middle(|sample| sample.0), cpu: middle(|sample| sample.1) }
}
