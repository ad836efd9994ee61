//! Compares `fork_join::join` and `par_sort_unstable` with other pools.
//!
//! Run it with `cargo run --release --bin forkjoin` in `bench/`. README.md says what the rows are and how
//! they are measured.

mod rows;
mod sides;
mod sorts;
mod work;

use anyhow::Context;
use bench::figures::{Spread, median_ratio, spread};
use clap::Parser;

use rows::{Measure, NAMES, Row};

/// Compares the fork/join pool with others, side by side
///
/// Each row measures ours and each peer in turns. Each measurement checks its result.
#[derive(Parser)]
#[command(name = "forkjoin")]
struct Args {
    /// What to measure [default: all but those with 4 and 8 workers]: see README.md
    #[arg(value_name = "ROW", value_parser = NAMES)]
    rows: Vec<String>,

    /// How often each side is measured
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// How many workers the pools have; the row E1-overhead has one
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// Measure only peers whose name contains this
    #[arg(long = "peer", value_name = "WORD")]
    peers: Vec<String>,

    /// Print an array of {`row`, `peer`, `time_ratio`, `cpu_ratio`} and nothing else
    #[arg(long)]
    json: bool,
}

/// A peer and ours: the costs of both, measured one right after the other.
struct Compared {
    peer: &'static str,
    goal: Option<f64>,
    measure: Measure,
    wall: Vec<(f64, f64)>,
    cpu: Vec<(f64, f64)>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut objects = Vec::new();
    for name in
        NAMES.into_iter().filter(|name| args.rows.is_empty() || args.rows.iter().any(|row| row == name))
    {
        let mut row = rows::row(name, args.workers.into());
        let compared = compare(&args, &mut row)?;
        let name =
            if args.workers == 2 { name.to_owned() } else { format!("{name}, {} workers", args.workers) };
        if !args.json {
            print(&name, &row, &compared);
        }
        objects.extend(compared.iter().map(|Compared { peer, wall, cpu, .. }| {
            let number =
                |pairs: &[_]| median_ratio(pairs).map_or("null".into(), |ratio| format!("{ratio:.4}"));
            let (time, cpu) = (number(wall), number(cpu));
            format!(r#"{{"row":"{name}","peer":"{peer}","time_ratio":{time},"cpu_ratio":{cpu}}}"#)
        }));
    }
    if args.json {
        println!("[{}]", objects.join(",\n "));
    }
    Ok(())
}

fn compare(args: &Args, row: &mut Row) -> anyhow::Result<Vec<Compared>> {
    let is_wanted = |name: &str| {
        let name = name.to_lowercase();
        args.peers.is_empty() || args.peers.iter().any(|word| name.contains(&word.to_lowercase()))
    };
    let mut compared = Vec::new();
    for peer in std::mem::take(&mut row.peers).into_iter().filter(|peer| is_wanted(peer.name)) {
        match (peer.start)() {
            Ok(mut measure) => {
                measure()?; // not counted
                let (wall, cpu) = (Vec::new(), Vec::new());
                compared.push(Compared { peer: peer.name, goal: peer.goal, measure, wall, cpu });
            }
            Err(error) => eprintln!("{} is left out: {error:#}", peer.name),
        }
    }
    (row.ours)()?;
    for _ in 0..args.rounds {
        for Compared { peer, measure, wall, cpu, .. } in &mut compared {
            let (our_wall, our_cpu) = (row.ours)()?;
            let (their_wall, their_cpu) = measure().context(*peer)?;
            wall.push((our_wall, their_wall));
            cpu.extend(our_cpu.zip(their_cpu));
        }
    }
    Ok(compared)
}

fn print(name: &str, row: &Row, compared: &[Compared]) {
    println!("\n{name}: {}", row.what);
    println!("  {:<34}{:<30}{:<30}{:>6}{:>6}", row.unit, "time, median (range)", "CPU", "ratio", "CPU");
    let ours = |pairs: fn(&Compared) -> &Vec<(f64, f64)>| {
        range(compared.iter().flat_map(pairs).map(|(ours, _)| *ours))
    };
    println!("  {:<34}{:<30}{:<30}", "ours", ours(|compared| &compared.wall), ours(|compared| &compared.cpu));
    for Compared { peer, goal, wall, cpu, .. } in compared {
        let theirs = |pairs: &[(f64, f64)]| range(pairs.iter().map(|(_, theirs)| *theirs));
        let ratio = |pairs: &[_]| median_ratio(pairs).map_or("–".into(), |ratio| format!("{ratio:.2}"));
        let verdict = goal.zip(median_ratio(wall)).map_or(String::new(), |(most, ratio)| {
            format!("  time ≤ {most}: {}", if ratio <= most { "met" } else { "missed" })
        });
        println!(
            "  {peer:<34}{:<30}{:<30}{:>6}{:>6}{verdict}",
            theirs(wall),
            theirs(cpu),
            ratio(wall),
            ratio(cpu)
        );
    }
}

fn range(values: impl Iterator<Item = f64>) -> String {
    let values: Vec<f64> = values.collect();
    if values.is_empty() {
        return "–".to_owned();
    }
    let Spread { median, least, most } = spread(&values);
    format!("{median:>7.2} ({least:.2} to {most:.2})")
}
