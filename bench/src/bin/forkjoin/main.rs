//! Compares the functions `fork_join::join` and `par_sort_unstable` with other pools.
//!
//! Run this comparison with `cargo run --release --bin forkjoin` in `bench/`. README.md describes the
//! rows and how they are measured.

mod rows;
mod sides;
mod sorts;
mod work;

use bench::contest::{self, Flags};
use clap::Parser;

use rows::NAMES;

/// Compares the fork/join pool with others, side by side
///
/// Each row measures our side and each peer alternately. Each measurement checks its result.
#[derive(Parser)]
#[command(name = "forkjoin")]
struct Args {
    /// What to measure [default: all but those with 4 and 8 workers]: see README.md
    #[arg(value_name = "ROW", value_parser = NAMES)]
    rows: Vec<String>,

    /// How many workers the pools have; the row E1-overhead has one
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    #[command(flatten)]
    flags: Flags,
}

fn main() -> anyhow::Result<()> {
    let Args { rows, workers, flags } = Args::parse();
    let mut findings = Vec::new();
    for name in NAMES.into_iter().filter(|name| rows.is_empty() || rows.iter().any(|row| row == name)) {
        let rows::Row { what, unit, ours, peers } = rows::row(name, workers.into());
        let compared = contest::hold(name, &flags, ours, peers)?;
        let name = if workers == 2 { name.to_owned() } else { format!("{name}, {workers} workers") };
        if !flags.json {
            println!("\n{name}: {what}");
            contest::print(unit, 2, &compared);
        }
        findings.extend(compared.iter().flat_map(|compared| compared.findings(&name, unit)));
    }
    flags.print(&findings);
    Ok(())
}
