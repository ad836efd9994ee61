//! Compares `ThreadPoolExecutor` with other pools.
//!
//! Run this comparison with `cargo run --release --bin pools` in `bench/`. README.md describes the rows and
//! how they are measured.

mod books;
mod gate;
mod load;
mod ours;
mod peers;
mod rows;

use std::process::Command;

use anyhow::{Context, ensure};
use bench::contest::{self, Flags};
use bench::programs::{self, Workspace};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use load::Load;
use rows::{ROWS, Row, SOURCE, Threads};

/// Compares the executor's pool with other pools, side by side
///
/// Each row measures our side and each peer alternately. The output shows medians, minima and maxima, the
/// median of the ratios of all rounds (our value divided by the peer's), and the goal if there is one. Each
/// measurement checks that every task ran exactly once.
#[derive(Parser)]
#[command(name = "pools")]
struct Args {
    /// What to measure: A, B, C, D (both), D-blocking, D-caller-runs, F, I, 4x4, 8x8, unequal [default: all
    /// of these]; or gate, which measures the cost of a submission and of a claim, and estimates both for many cores
    #[arg(value_name = "ROW", value_parser = chosen)]
    rows: Vec<Chosen>,

    /// How many tasks one measurement submits, in all rows but I [default: each row's own number]
    #[arg(long, value_parser = clap::value_parser!(u64).range(10..=100_000_000))]
    tasks: Option<u64>,

    /// How many threads submit, in the rows A, B, D, 4x4, 8x8 and unequal [default: each row's own number]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    submitters: Option<u16>,

    /// How many threads each pool has, in all rows but I [default: each row's own number]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    workers: Option<u16>,

    #[command(flatten)]
    flags: Flags,
}

const UNIT: &str = "ns per task";

/// The meaning of the name of a row on the command line.
#[derive(Clone)]
enum Chosen {
    Rows(Vec<&'static Row>),
    Gate,
}

fn chosen(word: &str) -> Result<Chosen, String> {
    if word == "gate" {
        return Ok(Chosen::Gate);
    }
    let rows = rows::called(word);
    if rows.is_empty() {
        let names: Vec<_> = ROWS.iter().map(|row| row.name.replace(' ', "-")).collect();
        return Err(format!(
            "there is no such row; there are {}, D for both of it, and gate",
            names.join(", ")
        ));
    }
    Ok(Chosen::Rows(rows))
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if let Err(message) = args.check() {
        Args::command().error(ErrorKind::ArgumentConflict, message).exit();
    }
    let flags = &args.flags;
    let mut findings = Vec::new();
    for row in args.chosen_rows() {
        let load = args.load(row);
        let label = label(row, &load);
        let compared =
            contest::hold(row.name, flags, row.ours.start(load)?, row.peers.iter().map(|peer| peer.of(load)));
        let compared = compared.with_context(|| format!("row {} could not be measured", row.name))?;
        if compared.is_empty() {
            eprintln!("row {} is left out: it has none of the peers that were asked for", row.name);
            continue;
        }
        findings.extend(compared.iter().flat_map(|compared| compared.findings(&label, UNIT)));
        if !flags.json {
            describe(row, &label, &load, flags.rounds);
            contest::print(UNIT, 0, &compared);
            if row.threads == Threads::Measured {
                memory(flags)?;
            }
        }
    }
    flags.print(&findings);
    if args.rows.iter().any(|chosen| matches!(chosen, Chosen::Gate)) {
        gate::report();
    }
    Ok(())
}

impl Args {
    /// Checks the rules about flags that `clap` cannot check.
    fn check(&self) -> Result<(), String> {
        if self.flags.json && self.rows.iter().any(|chosen| matches!(chosen, Chosen::Gate)) {
            return Err("gate measures no ratios: leave out --json".to_owned());
        }
        for Row { name, threads, .. } in self.named_rows() {
            if self.submitters.is_some() && *threads != Threads::Any {
                return Err(format!("row {name} has one submitter by definition: leave out --submitters"));
            }
            if (self.workers.is_some() || self.tasks.is_some()) && *threads == Threads::Measured {
                return Err(format!("row {name} measures threads: leave out --tasks and --workers"));
            }
        }
        self.flags.check(ROWS.iter().flat_map(|row| row.peers).map(|peer| peer.name))
    }

    fn named_rows(&self) -> impl Iterator<Item = &'static Row> {
        self.rows.iter().flat_map(|chosen| match chosen {
            Chosen::Rows(rows) => rows.clone(),
            Chosen::Gate => Vec::new(),
        })
    }

    fn chosen_rows(&self) -> Vec<&'static Row> {
        if self.rows.is_empty() { ROWS.iter().collect() } else { self.named_rows().collect() }
    }

    fn load(&self, row: &Row) -> Load {
        let Load { tasks, submitters, workers } = row.load;
        match row.threads {
            Threads::Measured => row.load,
            threads => Load {
                tasks: self.tasks.unwrap_or(tasks),
                submitters: match self.submitters {
                    Some(submitters) if threads == Threads::Any => submitters.into(),
                    _ => submitters,
                },
                workers: self.workers.map_or(workers, usize::from),
            },
        }
    }
}

/// Returns the name of the row, and the numbers of threads that the command line has changed.
fn label(row: &Row, load: &Load) -> String {
    let Load { submitters, workers, .. } = *load;
    if (submitters, workers) == (row.load.submitters, row.load.workers) {
        return row.name.to_owned();
    }
    format!("{}, {submitters} to {workers}", row.name)
}

fn describe(row: &Row, label: &str, load: &Load, rounds: u32) {
    let Load { tasks, submitters, workers } = load;
    let threads = match row.threads {
        Threads::Measured => String::new(),
        _ => format!(", {submitters} submitting, {workers} working"),
    };
    println!("\n{label}: {}{threads}; {tasks} tasks, {rounds} rounds", row.title);
}

/// Measures the cost of idle threads in a separate process, because the allocator of that process counts all
/// allocations.
fn memory(flags: &Flags) -> anyhow::Result<()> {
    let program = programs::binary(Workspace::Bench, "bench", "pool_memory")?;
    let status = Command::new(program).status().context("cannot run pool_memory")?;
    ensure!(status.success(), "pool_memory failed");
    if !flags.wants("Java", false) {
        return Ok(());
    }
    match contest::java(SOURCE, "resident", 0, "200 1 1".to_owned(), 1024.0) {
        Err(error) => eprintln!("Java's idle threads are left out: {error:#}"),
        Ok(mut resident) => {
            let kib = resident()?.wall; // bytes instead of nanoseconds
            println!("  resident for each idle thread of Java's ThreadPoolExecutor: {kib:.1} KiB");
        }
    }
    Ok(())
}
