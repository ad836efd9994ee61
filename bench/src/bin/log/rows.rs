//! The rows of the comparison, and the figures that each row prints.

use bench::finding;
use clap::ValueEnum;

use crate::load::Load;
use crate::off::CALLS;
use crate::sides::{DOUBLE_BUFFER, SPDLOG};

/// A row of the comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Row {
    Lines,
    Tracing,
    Memory,
    Off,
    OffElsewhere,
    OffTracing,
}

/// One of the figures of a row.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) label: &'static str,
    pub(crate) digits: usize,
    pub(crate) goal: Option<Goal>,
    of: fn(&[u64], Load) -> f64,
}

/// A goal, and the side to which the value is compared.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// The goal for the ratio to the value of this peer.
    Beside(&'static str, finding::Goal),
    /// The bound on our own value, independent of the peers' values.
    OursAtMost(f64),
}

/// The numbers in these figures are the numbers that
/// [`Measured::to_numbers`](crate::load::Measured::to_numbers) returns.
const LOAD: [Figure; 5] = [
    Figure {
        name: "rate",
        label: "million lines/s",
        digits: 2,
        goal: Some(Goal::Beside(DOUBLE_BUFFER, finding::Goal::AtLeast(1.0))),
        of: |numbers, load| load.total() as f64 * 1e3 / numbers[0] as f64,
    },
    Figure {
        name: "cpu",
        label: "ns per line, processor time",
        digits: 0,
        goal: None,
        of: |numbers, load| numbers[1] as f64 / load.total() as f64,
    },
    call("p50", "ns, half of the calls take no longer", None, |numbers, _| numbers[2] as f64),
    call("p99", "ns, 99 of 100 take no longer", None, |numbers, _| numbers[3] as f64),
    call(
        "p999",
        "ns, 999 of 1000 take no longer",
        Some(Goal::Beside(SPDLOG, finding::Goal::AtMost(0.2))),
        |numbers, _| numbers[4] as f64,
    ),
];

const fn call(
    name: &'static str,
    label: &'static str,
    goal: Option<Goal>,
    of: fn(&[u64], Load) -> f64,
) -> Figure {
    Figure { name, label, digits: 0, goal, of }
}

const MEMORY: [Figure; 1] = [Figure {
    name: "memory",
    label: "MiB, the most that was resident",
    digits: 1,
    goal: Some(Goal::OursAtMost(8.0)),
    of: |numbers, _| numbers[5] as f64 / 1024.0,
}];

const OFF: [Figure; 1] = [Figure {
    name: "time",
    label: "ns per call",
    digits: 2,
    goal: None,
    of: |numbers, _| numbers[0] as f64 / f64::from(CALLS),
}];

impl Row {
    pub(crate) const ALL: [Row; 6] =
        [Row::Lines, Row::Tracing, Row::Memory, Row::Off, Row::OffElsewhere, Row::OffTracing];

    pub(crate) fn name(self) -> String {
        self.to_possible_value().expect("none is hidden").get_name().to_owned()
    }

    /// Returns the name of the row for programs that read the rows of all comparisons.
    pub(crate) fn title(self) -> String {
        format!("log: {}", self.name())
    }

    pub(crate) fn what(self, load: Load) -> String {
        let Load { threads, lines } = load;
        let load = format!("{threads} threads log {lines} lines each, then the logger stops");
        match self {
            Row::Lines => load,
            Row::Tracing => format!("the same through tracing: {load}"),
            Row::Memory => format!("what the process needs at most while {load}"),
            Row::Off => format!("{CALLS} calls of a level that is off"),
            Row::OffElsewhere => format!("{CALLS} calls of a level that is on for another target"),
            Row::OffTracing => format!("{CALLS} calls of a level that is off, through tracing"),
        }
    }

    pub(crate) fn figures(self) -> &'static [Figure] {
        match self {
            Row::Lines | Row::Tracing => &LOAD,
            Row::Memory => &MEMORY,
            Row::Off | Row::OffElsewhere | Row::OffTracing => &OFF,
        }
    }

    /// Returns whether the row times single calls.
    pub(crate) fn times_calls(self) -> bool {
        matches!(self, Row::Lines | Row::Tracing)
    }

    /// Returns whether the row has a log that can be read afterwards.
    pub(crate) fn has_log(self) -> bool {
        self.times_calls() || self == Row::Memory
    }
}

impl Figure {
    /// Returns the goal for the ratio to this peer's value.
    pub(crate) fn goal_beside(&self, peer: &str) -> Option<finding::Goal> {
        match self.goal? {
            Goal::Beside(name, goal) if name == peer => Some(goal),
            _ => None,
        }
    }

    /// Returns the unit, which is the first part of the label.
    pub(crate) fn unit(&self) -> &'static str {
        self.label.split(',').next().unwrap_or(self.label)
    }

    pub(crate) fn of(&self, numbers: &[u64], load: Load) -> f64 {
        (self.of)(numbers, load)
    }
}
