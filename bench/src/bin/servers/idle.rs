//! Measures the row `idle`: the memory for each connection that has received an answer and now sends nothing.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::contest::Order;
use crate::process::Server;
use crate::report::{json_of, number};
use crate::sides::{Setup, Side};
use crate::visitor;

const CONNECTIONS: usize = 10_000;

/// The number of connections if the stage has a thread for each connection.
const THREADS: usize = 1000;

/// The time limit for opening all connections. Each server in this row keeps an idle connection for longer
/// than this time.
const PATIENCE: Duration = Duration::from_secs(20);

/// The number of other descriptors that the programs need, for files, listeners and pipes.
const OTHER_DESCRIPTORS: usize = 200;

/// The time in which the server should free the memory of its last answer.
const PAUSE: Duration = Duration::from_millis(500);

pub(crate) fn measure(order: &Order<'_>) -> anyhow::Result<Vec<String>> {
    let Order { row, starter, sides, is_json, .. } = order;
    let limit = descriptors();
    let most = CONNECTIONS.min(limit.saturating_sub(OTHER_DESCRIPTORS));
    if !is_json {
        println!("\n{}: {}", row.name, row.title);
    }
    if most < CONNECTIONS {
        eprintln!("{most} connections in place of {CONNECTIONS}: a process may have {limit} descriptors");
    }
    let mut costs: Vec<(Side, Option<f64>)> = Vec::new();
    for &side in sides {
        let connections = if side.workers(most)[0] == most { most.min(THREADS) } else { most };
        let workers = side.workers(connections)[0];
        let setup = Setup { side, workers, connections, more: &[] };
        let server = starter.start(&setup)?;
        let (before, after) = fill(&server, connections).with_context(|| setup.to_string())?;
        let each = before.zip(after).map(|(before, after)| (after - before) / connections as f64);
        costs.push((side, each));
        if !is_json {
            let kib = |bytes: Option<f64>| number(bytes.map(|bytes| bytes / 1024.0), 0);
            println!(
                "  {:<26}{:>8} bytes each of {connections}; {} KiB before, {} KiB with them",
                setup.to_string(),
                number(each, 0),
                kib(before),
                kib(after)
            );
        }
    }
    let (ours, peers) = costs.split_first().context("ours is one of them")?;
    let json = |(side, theirs): &(Side, Option<f64>)| {
        let ratio = ours.1.zip(*theirs).map(|(ours, theirs)| ours / theirs);
        json_of(row.name, side.name(), "memory", ratio)
    };
    Ok(peers.iter().map(json).collect())
}

/// Returns the server's memory without connections, and with `connections` idle connections.
fn fill(server: &Server, connections: usize) -> anyhow::Result<(Option<f64>, Option<f64>)> {
    visitor::visit(server.addr)?;
    let before = server.memory();
    let mut streams = Vec::with_capacity(connections);
    let began = Instant::now();
    for number in 0..connections {
        ensure!(began.elapsed() < PATIENCE, "only {number} connections in {PATIENCE:?}");
        let mut stream = visitor::connect(server.addr)?;
        visitor::ask(&mut stream).with_context(|| format!("connection {number}"))?;
        streams.push(stream);
    }
    thread::sleep(PAUSE);
    let after = server.memory();
    // A server that has closed its idle connections would need no memory for them, so the program checks some
    // of the connections.
    for stream in streams.iter_mut().step_by(100) {
        visitor::ask(stream).context("a connection was closed that was to be idle")?;
    }
    Ok((before, after))
}

/// Raises the limit for descriptors as far as the system allows, for this process and its child processes.
/// Returns the new limit.
#[cfg(target_os = "linux")]
fn descriptors() -> usize {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 1024 };
    let wanted = hard.min((CONNECTIONS + OTHER_DESCRIPTORS) as u64).max(soft);
    let is_raised = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok();
    usize::try_from(if is_raised { wanted } else { soft }).unwrap_or(usize::MAX)
}

#[cfg(not(target_os = "linux"))]
fn descriptors() -> usize {
    1024
}
