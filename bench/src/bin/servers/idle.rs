//! Measures the row `idle`: the memory for each connection that has received an answer and now sends nothing.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bench::finding::Finding;

use crate::contest::Order;
use crate::report::{number, one};
use crate::sides::{Setup, Side};
use crate::visitor;
use bench::server::{Server, descriptors};

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

pub(crate) fn measure(order: &Order<'_>) -> anyhow::Result<Vec<Finding>> {
    let Order { row, starter, sides, is_json, .. } = order;
    let limit = descriptors(CONNECTIONS + OTHER_DESCRIPTORS);
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
        let pairs: Vec<_> = ours.1.zip(*theirs).into_iter().collect();
        one(row.name, side.name(), "memory", "bytes per connection", &pairs)
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
