//! Measures the cost of a line for callers that continue at once, for callers that wait for the system, and
//! for callers that wait for the disk.
//!
//! ```sh
//! cargo run --release --example what_sure_costs
//! ```
//!
//! The file is in the folder `target`, because a temporary folder may be in memory, without a
//! disk.
//!
//! This example belongs to the book's chapter "What *accepted* promises".

use logservice::sink::FileSink;
use logservice::{Durability, Level, LogService};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

const WAIT: Duration = Duration::from_mins(1);

fn main() -> Result<(), Box<dyn Error>> {
    let executable = std::env::current_exe()?;
    let folder = tempfile::tempdir_in(executable.parent().unwrap_or(Path::new(".")))?;
    println!("{:<34}{:>14}", "after each line the caller", "one line takes");
    for (what, lines, durability) in [
        ("goes on", 200_000, None),
        ("waits until the system has it", 2_000, Some(Durability::System)),
        ("waits until it is on the disk", 200, Some(Durability::Disk)),
    ] {
        let log = LogService::builder().start(FileSink::builder(folder.path().join("log")).open()?)?;
        let begun = Instant::now();
        for number in 0..lines {
            log.say(Level::Info, "what_sure_costs", format_args!("line {number}"))?;
            if let Some(durability) = durability {
                log.flush(durability, WAIT)?;
            }
        }
        let each = begun.elapsed() / lines;
        println!("{what:<34}{:>11.1} µs", each.as_secs_f64() * 1e6);
    }
    Ok(())
}
