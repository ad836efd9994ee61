//! Crawls a site of small files with the course's `crawl`, whose state is durable, and with `wget
//! -r`.
//!
//! Run this comparison with `cargo run --release --bin crawling` in `bench/`. README.md says what the
//! program measures.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use anyhow::{Context, ensure};
use clap::Parser;
use kit::contest::print_json;
use kit::figures::{range, shown};
use kit::finding::{Finding, Goal, Verdict};
use kit::processor_time::of_children;
use kit::programs::{Workspace, binary};
use kit::{nginx, site};
use tempfile::TempDir;

/// The goals for the crawler's pages per second and processor time, as multiples of those of `wget`, and for its
/// memory, in bytes for each further page of a large site.
const RATE: Goal = Goal::AtLeast(1.5);
const CPU: Goal = Goal::AtMost(0.25);
const MEMORY: Goal = Goal::AtMost(200.0);

/// The numbers of pages of two sites: the memory of a crawl is compared between them.
const LARGE: [usize; 2] = [50_000, 200_000];

/// Compares `crawl` with `wget -r` on a site of small files that nginx serves
#[derive(Parser)]
#[command(name = "crawling")]
struct Args {
    /// Pages of the site
    #[arg(long, default_value_t = 5001, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pages: u32,

    /// How often each side is measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// Threads of our crawler, and pages that it fetches at the same time
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,

    /// The folder of the site and of the crawls [default: /dev/shm if it exists, because a disk slows down wget; else
    /// the folder for temporary files]
    #[arg(long)]
    folder: Option<PathBuf>,

    /// Fail if the goal for pages per second is missed
    #[arg(long)]
    strict: bool,

    /// Measure the memory for each page of sites of 50,000 and 200,000 pages, too
    #[arg(long)]
    memory: bool,

    /// Print an array of objects and nothing else; README.md describes them
    #[arg(long)]
    json: bool,
}

/// The result of a crawl: pages per second, microseconds of processor time for a page, and the peak of memory in
/// bytes.
#[derive(Clone, Copy)]
struct Crawl {
    rate: f64,
    cpu: f64,
    memory: f64,
}

/// A site that nginx serves, and the folder in which crawls run.
struct Site {
    pages: usize,
    start: String,
    scratch: PathBuf,
    _server: nginx::Running,
    _folder: TempDir,
}

impl Site {
    fn serve(folder: &Path, pages: usize) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir_in(folder)?;
        site::write(folder.path(), pages)?;
        let (addr, server) = nginx::start(folder.path(), 1, 256, || None)?;
        let start = format!("http://{addr}/0.html");
        Ok(Self { pages, start, scratch: folder.path().join("scratch"), _server: server, _folder: folder })
    }

    /// Crawls the site with our crawler.
    fn ours(&self, program: &Path, threads: u32, more: &[&str]) -> anyhow::Result<Crawl> {
        let threads = threads.to_string();
        let mut command = Command::new(program);
        command.args([&self.start, "--state", "state", "--json", "--delay", "0", "--allow-private"]);
        command.args(["--threads", &threads, "--per-site", &threads, "--pages", &self.pages.to_string()]);
        command.args(more);
        timed(command, &self.scratch, self.pages, |said| {
            let report: serde_json::Value = serde_json::from_slice(said)?;
            Ok(usize::try_from(report["fetched"].as_u64().context("no report")?)?)
        })
    }

    fn wget(&self) -> anyhow::Result<Crawl> {
        let mut command = Command::new("wget");
        command.args(["--quiet", "--recursive", "--level=inf", "--no-config", &self.start]);
        timed(command, &self.scratch, self.pages, |_| files(&self.scratch))
    }
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let in_memory = || Some(PathBuf::from("/dev/shm")).filter(|folder| folder.is_dir());
    let folder = args.folder.clone().or_else(in_memory).unwrap_or_else(env::temp_dir);
    let missing = match nginx::is_there() {
        Ok(()) if is_there("wget") => None,
        Ok(()) => Some("wget has to be installed".to_owned()),
        Err(error) => Some(format!("{error:#}")),
    };
    let (mut measured, mut memory) = (Vec::new(), Vec::new());
    if let Some(missing) = &missing {
        eprintln!("crawls are left out: {missing}");
    } else {
        let ours = binary(Workspace::Course, "crawler", "crawl")?;
        let site = Site::serve(&folder, usize::try_from(args.pages)?)?;
        for round in 0..=args.rounds {
            let plain = site.ours(&ours, args.threads, &[])?;
            let sides = [plain, site.ours(&ours, args.threads, &["--save", "pages"])?, site.wget()?];
            if round > 0 {
                measured.push(sides); // the first round reads the files into the page cache
            }
        }
        if args.memory {
            memory = memory_of_large_sites(&args, &folder, &ours)?;
        }
    }
    let findings = findings(&args, &measured, &memory);
    if args.json {
        print_json(&findings);
    } else {
        print(&measured, &findings);
    }
    let is_fast =
        findings.iter().any(|found| found.goal == Some(RATE) && found.verdict == Some(Verdict::Met));
    ensure!(is_fast || !args.strict, "the goal for pages per second was missed");
    Ok(())
}

/// Returns the bytes of memory for each page that a large site has more than a smaller one, in each round.
fn memory_of_large_sites(args: &Args, folder: &Path, ours: &Path) -> anyhow::Result<Vec<f64>> {
    let [small, large] = LARGE.map(|pages| -> anyhow::Result<Vec<f64>> {
        let site = Site::serve(folder, pages)?;
        (0..args.rounds).map(|_| Ok(site.ours(ours, args.threads, &[])?.memory)).collect()
    });
    let more = (LARGE[1] - LARGE[0]) as f64;
    Ok(small?.into_iter().zip(large?).map(|(small, large)| (large - small) / more).collect())
}

const ROWS: [&str; 2] = ["crawl: durable state", "crawl: and the pages as files"];

fn findings(args: &Args, measured: &[[Crawl; 3]], memory: &[f64]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (side, row) in ROWS.into_iter().enumerate() {
        let compared = |figure, unit, of: fn(&Crawl) -> f64, goal| {
            let pairs: Vec<_> = measured.iter().map(|round| (of(&round[side]), of(&round[2]))).collect();
            Finding::new(row, "wget -r", figure, unit, &pairs, Some(goal).filter(|_| side == 0))
        };
        findings.push(compared("rate", "pages/s", |crawl| crawl.rate, RATE));
        findings.push(compared("cpu", "µs per page", |crawl| crawl.cpu, CPU));
    }
    if args.memory {
        let pairs: Vec<_> = memory.iter().map(|&bytes| (bytes, 1.0)).collect();
        let row = "crawl: from 50,000 to 200,000 pages";
        findings.push(Finding::new(row, "1 byte", "memory", "bytes per page", &pairs, Some(MEMORY)));
    }
    findings
}

fn print(measured: &[[Crawl; 3]], findings: &[Finding]) {
    println!("{:<38}{:<34}{:<34}{:>6}{:>6}", "", "ours, pages/s", "wget -r, pages/s", "ratio", "CPU");
    for (side, (row, found)) in ROWS.into_iter().zip(findings.chunks(2)).enumerate() {
        let rates =
            |side: usize| range(&measured.iter().map(|round| round[side].rate).collect::<Vec<_>>(), 0);
        let [rate, cpu] = [0, 1].map(|n| shown(found[n].ratio));
        let told = found.iter().map(Finding::told).collect::<Vec<_>>().join("  ");
        println!("{row:<38}{:<34}{:<34}{rate:>6}{cpu:>6}  {}", rates(side), rates(2), told.trim());
    }
    for found in &findings[4..] {
        println!("{:<38}{} {}  {}", found.row, shown(found.ours), found.unit, found.told());
    }
}

/// Runs a crawl that writes its output to a new folder. `count` returns the number of fetched pages; if a
/// page is missing, the comparison ends with an error.
fn timed(
    mut command: Command,
    scratch: &Path,
    pages: usize,
    count: impl Fn(&[u8]) -> anyhow::Result<usize>,
) -> anyhow::Result<Crawl> {
    if scratch.exists() {
        fs::remove_dir_all(scratch)?;
    }
    fs::create_dir(scratch)?;
    let (begun, before) = (Instant::now(), of_children()?);
    command.current_dir(scratch).stdin(Stdio::null()).stdout(Stdio::piped());
    let child = command.spawn()?;
    let id = child.id();
    let (output, memory) = thread::scope(|scope| {
        let memory = scope.spawn(move || peak_of_memory(id));
        (child.wait_with_output(), memory.join().expect("it does not panic"))
    });
    let (output, took, cpu) = (output?, begun.elapsed().as_secs_f64(), of_children()? - before);
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    let fetched = count(&output.stdout)?;
    ensure!(fetched == pages, "{command:?} fetched {fetched} of {pages} pages");
    Ok(Crawl { rate: pages as f64 / took, cpu: cpu * 1e6 / pages as f64, memory })
}

/// Waits for the end of a process. Returns the peak of its resident memory in bytes, or NaN if the system does not
/// report it. The peak is read again and again, because the system forgets it when the process ends.
fn peak_of_memory(process: u32) -> f64 {
    let mut peak = f64::NAN;
    while let Ok(status) = fs::read_to_string(format!("/proc/{process}/status")) {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let Some(kib) = line.and_then(|line| line.trim_end_matches("kB").trim().parse::<f64>().ok()) else {
            break;
        };
        peak = kib * 1024.0;
        thread::sleep(Duration::from_millis(5));
    }
    peak
}

/// Returns the number of pages in a folder.
fn files(folder: &Path) -> anyhow::Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        count += if path.is_dir() {
            files(&path)?
        } else {
            usize::from(path.extension().is_some_and(|extension| extension == "html"))
        };
    }
    Ok(count)
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}
