//! Puts files into an index on disk, with the course's `index` and with a direct use of its library
//! `tantivy`.
//!
//! Run this comparison with `cargo run --release --bin indexing` in `bench/`. README.md says what
//! the program measures.

use anyhow::{Context, ensure};
use bench::contest::print_json;
use bench::figures::{range, shown};
use bench::finding::{Finding, Goal};
use bench::processor_time::of_children;
use bench::programs::{Workspace, binary};
use clap::Parser;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use tantivy::schema::{STORED, STRING, Schema, TEXT};
use tantivy::{Index, IndexWriter, TantivyDocument};

/// The number of threads that the library `tantivy` has, on both sides.
const THREADS: usize = 2;

/// The number of bytes that each thread of the library collects before it writes them.
const MEMORY: usize = 64 << 20;

/// The goal for the ratio of our time to the peer's time.
const GOAL: Goal = Goal::AtMost(1.0);

/// Compares `index` with a loop that reads files and gives them to `tantivy`, each in a process of its own
#[derive(Parser)]
#[command(name = "indexing")]
struct Args {
    /// What is indexed [default: the sources of crates that Cargo has unpacked]
    #[arg(long, value_name = "DIRECTORY")]
    dir: Option<PathBuf>,

    /// How often each side is measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// Print an array of objects and nothing else; README.md describes them
    #[arg(long)]
    json: bool,

    /// Run as the peer: index the directory into this one
    #[arg(long, hide = true)]
    peer: Option<PathBuf>,
}

/// The elapsed time and the processor time, in seconds.
type Took = (f64, f64);

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let cargo =
        || env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let dir =
        args.dir.or_else(|| Some(cargo()?.join("registry/src"))).context("name a directory by --dir")?;
    if let Some(into) = args.peer {
        return directly(&dir, &into);
    }
    let ours = binary(Workspace::Course, "desktop-search", "index")?;
    let me = env::current_exe()?;
    let scratch = tempfile::tempdir()?;
    let into = scratch.path().join("index");
    let (mut wall, mut cpu) = (Vec::new(), Vec::new());
    for round in 0..=args.rounds {
        let threads = THREADS.to_string();
        let mut our_command = Command::new(&ours);
        our_command.arg(&dir).args(["--no-ignore", "--hidden", "--threads", &threads, "--into"]).arg(&into);
        let (our_wall, our_cpu) = timed(&mut our_command, &into)?;
        let mut their_command = Command::new(&me);
        their_command.arg("--dir").arg(&dir).arg("--peer").arg(&into);
        let (their_wall, their_cpu) = timed(&mut their_command, &into)?;
        if round > 0 {
            // The first round brings the files into the page cache.
            wall.push((our_wall, their_wall));
            cpu.push((our_cpu, their_cpu));
        }
    }
    let [time, processor] = [("time", &wall, Some(GOAL)), ("cpu", &cpu, None)]
        .map(|(figure, pairs, goal)| Finding::new("index", "tantivy", figure, "s", pairs, goal));
    if args.json {
        print_json(&[time, processor]);
        return Ok(());
    }
    let (ours, theirs): (Vec<_>, Vec<_>) = wall.into_iter().unzip();
    let (ours, theirs, told) = (range(&ours, 2), range(&theirs, 2), time.told());
    println!("{}", dir.display());
    println!("{:<30}{:<30}{:>6}{:>6}", "ours, s", "tantivy, s", "ratio", "CPU");
    println!("{ours:<30}{theirs:<30}{:>6}{:>6}  {told}", shown(time.ratio), shown(processor.ratio));
    Ok(())
}

/// Runs the straightforward program: it has one loop, which walks the folders, reads the files and adds them
/// to the index.
fn directly(dir: &Path, into: &Path) -> anyhow::Result<()> {
    let mut schema = Schema::builder();
    let path = schema.add_text_field("path", STRING | STORED);
    let text = schema.add_text_field("text", TEXT);
    fs::create_dir_all(into)?;
    let index = Index::create_in_dir(into, schema.build())?;
    let mut writer: IndexWriter = index.writer_with_num_threads(THREADS, THREADS * MEMORY)?;
    for entry in ignore::WalkBuilder::new(dir).standard_filters(false).build() {
        let entry = entry?;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) || entry.metadata()?.len() > 10 << 20 {
            continue;
        }
        let Ok(content) = String::from_utf8(fs::read(entry.path())?) else { continue };
        if content.as_bytes()[..content.len().min(8 << 10)].contains(&0) {
            continue;
        }
        let mut document = TantivyDocument::new();
        document.add_text(path, entry.path().to_string_lossy());
        document.add_text(text, content);
        writer.add_document(document)?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(())
}

/// Runs a process to its end, and gives it a new directory for its index.
fn timed(command: &mut Command, into: &Path) -> anyhow::Result<Took> {
    if into.exists() {
        fs::remove_dir_all(into)?;
    }
    let (begun, before) = (Instant::now(), of_children()?);
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    let took = (begun.elapsed().as_secs_f64(), of_children()? - before);
    // The exit status 3 means that some files could not be read.
    ensure!(status.success() || status.code() == Some(3), "{command:?} ended with {status}");
    Ok(took)
}
