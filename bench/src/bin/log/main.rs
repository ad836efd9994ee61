//! Compares `LogService` with other loggers that write lines to a file.
//!
//! Run this comparison with `cargo run --release --bin log` in `bench/`. README.md describes the rows and
//! how they are measured.

mod books;
mod load;
mod off;
mod ours;
mod peers;
mod process;
mod report;
mod rows;
mod sides;

use std::path::PathBuf;
use std::{env, fs};

use anyhow::{Context, ensure};
use bench::contest::Flags;
use clap::Parser;

use books::Books;
use load::Load;
use process::Order;
use rows::Row;
use sides::{SPDLOG, Side};

/// Compares the log service with other loggers, side by side
///
/// Each row measures our side and each peer alternately, each of them in a separate process. The program
/// reads the file back each time. Every line must be in the file exactly once, complete, and in the order of
/// its thread; all other lines count as lost.
#[derive(Parser)]
#[command(name = "log")]
struct Args {
    /// What to measure [default: all]
    #[arg(value_name = "ROW")]
    rows: Vec<Row>,

    /// How many threads log
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    threads: u32,

    /// How many lines each of them logs
    #[arg(long, default_value_t = 250_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    lines: u32,

    /// The folder of the files, each of some 100 MB until it is read back [default: the folder for temporary files]
    #[arg(long)]
    folder: Option<PathBuf>,

    #[command(flatten)]
    flags: Flags,

    /// Run as the process that measures this side, once
    #[arg(long, hide = true, requires = "file")]
    side: Option<String>,

    /// The file to which this process logs
    #[arg(long, hide = true)]
    file: Option<PathBuf>,
}

/// The result of one run of a logger.
struct Sample {
    numbers: Vec<u64>,
    books: Option<Books>,
}

/// A logger and our service: the results of both, which were measured one right after the other.
struct Compared {
    peer: &'static Side,
    rounds: Vec<(Sample, Sample)>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    if let (Some(name), Some(file), [row]) = (&args.side, &args.file, &args.rows[..]) {
        let side = sides::of(*row).find(|side| side.name == name).context("there is no such side")?;
        process::answer(&side.measured(args.load(), file)?);
        return Ok(());
    }
    let mut findings = Vec::new();
    for &row in if args.rows.is_empty() { &Row::ALL[..] } else { &args.rows } {
        let compared = args.measure(row)?;
        if !args.flags.json {
            report::table(row, args.load(), &compared);
        }
        findings.extend(report::findings(row, args.load(), &compared));
    }
    args.flags.print(&findings);
    Ok(())
}

impl Args {
    fn load(&self) -> Load {
        Load { threads: self.threads, lines: self.lines }
    }

    fn measure(&self, row: Row) -> anyhow::Result<Vec<Compared>> {
        let folder = tempfile::tempdir_in(self.folder.clone().unwrap_or_else(env::temp_dir))?;
        let file = folder.path().join("load.log");
        let run = |side: &Side| {
            let sample = Order { side: side.name, row: &row.name(), load: self.load(), file: &file };
            let numbers = sample.carried_out().context(side.name)?;
            let books = row.has_log().then(|| Books::of(&file, self.load())).transpose();
            let books = books.with_context(|| format!("the log of {} cannot be read", side.name))?;
            let _ = fs::remove_file(&file); // the next run must not append to it
            anyhow::Ok(Sample { numbers, books })
        };
        let mut sides = sides::of(row);
        let ours = sides.next().context("ours is the first")?;
        let run_ours = || {
            let sample = run(ours)?;
            let wrong = sample.books.as_ref().filter(|books| books.wrong(self.load()) > 0);
            ensure!(wrong.is_none(), "of {} lines ours has {wrong:?}", self.load().total());
            Ok(sample)
        };
        run_ours()?; // not counted
        let mut compared = Vec::new();
        let has_goal = |peer: &Side| {
            let own = peer.name == SPDLOG && row == Row::Memory; // the rounds of ours need a peer
            own || row.figures().iter().any(|figure| figure.goal_beside(peer.name).is_some())
        };
        for peer in sides.filter(|peer| self.flags.wants(peer.name, has_goal(peer))) {
            match run(peer) {
                Ok(_) => compared.push(Compared { peer, rounds: Vec::new() }),
                Err(error) => eprintln!("{error:#}, and is left out"),
            }
        }
        for _ in 0..self.flags.rounds {
            for Compared { peer, rounds } in &mut compared {
                let ours = run_ours()?;
                rounds.push((ours, run(peer)?));
            }
        }
        Ok(compared)
    }
}
