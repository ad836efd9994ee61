//! Crawls a site of small files with the course's `crawl`, whose state is durable, and with `wget
//! -r`.
//!
//! Run this comparison with `cargo run --release --bin crawl` in `bench/`. README.md says what the
//! program measures.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use clap::Parser;
use kit::figures::{median_ratio, range};
use kit::nginx;
use kit::processor_time::of_children;
use kit::programs::{Workspace, binary};

/// The goal for the crawler's pages per second, divided by the pages per second of `wget`.
const GOAL: f64 = 1.5;

/// The number of pages to which each page links as its children. A page links to its child pages.
const BELOW: usize = 10;

/// Compares `crawl` with `wget -r` on a site of small files that nginx serves
#[derive(Parser)]
#[command(name = "crawl")]
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

    /// Fail if a goal is missed
    #[arg(long)]
    strict: bool,

    /// Print an array of {`row`, `peer`, `rate_ratio`, `cpu_ratio`} and nothing else
    #[arg(long)]
    json: bool,
}

/// The result of a crawl: the pages per second, and the seconds of processor time.
#[derive(Clone, Copy)]
struct Crawl {
    rate: f64,
    cpu: f64,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    nginx::is_there()?;
    ensure!(is_there("wget"), "wget has to be installed");
    let ours = binary(Workspace::Course, "crawler", "crawl")?;
    let (site, scratch) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let (site, scratch) = (site.path(), scratch.path().join("scratch"));
    let pages = usize::try_from(args.pages)?;
    write_site(site, pages)?;
    let (addr, _server) = nginx::start(site, 1, 256, || None)?;
    let start = format!("http://{addr}/0.html");
    let threads = args.threads.to_string();
    let crawl = |save: &[&str]| {
        let mut command = Command::new(&ours);
        command.args([&start, "--state", "state", "--json", "--delay", "0", "--allow-private"]);
        command.args(["--threads", &threads, "--per-site", &threads]).args(save);
        timed(command, &scratch, pages, |said| {
            let report: serde_json::Value = serde_json::from_slice(said)?;
            Ok(usize::try_from(report["fetched"].as_u64().context("no report")?)?)
        })
    };
    let wget = || {
        let mut command = Command::new("wget");
        command.args(["--quiet", "--recursive", "--level=inf", "--no-config", &start]);
        timed(command, &scratch, pages, |_| files(&scratch))
    };
    let mut measured = Vec::new();
    for round in 0..=args.rounds {
        let sides = [crawl(&[])?, crawl(&["--save", "pages"])?, wget()?];
        if round > 0 {
            measured.push(sides); // the first round reads the files into the page cache
        }
    }
    report(&args, &measured)
}

fn report(args: &Args, measured: &[[Crawl; 3]]) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let mut is_met = true;
    if !args.json {
        println!("{:<26}{:<34}{:<34}{:>6}{:>6}", "", "ours, pages/s", "wget -r, pages/s", "ratio", "CPU");
    }
    for (side, row) in [(0, "durable state"), (1, "and the pages as files")] {
        let pairs = |of: fn(&Crawl) -> f64| -> Vec<(f64, f64)> {
            measured.iter().map(|round| (of(&round[side]), of(&round[2]))).collect()
        };
        let (rates, cpu) = (pairs(|crawl| crawl.rate), pairs(|crawl| crawl.cpu));
        let ratio = median_ratio(&rates).context("no time passed")?;
        let cpu_ratio = median_ratio(&cpu).unwrap_or(f64::NAN);
        is_met &= side > 0 || ratio >= GOAL;
        rows.push(
            serde_json::json!({ "row": row, "peer": "wget -r", "rate_ratio": ratio, "cpu_ratio": cpu_ratio }),
        );
        if !args.json {
            let (ours, theirs): (Vec<_>, Vec<_>) = rates.into_iter().unzip();
            let verdict = match side {
                0 if ratio >= GOAL => format!("  rate ≥ {GOAL:.2}: met"),
                0 => format!("  rate ≥ {GOAL:.2}: missed"),
                _ => String::new(),
            };
            println!(
                "{row:<26}{:<34}{:<34}{ratio:>6.2}{cpu_ratio:>6.2}{verdict}",
                range(&ours, 0),
                range(&theirs, 0)
            );
        }
    }
    if args.json {
        println!("{}", serde_json::Value::from(rows));
    }
    ensure!(is_met || !args.strict, "a goal was missed");
    Ok(())
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
    let output = command.current_dir(scratch).stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    let (took, cpu) = (begun.elapsed().as_secs_f64(), of_children()? - before);
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    let fetched = count(&output.stdout)?;
    ensure!(fetched == pages, "{command:?} fetched {fetched} of {pages} pages");
    Ok(Crawl { rate: pages as f64 / took, cpu })
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

/// Makes pages of about a kilobyte; each page has links to its child pages, to its parent page, and to some
/// other pages.
fn write_site(site: &Path, pages: usize) -> anyhow::Result<()> {
    let words = "A page that says little, and says it again. ".repeat(20);
    for page in 0..pages {
        let below = (1..=BELOW).map(|number| page * BELOW + number).filter(|number| *number < pages);
        let across = [page / BELOW, (page * 7 + 3) % pages, (page * 13 + 5) % pages];
        let link = |to: usize| format!("<li><a href=\"{to}.html\">page {to}</a></li>\n");
        let links = below.chain(across).map(link).collect::<Vec<_>>().concat();
        let title = format!("<!doctype html>\n<meta charset=\"utf-8\">\n<title>Page {page}</title>\n");
        fs::write(site.join(format!("{page}.html")), format!("{title}<p>{words}</p>\n<ul>\n{links}</ul>\n"))?;
    }
    fs::write(site.join("robots.txt"), "User-agent: *\nDisallow:\n")?;
    Ok(())
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}
