//! The command line of `cargo course`.

use clap::{Args, Parser, Subcommand};
use course::book;
use course::workspace::Workspace;
use std::path::PathBuf;
use std::process::ExitCode;

/// The course on task execution and thread pools.
#[derive(Parser)]
#[command(name = "course", bin_name = "cargo course", version)]
struct Course {
    #[command(flatten)]
    place: Place,

    #[command(subcommand)]
    command: Command,
}

#[derive(Args)]
struct Place {
    /// The directory the project was cloned into, if it isn't found by itself
    #[arg(long, global = true, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Work on the book
    #[command(subcommand)]
    Book(BookCommand),
}

#[derive(Subcommand)]
enum BookCommand {
    /// Build the book without serving it, and print where it is
    Build,
}

fn main() -> ExitCode {
    match run(Course::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(course: Course) -> anyhow::Result<()> {
    let workspace = match course.place.workspace {
        Some(root) => Workspace::at(root)?,
        None => Workspace::find()?,
    };
    match course.command {
        Command::Book(BookCommand::Build) => {
            println!("{}", book::build(&workspace)?.join("index.html").display());
            Ok(())
        }
    }
}
