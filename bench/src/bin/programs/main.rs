//! Compares three programs on the executor and on other libraries: how long their sources are, and how much
//! time they take.
//!
//! Run this comparison with `cargo run --release --bin programs` in `bench/`. README.md says what the
//! programs do.

#![allow(unreachable_pub)] // the modules are written like modules of a library

#[path = "../../../../executor/examples/checksums.rs"]
#[allow(dead_code, reason = "an example, of which the comparison uses one function")]
mod checksums_ours;
mod checksums_rayon;
mod checksums_tokio;
#[path = "../../../../executor/examples/job_server/jobs.rs"]
#[allow(dead_code, reason = "a part of an example")]
mod jobs_ours;
mod jobs_threadpool;
#[path = "../../../../executor/examples/rows_of_a_picture.rs"]
#[allow(dead_code, reason = "an example, of which the comparison uses two functions")]
mod picture_ours;
mod picture_rayon;

use anyhow::{anyhow, ensure};
use bench::contest::{self, Cost, Flags, Measure, Peer};
use clap::Parser;
use cpu_time::ProcessTime;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Compares three programs on the executor with the same programs on other libraries
///
/// Each row prints the number of lines of code of each side, without comments and empty lines, and measures
/// our side and each peer alternately. Each measurement checks its result.
#[derive(Parser)]
#[command(name = "programs")]
struct Args {
    /// What to measure [default: all]: checksums, jobs, picture
    #[arg(value_name = "ROW", value_parser = ["checksums", "jobs", "picture"])]
    rows: Vec<String>,

    /// The folder whose files are read in the row checksums
    #[arg(long, default_value = "..")]
    folder: PathBuf,

    #[command(flatten)]
    flags: Flags,
}

const OURS: [(&str, &str); 3] = [
    ("checksums", include_str!("../../../../executor/examples/checksums.rs")),
    ("jobs", include_str!("../../../../executor/examples/job_server/jobs.rs")),
    ("picture", include_str!("../../../../executor/examples/rows_of_a_picture.rs")),
];

const PEERS: [(&str, &str, &str, Side); 4] = [
    ("checksums", "rayon", include_str!("checksums_rayon.rs"), Side::Checksums(checksums_rayon::checksums)),
    ("checksums", "tokio", include_str!("checksums_tokio.rs"), Side::Checksums(checksums_tokio::checksums)),
    ("jobs", "threadpool", include_str!("jobs_threadpool.rs"), Side::Jobs(run_on_threadpool)),
    (
        "picture",
        "rayon",
        include_str!("picture_rayon.rs"),
        Side::Picture(picture_rayon::drawn, picture_rayon::framed),
    ),
];

type Checksums = Vec<(PathBuf, io::Result<u32>)>;

#[derive(Clone, Copy)]
enum Side {
    Checksums(fn(&Path, usize, Duration) -> io::Result<Checksums>),
    Jobs(fn() -> anyhow::Result<()>),
    Picture(fn(usize, usize) -> Vec<u8>, fn(&mut [u8], usize)),
}

const MILLISECOND: f64 = 1e6;
const JOBS: usize = 10_000;
const CUSTOMERS: usize = 100;

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    args.flags.check(PEERS.iter().map(|(_, name, ..)| *name)).map_err(|wrong| anyhow!(wrong))?;
    let mut findings = Vec::new();
    for (row, source) in OURS {
        if !(args.rows.is_empty() || args.rows.iter().any(|wanted| wanted == row)) {
            continue;
        }
        let ours = match row {
            "checksums" => Side::Checksums(checksums_ours::checksums),
            "jobs" => Side::Jobs(run_on_ours),
            _ => Side::Picture(picture_ours::drawn, picture_ours::framed),
        };
        let folder = args.folder.clone();
        let peers = PEERS.iter().filter(|(of, ..)| *of == row).map(|&(_, name, _, side)| {
            let folder = folder.clone();
            Peer { name, goals: &[], start: Box::new(move || Ok(measured(side, folder))) }
        });
        let compared = contest::hold(row, &args.flags, measured(ours, args.folder.clone()), peers)?;
        if args.flags.json {
            findings.extend(compared.iter().flat_map(|compared| compared.findings(row, "ms")));
            continue;
        }
        print!("{row}: lines of code: ours {}", lines_of(source));
        for (_, name, text, _) in PEERS.iter().filter(|(of, ..)| *of == row) {
            print!(", {name} {}", lines_of(text));
        }
        println!();
        contest::print("ms", 1, &compared);
    }
    args.flags.print(&findings);
    Ok(())
}

/// Counts the lines that are neither empty nor a comment; if the file has marks, counts only the lines
/// between the marks. All sides share the code outside the marks.
fn lines_of(source: &str) -> usize {
    let program = source.split("// ----- compared in `bench` -----\n").nth(1).unwrap_or(source);
    let program = program.split("// ----- shared by all sides -----\n").next().unwrap_or(program);
    program.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

/// In each later run, each side must have the same result as in its first run.
fn measured(side: Side, folder: PathBuf) -> Measure {
    let mut first = None;
    Box::new(move || {
        let (wall, cpu) = (Instant::now(), ProcessTime::now());
        let sum = match side {
            Side::Checksums(checksums) => {
                let sums = checksums(&folder, 8, Duration::from_mins(10))?;
                let mut all = 0;
                for (path, sum) in sums {
                    all ^= u64::from(sum.map_err(|error| anyhow!("{}: {error}", path.display()))?);
                }
                all
            }
            Side::Jobs(run) => run().map(|()| 0)?,
            Side::Picture(drawn, framed) => {
                let mut picture = drawn(1024, 768);
                framed(&mut picture, 1024);
                picture.iter().map(|&pixel| u64::from(pixel)).sum()
            }
        };
        let cost = Cost::of(wall.elapsed(), Some(cpu.elapsed()), MILLISECOND);
        ensure!(sum == *first.get_or_insert(sum), "another result than in the first run: {sum}");
        Ok(cost)
    })
}

fn run_on_ours() -> anyhow::Result<()> {
    let jobs = jobs_ours::Jobs::new(4, JOBS).map_err(|error| anyhow!("{error}"))?;
    submit_and_take(|line| jobs.answer(line))
}

fn run_on_threadpool() -> anyhow::Result<()> {
    let jobs = jobs_threadpool::Jobs::new(4, JOBS);
    submit_and_take(|line| jobs.answer(line))?;
    jobs.shut_down();
    Ok(())
}

/// Ten thousand jobs of a hundred customers; each job takes no time.
fn submit_and_take(answer: impl Fn(&str) -> Result<String, Box<dyn Error>>) -> anyhow::Result<()> {
    let say = |line: &str| answer(line).map_err(|error| anyhow!("{line}: {error}"));
    let ids = (0..JOBS).map(|job| say(&format!("run customer{} {} 60000 0", job % CUSTOMERS, job % 3)));
    let ids = ids.collect::<anyhow::Result<Vec<_>>>()?;
    for id in ids {
        let id = id.strip_prefix("job ").unwrap_or_default();
        let said = say(&format!("result {id}"))?;
        ensure!(said == "done", "job {id}: {said}");
    }
    Ok(())
}
