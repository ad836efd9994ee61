//! The rows: the workload, the servers and the goals of each row.

use crate::load::{Load, Page};
use crate::sides::Side;

/// One workload.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) measure: Measure,
    /// Our server, unless the command line names another stage.
    pub(crate) ours: Side,
    pub(crate) peers: &'static [Peer],
}

pub(crate) enum Measure {
    /// The row measures the number of answers, and their cost.
    Throughput(Load),
    /// The row measures the refusals under overload.
    Overload,
    /// The row measures how long normal clients wait while slow clients hold connections.
    SlowClients,
    /// The row measures the cost of an idle connection.
    Idle,
    /// The row measures the number of system calls for an answer.
    Calls,
}

pub(crate) struct Peer {
    pub(crate) side: Side,
    pub(crate) goals: &'static [Goal],
}

/// The goal of a row: a ratio of our value to the peer's value, or a limit for our own value.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// The lowest allowed ratio of our answers per time to the peer's answers per time.
    Rate(f64),
    /// The highest allowed ratio of our server's processor time per answer to the peer's processor time per
    /// answer.
    Cpu(f64),
    /// The largest amount of memory that our server may use, in MiB.
    Memory(f64),
}

const fn peer(side: Side) -> Peer {
    Peer { side, goals: &[] }
}

impl Peer {
    const fn goals(self, goals: &'static [Goal]) -> Peer {
        Peer { goals, ..self }
    }

    /// Returns whether a goal of the row applies to this side. In the row `slow`, the goal applies to our stages.
    pub(crate) fn has_goal(&self, row: &Row) -> bool {
        !self.goals.is_empty() || matches!(row.measure, Measure::SlowClients) && self.side == Side::Reactor
    }
}

const KEPT: Load = Load { connections: 64, depth: 1, page: Page::Hello, closes: false };

/// The goals apply to each peer, and therefore also to the best peer.
const BEST: &[Goal] = &[Goal::Rate(1.0), Goal::Cpu(0.9)];

/// All rows, in the order in which they are measured.
pub(crate) static ROWS: [Row; 11] = [
    Row {
        name: "keep-alive",
        title: "13 bytes, 64 connections kept alive",
        measure: Measure::Throughput(KEPT),
        ours: Side::MultiReactor,
        peers: &[
            peer(Side::Nginx).goals(BEST),
            peer(Side::Hyper).goals(BEST),
            peer(Side::MayMinihttp).goals(BEST),
            peer(Side::TinyHttp).goals(BEST),
        ],
    },
    Row {
        name: "pipelined",
        title: "13 bytes, 64 connections that send 16 requests at once",
        measure: Measure::Throughput(Load { depth: 16, ..KEPT }),
        ours: Side::MultiReactor,
        peers: &[
            peer(Side::MayMinihttp).goals(&[Goal::Rate(1.0)]),
            peer(Side::Hyper).goals(&[Goal::Rate(1.2)]),
            peer(Side::Nginx),
        ],
    },
    Row {
        name: "file",
        title: "a file of 16 KiB, 64 connections kept alive",
        measure: Measure::Throughput(Load { page: Page::File, ..KEPT }),
        ours: Side::MultiReactor,
        peers: &[peer(Side::Nginx).goals(&[Goal::Rate(1.1)]), peer(Side::MayMinihttp), peer(Side::Hyper)],
    },
    Row {
        name: "close",
        title: "13 bytes, a connection for each request, 64 at a time",
        measure: Measure::Throughput(Load { closes: true, ..KEPT }),
        ours: Side::MultiReactor,
        peers: &[peer(Side::Nginx).goals(&[Goal::Rate(1.0)]), peer(Side::Hyper), peer(Side::TinyHttp)],
    },
    Row {
        name: "1000",
        title: "13 bytes, 1000 connections kept alive",
        measure: Measure::Throughput(Load { connections: 1000, ..KEPT }),
        ours: Side::MultiReactor,
        peers: &[
            peer(Side::Nginx).goals(&[Goal::Rate(1.0), Goal::Memory(12.0)]),
            peer(Side::Hyper),
            peer(Side::TinyHttp),
        ],
    },
    Row {
        name: "reactor",
        title: "as keep-alive, but one loop and a pool that answers",
        measure: Measure::Throughput(KEPT),
        ours: Side::Reactor,
        peers: &[peer(Side::Nginx), peer(Side::Hyper), peer(Side::TinyHttp)],
    },
    Row {
        name: "pooled",
        title: "as keep-alive, but a thread for each connection on both sides",
        measure: Measure::Throughput(KEPT),
        ours: Side::Pooled,
        peers: &[peer(Side::TinyHttp).goals(&[Goal::Rate(1.3)])],
    },
    Row {
        name: "overload",
        title: "200 requests at once, 50 ms each, for 8 threads and 50 places in the queue",
        measure: Measure::Overload,
        ours: Side::Bounded,
        peers: &[peer(Side::Java), peer(Side::Pooled)], // the goals are in overload.rs
    },
    Row {
        name: "slow",
        title: "one client after the other, beside 500 slow ones",
        measure: Measure::SlowClients,
        ours: Side::MultiReactor,
        peers: &[peer(Side::Reactor), peer(Side::Nginx), peer(Side::Hyper), peer(Side::TinyHttp)],
    },
    Row {
        name: "idle",
        title: "connections that had an answer and are silent",
        measure: Measure::Idle,
        ours: Side::MultiReactor,
        peers: &[peer(Side::Reactor), peer(Side::Nginx), peer(Side::Hyper), peer(Side::MayMinihttp)],
    },
    Row {
        name: "calls",
        title: "system calls for an answer, by strace",
        measure: Measure::Calls,
        ours: Side::MultiReactor,
        peers: &[peer(Side::Nginx)],
    },
];

/// Returns the row with this name.
pub(crate) fn called(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}
