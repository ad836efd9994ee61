//! The command line of `cargo course`.

use clap::{Args, Parser, Subcommand};
use course::workspace::Workspace;
use course::{book, load, serve};
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

/// The course on task execution and thread pools.
///
/// Without a command it does what `serve` does: it builds the book, serves it from the course's own thread
/// pool, and prints the address to open in a browser. Ctrl-C stops it.
#[derive(Parser)]
#[command(
    name = "course",
    bin_name = "cargo course",
    version,
    args_conflicts_with_subcommands = true,
    after_help = EXAMPLES
)]
struct Course {
    #[command(flatten)]
    serve: Serve,

    #[command(flatten)]
    place: Place,

    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "Examples:
  cargo course                          read the book
  cargo course --addr localhost:9000    … at an address of your choice
  cargo course book build               only build it; the files can be copied and read anywhere

The exit code is 0 after an orderly end, 1 if something failed, 2 for wrong usage,
and 130 if a second Ctrl-C ended it at once.";

#[derive(Args)]
struct Serve {
    /// Where to listen; port 0 lets the system choose [default: the first free port of 127.0.0.1 from 8000]
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    addr: Option<SocketAddr>,

    /// How many threads serve connections, one connection at a time each
    #[arg(long, value_name = "COUNT", default_value = "100")]
    threads: NonZeroUsize,
}

#[derive(Args)]
struct Place {
    /// The directory that the project was cloned into, if it isn't found by itself
    #[arg(long, global = true, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Build the book and serve it
    Serve(Serve),
    /// Work on the book
    #[command(subcommand)]
    Book(BookCommand),
    /// Send load to a server, or to stages of the course to compare them
    Load(load::LoadArgs),
}

#[derive(Subcommand)]
enum BookCommand {
    /// Build the book without serving it, and print the path of its first page
    Build,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected HOST:PORT, such as 127.0.0.1:9000";
    let mut found = text.to_socket_addrs().map_err(|error| format!("{expected} ({error})"))?;
    found.next().ok_or_else(|| expected.to_owned())
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
    match course.command.unwrap_or(Command::Serve(course.serve)) {
        Command::Serve(Serve { addr, threads }) => serve::serve(&book::build(&workspace)?, addr, threads),
        Command::Book(BookCommand::Build) => {
            println!("{}", book::build(&workspace)?.join("index.html").display());
            Ok(())
        }
        Command::Load(args) => load::run(&workspace, &args),
    }
}
