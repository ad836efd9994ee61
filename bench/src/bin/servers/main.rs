//! Compares web servers: the stages of the course and their peers.
//!
//! Run this comparison with `cargo run --release --bin servers` in `bench/`. README.md describes the rows and
//! how they are measured.

mod calls;
mod contest;
mod idle;
mod load;
mod overload;
mod report;
mod rows;
mod rude;
mod sides;
mod site;
mod slow;
mod soak;
mod visitor;

use std::time::Duration;

use anyhow::Context;
use bench::contest::Flags;
use bench::finding::Finding;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use contest::Order;
use rows::{Measure, Peer, ROWS, Row};
use sides::{Side, Starter};

/// Compares the course's web servers with others, side by side
///
/// Each row measures our side and each peer alternately. The output shows medians, minima and maxima, the
/// median of the ratios of all rounds (our value divided by the peer's), and the goal if there is one. A
/// wrong answer ends the comparison.
#[derive(Parser)]
#[command(name = "servers")]
struct Args {
    /// What to measure: keep-alive, pipelined, file, close, 1000, reactor, pooled, overload, slow, idle,
    /// calls [default: all of these]; or soak, which checks whether a server grows in many minutes of polite
    /// and slow clients
    #[arg(value_name = "ROW", value_parser = chosen)]
    rows: Vec<Chosen>,

    /// How many seconds each measurement takes
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=60))]
    seconds: u16,

    /// Measure this stage instead of the stage that a row names
    #[arg(long, value_name = "STAGE")]
    ours: Option<Side>,

    /// How many minutes `soak` takes
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1440))]
    minutes: u16,

    #[command(flatten)]
    flags: Flags,
}

/// The rows that a name on the command line means.
#[derive(Clone, Copy)]
enum Chosen {
    Row(&'static Row),
    Soak,
}

fn chosen(word: &str) -> Result<Chosen, String> {
    if word == "soak" {
        return Ok(Chosen::Soak);
    }
    let names = || ROWS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    let row =
        rows::called(word).ok_or_else(|| format!("there is no such row; there are {}, and soak", names()));
    row.map(Chosen::Row)
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if let Err(message) = args.check() {
        Args::command().error(ErrorKind::ArgumentConflict, message).exit();
    }
    let starter = Starter::new()?;
    let chosen =
        if args.rows.is_empty() { ROWS.iter().map(Chosen::Row).collect() } else { args.rows.clone() };
    let mut findings = Vec::new();
    for chosen in chosen {
        match chosen {
            Chosen::Row(row) => findings.extend(
                args.measure(&starter, row)
                    .with_context(|| format!("row {} could not be measured", row.name))?,
            ),
            Chosen::Soak => soak::run(&starter, args.ours.unwrap_or(Side::MultiReactor), args.minutes)?,
        }
    }
    for found in &mut findings {
        found.row.insert_str(0, "servers: ");
    }
    args.flags.print(&findings);
    Ok(())
}

impl Args {
    /// Checks the rules about flags that `clap` cannot check.
    fn check(&self) -> Result<(), String> {
        if self.flags.json && self.rows.iter().any(|chosen| matches!(chosen, Chosen::Soak)) {
            return Err("soak measures no ratios: leave out --json".to_owned());
        }
        self.flags.check(ROWS.iter().flat_map(|row| row.peers).map(|peer| peer.side.name()))
    }

    fn measure(&self, starter: &Starter, row: &Row) -> anyhow::Result<Vec<Finding>> {
        let ours = self.ours.unwrap_or(row.ours);
        if !starter.has(ours) {
            eprintln!("row {} is left out: {} is missing", row.name, ours.name());
            return Ok(Vec::new());
        }
        // A missing peer of a contest is in the table, so that its goals are not overlooked.
        let can_be_missing = matches!(row.measure, Measure::Throughput(_));
        let is_wanted = |peer: &&Peer| self.flags.wants(peer.side.name(), peer.has_goal(row));
        let peers = row.peers.iter().filter(is_wanted).map(|peer| peer.side);
        let peers = peers.filter(|&side| side != ours && (can_be_missing || starter.has(side)));
        let order = Order {
            row,
            starter,
            sides: std::iter::once(ours).chain(peers).collect(),
            rounds: self.flags.rounds,
            duration: Duration::from_secs(self.seconds.into()),
            is_json: self.flags.json,
        };
        match &row.measure {
            Measure::Throughput(load) => contest::hold(&order, load),
            Measure::Overload => overload::measure(&order),
            Measure::SlowClients => slow::measure(&order),
            Measure::Idle => idle::measure(&order),
            Measure::Calls => calls::measure(&order),
        }
    }
}
