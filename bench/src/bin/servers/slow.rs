//! Measures the row `slow`: how long a normal client waits while 500 slow clients hold connections.
//!
//! The normal client is called a visitor: it connects, sends a request, gets its answer, and leaves. A client
//! with an open connection would not notice that a server accepts no new connections.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::Context;
use bench::figures::median;
use bench::finding::{Finding, Goal};

use bench::contest::progress;

use crate::contest::Order;
use crate::report::{number, one};
use crate::rude::Rude;
use crate::sides::{Setup, Side};
use crate::visitor;
use bench::server::Server;

const SLOW: usize = 500;

/// The default number of threads in the stages that have a pool.
const THREADS: usize = 100;

/// The goal for the 99th percentile of the visitors' waits with slow clients, as a ratio to the percentile
/// without slow clients.
const GOAL: f64 = 2.0;

/// The time in which a server should notice that the slow clients have left.
const PAUSE: Duration = Duration::from_millis(300);

struct Entrant {
    setup: Setup,
    server: Server,
    /// The 99th percentile of the visitors' waits, in milliseconds, without the slow clients and with them.
    turns: Vec<(f64, f64)>,
    visitors: usize,
}

pub(crate) fn measure(order: &Order<'_>) -> anyhow::Result<Vec<Finding>> {
    let Order { row, starter, sides, rounds, duration, is_json } = order;
    let start = |&side: &Side| {
        let setup = Setup { side, workers: side.workers(THREADS)[0], connections: SLOW, more: &[] };
        Ok(Entrant { setup, server: starter.start(&setup)?, turns: Vec::new(), visitors: 0 })
    };
    let mut entrants = sides.iter().map(start).collect::<anyhow::Result<Vec<_>>>()?;
    for round in 1..=*rounds {
        progress(&format!("{}: round {round} of {rounds}", row.name));
        for entrant in entrants.iter_mut().filter(|entrant| !entrant.is_stuck()) {
            entrant.measure(*duration).with_context(|| entrant.setup.to_string())?;
        }
    }
    progress("");
    order.headline();
    if !is_json {
        println!("  {:<26}{:>9}{:>10}{:>11}{:>8}", "p99 in ms", "visitors", "alone", "beside", "ratio");
        entrants.iter().for_each(Entrant::print);
    }
    let (ours, peers) = entrants.split_first().context("ours is one of them")?;
    let beside = |peer: &Entrant| {
        let pairs: Vec<_> = ours.turns.iter().zip(&peer.turns).map(|(a, b)| (a.1, b.1)).collect();
        one(row.name, peer.setup.side.name(), "time", "ms", &pairs)
    };
    let themselves =
        entrants.iter().map(|entrant| entrant.finding(row.name)).filter(|one| one.goal.is_some());
    Ok(themselves.chain(peers.iter().map(beside)).collect())
}

impl Entrant {
    /// Returns whether there was a visitor that got no answer. If one visitor got no answer, further visitors
    /// would also get no answer, each after a long time.
    fn is_stuck(&self) -> bool {
        self.turns.last().is_some_and(|&(_, beside)| beside >= visitor::PATIENCE.as_secs_f64() * 1e3)
    }

    fn measure(&mut self, duration: Duration) -> anyhow::Result<()> {
        let addr = self.server.addr;
        visit(addr, PAUSE)?;
        let (alone, _) = visit(addr, duration).context("alone")?;
        let rude = Rude::start(addr, SLOW, duration + 2 * visitor::PATIENCE)?;
        let (beside, visitors) = visit(addr, duration).context("beside slow clients")?;
        rude.finish()?;
        self.turns.push((alone, beside));
        self.visitors += visitors;
        Ok(())
    }

    /// Compares the waits with slow clients and without them. The goal applies to our stages.
    fn finding(&self, row: &str) -> Finding {
        let pairs: Vec<_> = self.turns.iter().map(|&(alone, beside)| (beside, alone)).collect();
        let side = self.setup.side;
        let goal = matches!(side, Side::MultiReactor | Side::Reactor).then_some(Goal::AtMost(GOAL));
        Finding::new(row, &format!("{} alone", side.name()), "p99", "ms", &pairs, goal)
    }

    fn print(&self) {
        let (alone, beside): (Vec<_>, Vec<_>) = self.turns.iter().copied().unzip();
        let found = self.finding("");
        let beside = match median(&beside) {
            _ if self.is_stuck() => "no answer".to_owned(),
            beside => format!("{beside:.2}"),
        };
        println!(
            "  {:<26}{:>9}{:>10.2}{:>11}{:>8}  {}",
            self.setup.to_string(),
            self.visitors,
            median(&alone),
            beside,
            number(found.ratio.filter(|_| !self.is_stuck()), 2),
            found.told()
        );
    }
}

/// Sends one visitor after another. Returns the 99th percentile of the visitors' waits in milliseconds,
/// and the number of visitors.
fn visit(addr: SocketAddr, duration: Duration) -> anyhow::Result<(f64, usize)> {
    let began = Instant::now();
    let mut waits = Vec::new();
    while began.elapsed() < duration {
        waits.push(visitor::visit(addr)?);
    }
    waits.sort_unstable();
    let p99 = waits[(waits.len() - 1) * 99 / 100];
    Ok((p99.as_secs_f64() * 1e3, waits.len()))
}
