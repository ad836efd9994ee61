//! Measures the row `calls`: how many system calls an answer takes; `strace` counts these calls.
//!
//! The program compares two runs of different lengths, so that the calls that a server makes only once do not
//! count. Tracing makes a server several times slower, so more requests wait each time the server checks, and
//! one call can serve several requests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use bench::contest::progress;
use bench::finding::Finding;

use crate::contest::Order;
use crate::load::{Clients, Load};
use crate::report::one;
use crate::rows::{Measure, Row, called};
use crate::sides::{Setup, Starter};

/// The numbers of answers in the two runs; they are multiplied by the number of requests that a connection
/// sends at once.
const ANSWERS: [u64; 2] = [1000, 4000];

/// The loads of these rows, but with fewer connections: with many connections, the server would hardly ever
/// have to wait.
const LOADS: [&str; 4] = ["keep-alive", "pipelined", "file", "close"];
const CONNECTIONS: usize = 16;

type Calls = BTreeMap<String, f64>;

pub(crate) fn measure(order: &Order<'_>) -> anyhow::Result<Vec<Finding>> {
    let Order { row, starter, sides, is_json, .. } = order;
    let can_trace = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    if !can_trace.is_ok_and(|status| status.success()) {
        eprintln!("row {} is left out: strace is missing, or may not trace", row.name);
        return Ok(Vec::new());
    }
    if !is_json {
        println!("\n{}: {}; {CONNECTIONS} connections", row.name, row.title);
    }
    let mut findings = Vec::new();
    for name in LOADS {
        let Some(Row { measure: Measure::Throughput(load), .. }) = called(name) else {
            bail!("no row {name}")
        };
        let load = Load { connections: CONNECTIONS, ..*load };
        let mut totals = Vec::new();
        for &side in sides {
            progress(&format!("{}: {name}, {}", row.name, side.name()));
            let workers = side.workers(CONNECTIONS)[0];
            let setup = Setup { side, workers, connections: CONNECTIONS, more: &[] };
            let calls = per_answer(starter, &setup, &load).with_context(|| format!("{setup}, {name}"))?;
            let total: f64 = calls.values().sum();
            progress("");
            if !is_json {
                println!("  {name:<12}{:<26}{total:>6.2}   {}", setup.to_string(), by_name(&calls));
            }
            totals.push((side, total));
        }
        let (ours, peers) = totals.split_first().context("ours is one of them")?;
        findings.extend(peers.iter().map(|(side, theirs)| {
            let row = format!("{} {name}", row.name);
            one(&row, side.name(), "calls", "calls per answer", &[(ours.1, *theirs)])
        }));
    }
    Ok(findings)
}

/// Returns the calls by name, with the most frequent call first, and without calls that occur less than once
/// in a hundred answers.
fn by_name(calls: &Calls) -> String {
    let mut calls: Vec<_> = calls.iter().filter(|(_, each)| **each >= 0.01).collect();
    calls.sort_by(|a, b| b.1.total_cmp(a.1));
    calls.iter().map(|(name, each)| format!("{name} {each:.2}")).collect::<Vec<_>>().join(", ")
}

fn per_answer(starter: &Starter, setup: &Setup, load: &Load) -> anyhow::Result<Calls> {
    let [few, many] = ANSWERS.map(|answers| traced(starter, setup, load, answers * load.depth as u64));
    let ((few, before), (many, after)) = (few?, many?);
    let more = (after - before) as f64;
    let each = |(name, calls): (String, u64)| {
        let once = few.get(&name).copied().unwrap_or(0);
        (name, calls.saturating_sub(once) as f64 / more)
    };
    Ok(many.into_iter().map(each).collect())
}

/// Returns the server's calls from its start to its end, and the number of answers that it sent.
fn traced(
    starter: &Starter,
    setup: &Setup,
    load: &Load,
    answers: u64,
) -> anyhow::Result<(BTreeMap<String, u64>, u64)> {
    let summary = starter.site.folder().join("calls");
    // With `-D`, the server is our child process and `strace` is not. So when the server ends, `strace` ends,
    // too.
    let strace = || {
        let mut strace = Command::new("strace");
        strace.args(["-D", "-f", "-q", "-c", "-o"]).arg(&summary);
        Some(strace)
    };
    let server = starter.start_under(strace, setup)?;
    let counted = Clients::connect(server.addr, load)?.take(answers)?;
    drop(server);
    let calls = parse(&complete(&summary)?);
    fs::remove_file(&summary)?;
    Ok((calls, counted.answers))
}

/// Returns the table that `strace` writes, as soon as it is complete.
fn complete(summary: &Path) -> anyhow::Result<String> {
    for _ in 0..500 {
        let table = fs::read_to_string(summary).unwrap_or_default();
        if table.trim_end().ends_with("total") {
            return Ok(table);
        }
        thread::sleep(Duration::from_millis(10));
    }
    ensure!(summary.exists(), "strace says nothing");
    bail!("strace does not come to an end")
}

/// Parses lines with the columns "% time seconds usecs/call calls errors syscall"; the number of errors may
/// be missing.
fn parse(table: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let columns: Vec<_> = line.split_whitespace().collect();
        let (name, calls) = (*columns.last()?, columns.get(3)?.parse().ok()?);
        (name != "total").then(|| (name.to_owned(), calls))
    };
    table.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_fourth_column_is_the_number_of_calls() {
        let table = "% time     seconds  usecs/call     calls    errors syscall\n\
                     ------ ----------- ----------- --------- --------- ----------------\n \
                     60.00    0.000060           1        40        16 recvfrom\n \
                     40.00    0.000040           2        24           sendto\n\
                     ------ ----------- ----------- --------- --------- ----------------\n\
                     100.00    0.000100           1        64        16 total\n";
        let calls = parse(table);
        assert_eq!(calls.into_iter().collect::<Vec<_>>(), [("recvfrom".into(), 40), ("sendto".into(), 24)]);
    }
}
