//! Shows each step on the way to a log service, in the schedule that reveals the step's fault.
//!
//! The schedules do not depend on chance. If a fault lies in a gap between two steps of the code, the
//! schedule stops the thread in that gap. If a fault depends on the duration of a write, the schedule
//! delays the write.

mod scene;
mod scenes;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use command_line::FAILED;
use logservice_road::properties::Property;
use logservice_road::table::{Step, steps};

/// Shows each step on the road to a log service, in the schedule that reveals the step's fault
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Only this step
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=9), conflicts_with = "table")]
    step: Option<u8>,
    /// Only the table of steps and promises
    #[arg(long)]
    table: bool,
}

fn main() -> ExitCode {
    command_line::ended("road", FAILED, run(&Args::parse()))
}

fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let steps = steps();
    if !args.table {
        for step in steps.iter().filter(|step| args.step.is_none_or(|only| usize::from(only) == step.number))
        {
            show(step, &mut out)?;
        }
    }
    if args.step.is_none() {
        table(&steps, &mut out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn show(step: &Step, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "step {}: {}", step.number, step.name)?;
    for scene in scenes::of(step.number) {
        for line in scene() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn table(steps: &[Step], out: &mut impl Write) -> io::Result<()> {
    write!(out, "{:26}", "")?;
    for step in steps {
        write!(out, "{:>8}", step.number)?;
    }
    writeln!(out)?;
    for property in Property::ALL {
        write!(out, "{property:26}")?;
        for step in steps {
            write!(out, "{:>8}", if step.keeps(property) { "kept" } else { "broken" })?;
        }
        writeln!(out)?;
    }
    Ok(())
}
