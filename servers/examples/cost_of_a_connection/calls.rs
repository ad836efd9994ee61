//! Shows how many system calls a request takes, as `strace` counts them.

use crate::stage::{Client, Stage, binary};
use anyhow::{Context, ensure};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The example compares two runs, so that the calls that a process makes only once do not count.
const ROUNDS: [u32; 2] = [100, 600];

/// The number of clients: in each round all clients send a request before the first client reads its
/// answer.
const CLIENTS: [usize; 2] = [1, 16];

type Calls = BTreeMap<String, f64>;

pub(crate) fn show(stages: &[String]) -> anyhow::Result<()> {
    println!("system calls for each request");
    for name in stages {
        for clients in CLIENTS {
            let calls = per_request(name, clients)?;
            let total: f64 = calls.values().sum();
            let mut calls: Vec<_> = calls.into_iter().filter(|(_, count)| *count >= 0.05).collect();
            calls.sort_by(|(_, one), (_, other)| other.total_cmp(one));
            let calls: Vec<_> = calls.iter().map(|(call, count)| format!("{call} {count:.1}")).collect();
            println!("{name:16} {clients:3} clients {total:6.1} = {}", calls.join(", "));
        }
    }
    Ok(())
}

// ANCHOR: per_request
fn per_request(name: &str, clients: usize) -> anyhow::Result<Calls> {
    let [few, many] = ROUNDS.map(|rounds| traced(name, clients, rounds));
    let (few, many) = (few?, many?);
    let requests = f64::from(ROUNDS[1] - ROUNDS[0]) * clients as f64;
    let before = |call: &String| few.get(call).copied().unwrap_or(0.0);
    Ok(many
        .into_iter()
        .map(|(call, count)| {
            let each = (count - before(&call)) / requests;
            (call, each)
        })
        .collect())
}
// ANCHOR_END: per_request

/// Counts the system calls of the stage from its start to its end.
fn traced(name: &str, clients: usize, rounds: u32) -> anyhow::Result<Calls> {
    let summary = std::env::temp_dir().join(format!("calls-of-{name}-{}", std::process::id()));
    let mut command = Command::new("strace");
    // `-D` makes the stage our child process, with `strace` as its descendant, so ending the stage
    // ends both.
    command.args(["-D", "-f", "-c", "-o"]).arg(&summary).arg(binary(name)?);
    let stage = Stage::start(command).context("is there a strace, and may it trace?")?;
    let mut crowd = (0..clients).map(|_| Client::connect(stage.addr)).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..rounds {
        for client in &mut crowd {
            let _ = client.send(); // if sending fails, `receive` fails, too
        }
        for client in &mut crowd {
            // While the client's next request is on the way, the stage may close the client's connection
            // because another client needs the thread.
            while client.receive().is_err() {
                *client = Client::connect(stage.addr)?;
                client.send()?;
            }
            if client.is_over() {
                *client = Client::connect(stage.addr)?;
            }
        }
    }
    drop(crowd);
    drop(stage);
    counted(&summary)
}

/// Waits until `strace` has written its counts, and returns them.
fn counted(summary: &Path) -> anyhow::Result<Calls> {
    let began = Instant::now();
    let mut table = String::new();
    while !table.trim_end().ends_with("total") {
        ensure!(began.elapsed() < Duration::from_secs(10), "strace says nothing");
        thread::sleep(Duration::from_millis(20)); // the interval of the checks
        table = fs::read_to_string(summary).unwrap_or_default();
    }
    let _ = fs::remove_file(summary);
    // The columns are "% time seconds usecs/call calls errors syscall"; the column "errors" may be
    // empty.
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let rows = rows.filter(|row| row.last().is_some_and(|name| *name != "total"));
    Ok(rows.filter_map(|row| Some(((*row.last()?).to_owned(), row.get(3)?.parse().ok()?))).collect())
}
