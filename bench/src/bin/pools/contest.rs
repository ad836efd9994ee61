//! The contest: our pool and each peer in turns.

use std::io::IsTerminal;

use anyhow::Context;
use bench::java::Java;

use crate::load::{Load, Measured};
use crate::report::{Compared, Cost, Costs};
use crate::rows::{Peer, Row, Run, Side};

/// The peers of `java.util.concurrent`.
pub(crate) const SOURCE: &str = "src/bin/pools/Peers.java";

/// How often a Java peer runs a whole load before it counts: its compiler must see the code in use.
const JAVA_WARM_UPS: u32 = 3;

/// A peer that this machine has.
enum Contestant {
    Here(Run),
    Java(Java),
}

impl Contestant {
    fn run(&mut self, load: &Load) -> anyhow::Result<Measured> {
        match self {
            Self::Here(run) => Ok(run(load)),
            Self::Java(java) => load.run_by(java),
        }
    }

    /// Runs the loads that are not counted.
    fn warm_up(&mut self, load: &Load) -> anyhow::Result<()> {
        match self {
            Self::Here(run) => _ = run(&Load { tasks: load.tasks.div_ceil(10), ..*load }),
            Self::Java(java) => {
                for _ in 0..JAVA_WARM_UPS {
                    load.run_by(java)?;
                }
            }
        }
        Ok(())
    }
}

/// Starts peers, and remembers what is missing on this machine.
#[derive(Default)]
pub(crate) struct Starter {
    no_java: bool,
}

impl Starter {
    fn start(&mut self, peer: &Peer) -> Option<Contestant> {
        match peer.side {
            Side::Here(run) => Some(Contestant::Here(run)),
            Side::Java(_) if self.no_java => None,
            Side::Java(mode) => match Java::start(SOURCE, mode) {
                Ok(java) => Some(Contestant::Java(java)),
                Err(error) => {
                    eprintln!("Java's rows are left out: {error:#}");
                    self.no_java = true;
                    None
                }
            },
        }
    }

    /// Measures ours and each of these peers in turns, A B A B …: each run of a peer has one of ours right
    /// before it, so that other work of the machine disturbs both.
    pub(crate) fn measure<'a>(
        &mut self,
        row: &Row,
        peers: impl Iterator<Item = &'a Peer>,
        load: &Load,
        rounds: u32,
    ) -> anyhow::Result<(Costs, Vec<Compared<'a>>)> {
        let mut pairs = Vec::new();
        for peer in peers {
            if let Some(mut contestant) = self.start(peer) {
                contestant.warm_up(load).context(peer.name)?;
                pairs.push((contestant, Compared::new(peer)));
            }
        }
        if !pairs.is_empty() {
            Contestant::Here(row.ours).warm_up(load)?;
        }
        let mut ours = Costs::default();
        for round in 1..=rounds {
            progress(&format!("{}: round {round} of {rounds}", row.name));
            for (contestant, compared) in &mut pairs {
                let of_ours = Cost::of(&(row.ours)(load), load);
                let of_theirs = Cost::of(&contestant.run(load).context(compared.peer.name)?, load);
                ours.push(of_ours);
                compared.push(of_ours, of_theirs);
            }
        }
        progress("");
        Ok((ours, pairs.into_iter().map(|(_, compared)| compared).collect()))
    }
}

/// Shows people a line in the place of the last one.
fn progress(line: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r{line:40}\r");
    }
}
