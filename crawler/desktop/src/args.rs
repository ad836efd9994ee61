//! The command lines of `index` and `search`.

use crate::Rules;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// The largest number of threads in a pool.
const MOST_THREADS: usize = 256;

/// The flags of `index`.
#[derive(clap::Parser, Debug)]
#[command(
    name = "index",
    version,
    about = "Puts the words of files into an index on disk, so that `search` finds them"
)]
pub struct IndexArgs {
    /// Directories, or single files
    #[arg(required_unless_present = "demo")]
    pub directories: Vec<PathBuf>,

    /// The directory of the index; for a new index, a new or empty directory
    #[arg(long, value_name = "INDEX")]
    pub into: PathBuf,

    /// Threads that read files [default: as many as there are processors]
    #[arg(long, value_name = "COUNT", value_parser = command_line::threads::<MOST_THREADS>)]
    pub threads: Option<NonZeroUsize>,

    /// The size of the largest file that is read, in bytes; larger files are skipped
    #[arg(long, value_name = "BYTES", default_value = "10485760", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub max_bytes: u64,

    /// The interval between two commits of the index. If the process is killed, the next run indexes again
    /// the files since the last commit
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = command_line::duration)]
    pub commit_every: Duration,

    /// The rules that select the files to index.
    #[command(flatten)]
    pub rules: Rules,

    /// Print the report as JSON
    #[arg(long, help_heading = "What happened")]
    pub json: bool,

    /// Name each file that is put into the index, and each commit
    #[arg(long, short, help_heading = "What happened")]
    pub verbose: bool,

    /// Write example files into this directory if it is new or empty, and index the directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "directories", help_heading = "Demonstration")]
    pub demo: Option<PathBuf>,

    /// The number of files that --demo writes
    #[arg(
        long,
        value_name = "COUNT",
        default_value = "2000",
        requires = "demo",
        help_heading = "Demonstration"
    )]
    pub demo_files: usize,
}

impl IndexArgs {
    /// Returns the number of threads that read files.
    pub fn readers(&self) -> usize {
        let of_machine = || std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
        self.threads.map_or_else(of_machine, NonZeroUsize::get)
    }
}

/// The flags of `search`.
#[derive(clap::Parser, Debug)]
#[command(
    name = "search",
    version,
    about = "Finds files that have some words, in an index that `index` has made"
)]
pub struct SearchArgs {
    /// The index
    pub index: PathBuf,

    /// Words that a file must have. The words of a phrase ("thread pool") must follow each other; after --,
    /// -word excludes files with this word
    #[arg(required = true)]
    pub words: Vec<String>,

    /// The largest number of files that are shown
    #[arg(long, value_name = "COUNT", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,

    /// Print the files as JSON
    #[arg(long)]
    pub json: bool,
}
