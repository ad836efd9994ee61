//! Runs every comparison that has goals, and prints one table.
//!
//! Run this program with `cargo run --release --bin all` in `bench/`. README.md describes the rows.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{fs, iter};

use anyhow::{Context, ensure};
use bench::figures::shown;
use bench::finding::{Finding, Verdict, coverage};
use bench::programs::{Workspace, binary};
use clap::Parser;

/// Measures all rows with goals, each side beside its peers, and prints one table
#[derive(Parser)]
#[command(name = "all")]
struct Args {
    /// How often each side is measured: 3 for a first look, 9 for a decision
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// Run only these comparisons, as in `--only pools --only log`
    #[arg(long, value_parser = COMPARISONS.map(|one| one.name))]
    only: Vec<String>,

    /// Write all figures to this file, as an array of objects
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A comparison: its program, and the arguments that choose its rows and peers with goals.
struct Comparison {
    package: &'static str,
    name: &'static str,
    arguments: &'static [&'static str],
}

const fn comparison(name: &'static str, arguments: &'static [&'static str]) -> Comparison {
    Comparison { package: "bench", name, arguments }
}

const COMPARISONS: [Comparison; 9] = [
    comparison("pools", &["--goals", "A", "B", "C", "D", "F"]),
    comparison(
        "forkjoin",
        &["--goals", "E1-overhead", "E1-coarse", "E2", "E2-by-hand", "E2-better-merge", "E3", "shallow"],
    ),
    comparison("stripes", &["--goals"]),
    comparison("timers", &["--goals"]),
    comparison(
        "servers",
        &["--goals", "keep-alive", "pipelined", "file", "close", "1000", "pooled", "overload", "slow"],
    ),
    comparison("log", &["--goals", "lines", "memory"]),
    Comparison { package: "crawl", ..comparison("crawling", &["--memory"]) },
    comparison("indexing", &[]),
    comparison("render", &["--workers", "2"]),
];

/// The other programs that the comparisons start. They are built before the time begins.
const STARTED: [(Workspace, &str, &str); 9] = [
    (Workspace::Bench, "bench", "hyper_server"),
    (Workspace::Bench, "bench", "may_server"),
    (Workspace::Bench, "bench", "tiny_http_server"),
    (Workspace::Course, "servers", "multi_reactor"),
    (Workspace::Course, "servers", "reactor"),
    (Workspace::Course, "servers", "pooled"),
    (Workspace::Course, "servers", "bounded"),
    (Workspace::Course, "crawler", "crawl"),
    (Workspace::Course, "desktop-search", "index"),
];

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let chosen = COMPARISONS
        .iter()
        .filter(|one| args.only.is_empty() || args.only.iter().any(|name| name == one.name));
    let programs = chosen.map(|one| Ok((one, binary(Workspace::Bench, one.package, one.name)?)));
    let programs = programs.collect::<anyhow::Result<Vec<_>>>()?;
    for (workspace, package, name) in STARTED {
        binary(workspace, package, name)?;
    }
    let begun = Instant::now();
    let (mut findings, mut failed) = (Vec::new(), Vec::new());
    for (comparison, program) in programs {
        eprintln!("{:>4} s  {}", begun.elapsed().as_secs(), comparison.name);
        let mut command = Command::new(program);
        command.args(comparison.arguments).args(["--json", "--rounds", &args.rounds.to_string()]);
        match run(command) {
            Ok(more) => findings.extend(more),
            Err(error) => {
                eprintln!("{}: {error:#}", comparison.name);
                failed.push(comparison.name);
            }
        }
    }
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&findings)?;
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    print(&findings, args.rounds);
    println!("measured in {} s", begun.elapsed().as_secs());
    ensure!(failed.is_empty(), "not measured, see the messages above: {}", failed.join(", "));
    Ok(())
}

/// Runs a comparison, whose messages about missing peers appear as they come.
fn run(mut command: Command) -> anyhow::Result<Vec<Finding>> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "it ended with {}", output.status);
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn print(findings: &[Finding], rounds: u32) {
    let goals = findings.iter().filter_map(|found| Some((found, found.goal?, found.verdict?)));
    let lines = goals.clone().map(|(found, goal, verdict)| {
        let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| value.to_string());
        [
            found.row.clone(),
            found.peer.clone(),
            found.figure.clone(),
            number(found.ours),
            number(found.theirs),
            found.unit.clone(),
            format!("{} {}", shown(found.ratio), found.certainty()),
            goal.told(),
            verdict.told().to_owned(),
        ]
    });
    let head = ["row", "peer", "figure", "ours", "theirs", "unit", "ratio (interval)", "goal", "verdict"];
    let lines: Vec<_> = iter::once(head.map(str::to_owned)).chain(lines).collect();
    for line in &lines {
        let cell = |(column, text): (usize, &String)| {
            let width = lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
            format!("{text:<width$}")
        };
        println!("{}", line.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end());
    }
    let count = |wanted: Verdict| goals.clone().filter(|(.., verdict)| *verdict == wanted).count();
    println!(
        "\n{} met, {} missed, {} undecided (which counts as missed), {} without a peer on this machine",
        count(Verdict::Met),
        count(Verdict::Missed),
        count(Verdict::Undecided),
        count(Verdict::NoPeer),
    );
    let coverage = coverage(rounds as usize) * 100.0;
    println!("{rounds} rounds: the interval contains the true median with a probability of {coverage:.0} %");
}
