//! Compares `ScheduledThreadPoolExecutor` with timers of other crates and of Java.
//!
//! Run this comparison with `cargo run --release --bin timers` in `bench/`. README.md describes the rows and
//! how they are measured.

mod rows;
mod sides;

use anyhow::{Context, ensure};
use bench::contest::Flags;
use bench::figures::{range, shown};
use bench::finding::{Finding, Goal};
use bench::java::Java;
use clap::Parser;

use rows::{Figure, ROWS, Row};
use sides::Side;

/// Compares the scheduled pool with other timers, side by side
///
/// Each row measures our side and each peer alternately. Each measurement checks that no task was lost and
/// that no task ran before its time.
#[derive(Parser)]
#[command(name = "timers")]
struct Args {
    /// What to measure [default: all]: insert, cancel, lateness, burst
    #[arg(value_name = "ROW", value_parser = ROWS.map(|row| row.name))]
    rows: Vec<String>,

    #[command(flatten)]
    flags: Flags,
}

enum Peer {
    Here(Side),
    Java,
}

/// The side that measures only the best possible value of the row `lateness`.
const BARE_THREAD: &str = "a bare thread that sleeps, no pool";

/// The peer to which the goals apply.
const JAVA: &str = "Java ScheduledThreadPoolExecutor";

const PEERS: [(&str, Peer); 4] = [
    (JAVA, Peer::Java),
    ("scheduled-thread-pool", Peer::Here(sides::scheduled_thread_pool)),
    ("tokio", Peer::Here(sides::tokio)),
    (BARE_THREAD, Peer::Here(sides::bare_thread)),
];

/// How often a Java peer runs a row before a run counts.
const JAVA_WARM_UPS: u32 = 5;

/// The result of a measurement: a number for each figure of the row.
type Figures = Vec<f64>;

enum Contestant {
    Here(Side),
    Java(Box<Java>),
}

impl Contestant {
    fn start(peer: &Peer, row: &Row) -> anyhow::Result<Self> {
        let mut contestant = match peer {
            Peer::Here(side) => Self::Here(*side),
            Peer::Java => Self::Java(Box::new(Java::start("src/bin/timers/Timers.java", "stpe")?)),
        };
        let warm_ups = if matches!(contestant, Self::Java(_)) { JAVA_WARM_UPS } else { 1 };
        for _ in 0..warm_ups {
            contestant.run(row)?;
        }
        Ok(contestant)
    }

    fn run(&mut self, row: &Row) -> anyhow::Result<Figures> {
        let numbers = match self {
            Self::Here(side) => side(row),
            Self::Java(java) => {
                let (numbers, _) = java.run(&format!("{} {}", row.name, row.tasks))?;
                numbers
            }
        };
        ensure!(numbers.len() == row.figures.len(), "{numbers:?} are not the figures of {}", row.name);
        Ok(numbers.iter().zip(row.figures).map(|(&number, figure)| number as f64 / figure.unit).collect())
    }
}

/// A peer and our pool: the figures of the two sides were measured one right after the other.
struct Compared {
    peer: &'static str,
    /// `None` if the peer could not be started.
    contestant: Option<Contestant>,
    rounds: Vec<(Figures, Figures)>,
}

impl Compared {
    fn finding(&self, row: &Row, n: usize) -> Finding {
        let Figure { name, label, goal, .. } = row.figures[n];
        let goal = (self.peer == JAVA).then_some(Goal::AtMost(goal));
        let (row, unit) = (format!("H {}", row.name), label.split(',').next().unwrap_or(label));
        Finding::new(&row, self.peer, name, unit, &self.pairs(n), goal)
    }

    /// Returns the pairs of our values and the peer's values for one figure.
    fn pairs(&self, figure: usize) -> Vec<(f64, f64)> {
        self.rounds.iter().map(|(ours, theirs)| (ours[figure], theirs[figure])).collect()
    }
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let mut findings = Vec::new();
    for row in ROWS.iter().filter(|row| args.rows.is_empty() || args.rows.iter().any(|name| name == row.name))
    {
        let compared = measure(&args, row)?;
        if !args.flags.json {
            print(row, &compared);
        }
        let of = |peer: &Compared| (0..row.figures.len()).map(|n| peer.finding(row, n)).collect::<Vec<_>>();
        findings.extend(compared.iter().flat_map(of));
    }
    args.flags.print(&findings);
    Ok(())
}

fn measure(args: &Args, row: &Row) -> anyhow::Result<Vec<Compared>> {
    let is_wanted =
        |name: &str| args.flags.wants(name, name == JAVA) && (row.name == "lateness" || name != BARE_THREAD);
    let mut compared = Vec::new();
    for (peer, side) in PEERS.iter().filter(|(name, _)| is_wanted(name)) {
        let contestant =
            Contestant::start(side, row).inspect_err(|error| eprintln!("{peer} is left out: {error:#}"));
        compared.push(Compared { peer, contestant: contestant.ok(), rounds: Vec::new() });
    }
    let mut ours = Contestant::Here(sides::ours);
    ours.run(row)?; // not counted
    for _ in 0..args.flags.rounds {
        for Compared { peer, contestant, rounds } in &mut compared {
            let Some(contestant) = contestant else { continue };
            let our_figures = ours.run(row)?;
            rounds.push((our_figures, contestant.run(row).context(*peer)?));
        }
    }
    Ok(compared)
}

fn print(row: &Row, compared: &[Compared]) {
    println!("\nH {}: {}", row.name, row.what);
    for (n, figure) in row.figures.iter().enumerate() {
        println!("  {:<36}{:<28}{:>6}", figure.label, "median (range)", "ratio");
        let ours: Vec<f64> = compared.iter().flat_map(|peer| peer.pairs(n)).map(|(ours, _)| ours).collect();
        println!("  {:<36}{:<28}", "ours", range(&ours, 1));
        for peer in compared {
            let pairs = peer.pairs(n);
            let theirs: Vec<f64> = pairs.iter().map(|(_, theirs)| *theirs).collect();
            let found = peer.finding(row, n);
            let (ratio, told) = (shown(found.ratio), found.told());
            println!("  {:<36}{:<28}{ratio:>6}  {told}", peer.peer, range(&theirs, 1));
        }
    }
}
