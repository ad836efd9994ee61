//! Measures the row `overload`: 200 requests arrive at once, each takes 50 ms, and there are 8
//! threads and 50 places in the queue.
//!
//! A server that has room for 58 requests must answer each other client with a 503, which tells the client
//! when to try again. An accepted request may wait only for the requests that are before it in the queue. If
//! a connection is reset, the client gets no information.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bench::finding::{Finding, Goal};
use mio::{Events, Interest, Poll, Token};

use crate::contest::Order;
use crate::report::{one, told};
use crate::sides::{Setup, Side};

const CLIENTS: usize = 200;
const THREADS: usize = 8;
const QUEUE: usize = 50;
const WORK: Duration = Duration::from_millis(50);
const REQUEST: &[u8] = b"GET /block?ms=50 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";

/// The time in which all answers must arrive; this is enough time for a server with one thread that pauses
/// after each answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns the longest time that an answer may take. A request waits 7 times 50 ms in the queue, because the
/// threads take 8 requests at a time. Then the work itself takes 50 ms, and a tenth of the sum is added.
fn bound() -> Duration {
    WORK.mul_f64((QUEUE.div_ceil(THREADS) + 1) as f64 * 1.1)
}

/// The number of clients for each outcome.
#[derive(Default)]
struct Outcome {
    served: usize,
    refused: usize,
    /// The server refused the client, but did not tell it when to try again.
    mute: usize,
    /// The connection was reset, or it was closed without an answer.
    lost: usize,
    /// The time until the last of the served clients received its answer.
    slowest: Duration,
    slowest_refusal: Duration,
}

pub(crate) fn measure(order: &Order<'_>) -> anyhow::Result<Vec<Finding>> {
    let Order { row, starter, sides, rounds, is_json, .. } = order;
    if !is_json {
        println!("\n{}: {}; {rounds} rounds, the sums and the slowest of all", row.name, row.title);
    }
    let mut slowest = Vec::new();
    for &side in sides {
        let more: &[&str] = match side {
            Side::Bounded => &["--queue", "50", "--policy", "abort"],
            Side::Java => &["50"],
            _ => &[],
        };
        let setup = Setup { side, workers: THREADS, connections: CLIENTS, more };
        let server = starter.start(&setup)?;
        flood(server.addr).with_context(|| setup.to_string())?; // a warm-up for Java's compiler
        let outcomes = (0..*rounds).map(|_| flood(server.addr));
        let outcomes = outcomes.collect::<anyhow::Result<Vec<_>>>().with_context(|| setup.to_string())?;
        if !is_json {
            describe(&setup, &outcomes);
        }
        slowest.push((side, outcomes));
    }
    let (ours, peers) = slowest.split_first().context("ours is one of them")?;
    let goals = goals(row.name, &ours.1);
    if !is_json {
        println!("  {:<26}{}", "goals", told(&goals));
    }
    let seconds = |one: &Outcome| one.slowest.as_secs_f64();
    let beside = |(side, theirs): &(Side, Vec<Outcome>)| {
        let pairs = ours.1.iter().zip(theirs).map(|(ours, theirs)| (seconds(ours), seconds(theirs)));
        one(row.name, side.name(), "time", "s", &pairs.collect::<Vec<_>>())
    };
    Ok(goals.into_iter().chain(peers.iter().map(beside)).collect())
}

/// Compares our server with the bound, and counts the clients that were lost or refused without being told when to
/// come again.
fn goals(row: &str, ours: &[Outcome]) -> Vec<Finding> {
    let times: Vec<_> = ours.iter().map(|one| (one.slowest.as_secs_f64(), bound().as_secs_f64())).collect();
    let untold: Vec<_> = ours.iter().map(|one| ((one.mute + one.lost) as f64, 1.0)).collect();
    let refused: Vec<_> = ours.iter().map(|one| (one.refused as f64, 1.0)).collect();
    let goal =
        |peer, figure, unit, pairs: &[_], goal| Finding::new(row, peer, figure, unit, pairs, Some(goal));
    vec![
        goal("the bound", "time", "s", &times, Goal::AtMost(1.0)),
        goal("1 client", "untold", "clients", &untold, Goal::AtMost(0.0)),
        goal("1 client", "refused", "clients", &refused, Goal::AtLeast(1.0)),
    ]
}

fn describe(setup: &Setup, outcomes: &[Outcome]) {
    let sum = |what: fn(&Outcome) -> usize| outcomes.iter().map(what).sum::<usize>();
    let most = |what: fn(&Outcome) -> Duration| outcomes.iter().map(what).max().unwrap_or_default();
    println!(
        "  {:<26}{} served, the last after {} ms; {} refused, the last after {} ms, {} of them without Retry-After; {} lost",
        setup.to_string(),
        sum(|one| one.served),
        most(|one| one.slowest).as_millis(),
        sum(|one| one.refused),
        most(|one| one.slowest_refusal).as_millis(),
        sum(|one| one.mute),
        sum(|one| one.lost),
    );
}

struct Client {
    stream: mio::net::TcpStream,
    began: Instant,
    arrived: Vec<u8>,
}

fn flood(addr: SocketAddr) -> anyhow::Result<Outcome> {
    let mut poll = Poll::new()?;
    let mut clients = (0..CLIENTS)
        .map(|number| {
            let began = Instant::now();
            let mut stream = TcpStream::connect(addr).context("cannot connect")?;
            // The server may have already refused the client and closed the connection; in that case the
            // client can read the answer.
            let _ = stream.write_all(REQUEST);
            stream.set_nonblocking(true)?;
            let mut stream = mio::net::TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(number), Interest::READABLE)?;
            Ok(Some(Client { stream, began, arrived: Vec::new() }))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut outcome = Outcome::default();
    let mut events = Events::with_capacity(CLIENTS);
    let began = Instant::now();
    while clients.iter().any(Option::is_some) {
        ensure!(began.elapsed() < PATIENCE, "some clients have neither an answer nor an end");
        poll.poll(&mut events, Some(PATIENCE))?;
        for event in &events {
            let place = &mut clients[event.token().0];
            if let Some(client) = place
                && client.has_ended(&mut outcome)
            {
                *place = None;
            }
        }
    }
    Ok(outcome)
}

impl Client {
    /// Reads the bytes that have arrived; if the connection has ended, counts its client.
    fn has_ended(&mut self, outcome: &mut Outcome) -> bool {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(count @ 1..) => self.arrived.extend_from_slice(&buffer[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    return false;
                }
                Ok(_) | Err(_) => break,
            }
        }
        let took = self.began.elapsed();
        let answer = String::from_utf8_lossy(&self.arrived).to_lowercase();
        let is_whole = answer.contains("\r\n\r\n");
        if is_whole && answer.starts_with("http/1.1 200") {
            outcome.served += 1;
            outcome.slowest = outcome.slowest.max(took);
        } else if is_whole && answer.starts_with("http/1.1 503") {
            outcome.refused += 1;
            outcome.mute += usize::from(!answer.contains("\r\nretry-after:"));
            outcome.slowest_refusal = outcome.slowest_refusal.max(took);
        } else {
            outcome.lost += 1;
        }
        true
    }
}
