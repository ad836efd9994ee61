//! The contest between our server and its peers, which are measured alternately.

use std::time::Duration;

use anyhow::Context;
use bench::contest::progress;
use bench::finding::Finding;

use crate::load::{Clients, Counted, Load};
use crate::report;
use crate::rows::{Goal, Row};
use crate::sides::{Setup, Side, Starter};
use bench::server::{Server, own_cpu_time};

/// The plan of a contest: the measurements that it makes.
pub(crate) struct Order<'a> {
    pub(crate) row: &'a Row,
    pub(crate) starter: &'a Starter,
    /// Our server is the first.
    pub(crate) sides: Vec<Side>,
    pub(crate) rounds: u32,
    /// The length of each measurement.
    pub(crate) duration: Duration,
    /// True if the output leaves out the table for human readers.
    pub(crate) is_json: bool,
}

impl Order<'_> {
    /// Prints the first line of the table for human readers.
    pub(crate) fn headline(&self) {
        if !self.is_json {
            let Order { row, rounds, duration, .. } = self;
            println!("\n{}: {}; {rounds} rounds of {duration:?}", row.name, row.title);
        }
    }
}

/// The time of the warm-up before each measurement. The warm-up, in which connections are made and threads
/// are started, is not counted.
const WARM_UP: Duration = Duration::from_millis(300);

/// The result of one measurement of a server.
pub(crate) struct Sample {
    /// The number of answers in a second.
    pub(crate) rate: f64,
    /// The microseconds of processor time for an answer: the time of the server, and the time of the load.
    pub(crate) cpu: Option<f64>,
    pub(crate) load_cpu: Option<f64>,
    /// The bytes of memory while all connections are open.
    pub(crate) memory: Option<f64>,
}

/// A server that is measured with a given number of workers.
pub(crate) struct Entrant {
    pub(crate) setup: Setup,
    server: Server,
    pub(crate) samples: Vec<Sample>,
}

/// A server that is measured with each number of workers. It has no entrants if this machine lacks it.
pub(crate) struct Team {
    pub(crate) side: Side,
    pub(crate) goals: &'static [Goal],
    pub(crate) entrants: Vec<Entrant>,
}

impl Team {
    pub(crate) fn start(
        starter: &Starter,
        side: Side,
        goals: &'static [Goal],
        load: &Load,
    ) -> anyhow::Result<Team> {
        let start = |workers| {
            let setup = Setup { side, workers, connections: load.connections, more: &[] };
            Ok(Entrant { setup, server: starter.start(&setup)?, samples: Vec::new() })
        };
        let workers = if starter.has(side) { side.workers(load.connections) } else { Vec::new() };
        let entrants = workers.into_iter().map(start);
        Ok(Team { side, goals, entrants: entrants.collect::<anyhow::Result<_>>()? })
    }
}

/// Measures all servers in turns, A B C A B C …, so that other work on the machine disturbs all of
/// them.
pub(crate) fn hold(order: &Order<'_>, load: &Load) -> anyhow::Result<Vec<Finding>> {
    let Order { row, starter, sides, rounds, duration, is_json } = order;
    let start = |&side: &Side| {
        let peer = row.peers.iter().find(|peer| peer.side == side);
        Team::start(starter, side, peer.map_or(&[], |peer| peer.goals), load)
    };
    let mut teams = sides.iter().map(start).collect::<anyhow::Result<Vec<_>>>()?;
    for round in 1..=*rounds {
        progress(&format!("{}: round {round} of {rounds}", row.name));
        for entrant in teams.iter_mut().flat_map(|team| &mut team.entrants) {
            let sample = measure(&entrant.server, load, *duration);
            entrant.samples.push(sample.with_context(|| entrant.setup.to_string())?);
        }
    }
    progress("");
    let (ours, peers) = teams.split_first().context("ours is one of them")?;
    order.headline();
    if !is_json {
        report::table(ours, peers);
    }
    Ok(peers.iter().flat_map(|peer| report::findings(row.name, ours, peer)).collect())
}

fn measure(server: &Server, load: &Load, duration: Duration) -> anyhow::Result<Sample> {
    let mut clients = Clients::connect(server.addr, load)?;
    clients.count(WARM_UP)?;
    let before = [server.cpu_time(), own_cpu_time()];
    let Counted { answers, elapsed } = clients.count(duration)?;
    let after = [server.cpu_time(), own_cpu_time()];
    let cost = |which: usize| {
        let used = after[which]?.saturating_sub(before[which]?);
        Some(used.as_secs_f64() * 1e6 / answers as f64)
    };
    Ok(Sample {
        rate: answers as f64 / elapsed.as_secs_f64(),
        cpu: cost(0),
        load_cpu: cost(1),
        memory: server.memory(),
    })
}
