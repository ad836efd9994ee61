//! The output about answers and their cost: a table for human readers, and objects of the array that `--json`
//! prints.

use bench::figures::{median, median_ratio, spread};
use bench::finding::Goal::{AtLeast, AtMost};
use bench::finding::{self, Finding};

use crate::contest::{Entrant, Sample, Team};
use crate::rows::Goal;

const MIB: f64 = 1024.0 * 1024.0;

/// The quantity by which two servers are compared.
#[derive(Clone, Copy)]
enum Quantity {
    Rate,
    Cpu,
    Memory,
}

impl Quantity {
    /// Returns the name of the quantity for programs, and its unit.
    fn named(self) -> (&'static str, &'static str) {
        match self {
            Self::Rate => ("rate", "answers/s"),
            Self::Cpu => ("cpu", "µs per answer"),
            Self::Memory => ("memory", "MiB"),
        }
    }

    fn of(self, sample: &Sample) -> Option<f64> {
        match self {
            Self::Rate => Some(sample.rate),
            Self::Cpu => sample.cpu,
            Self::Memory => sample.memory,
        }
    }

    fn median(self, entrant: &Entrant) -> Option<f64> {
        let values: Vec<_> = entrant.samples.iter().filter_map(|sample| self.of(sample)).collect();
        (!values.is_empty()).then(|| median(&values))
    }

    /// Among the servers with different numbers of workers, returns the server that is best for this
    /// quantity. For memory, the function returns the server with the most answers, because otherwise the
    /// goals would apply to different servers.
    fn best(self, team: &Team) -> Option<&Entrant> {
        let of = if matches!(self, Self::Cpu) { Self::Cpu } else { Self::Rate };
        let known = team.entrants.iter().filter_map(|entrant| Some((of.median(entrant)?, entrant)));
        let best = match of {
            Self::Cpu => known.min_by(|a, b| a.0.total_cmp(&b.0)),
            Self::Rate | Self::Memory => known.max_by(|a, b| a.0.total_cmp(&b.0)),
        };
        best.map(|(_, entrant)| entrant)
    }

    /// Returns the values of our best server and of the peer's best server, round by round.
    fn pairs(self, ours: &Team, theirs: &Team) -> Vec<(f64, f64)> {
        let Some((ours, theirs)) = self.best(ours).zip(self.best(theirs)) else { return Vec::new() };
        let turns = ours.samples.iter().zip(&theirs.samples);
        turns.filter_map(|(a, b)| self.of(a).zip(self.of(b))).collect()
    }

    /// Returns the median of the rounds' ratios.
    fn ratio(self, ours: &Team, theirs: &Team) -> Option<f64> {
        median_ratio(&self.pairs(ours, theirs))
    }
}

/// Prints the table of one row.
pub(crate) fn table(ours: &Team, peers: &[Team]) {
    println!(
        "  {:<26}{:>9} {:>20}{:>11}{:>9}{:>7}{:>8}",
        "medians", "answers/s", "(least to most)", "server µs", "load µs", "busy", "MiB"
    );
    for entrant in std::iter::once(ours).chain(peers).flat_map(|team| &team.entrants) {
        line(entrant);
    }
    println!("  {:<26}{:>9}{:>9}", "ours to theirs", "answers", "CPU");
    for team in peers {
        let shown = |quantity: Quantity| number(quantity.ratio(ours, team), 3);
        println!(
            "  {:<26}{:>9}{:>9}  {}",
            team.side.name(),
            shown(Quantity::Rate),
            shown(Quantity::Cpu),
            told(&findings("", ours, team))
        );
    }
}

fn line(entrant: &Entrant) {
    let rates: Vec<_> = entrant.samples.iter().map(|sample| sample.rate).collect();
    let rates = spread(&rates);
    let load_cpu: Vec<_> = entrant.samples.iter().filter_map(|sample| sample.load_cpu).collect();
    let load_cpu = (!load_cpu.is_empty()).then(|| median(&load_cpu));
    // If the load is 100 % busy, the load is the bottleneck, and the numbers of answers cannot differ much.
    let busy = load_cpu.map(|micros| micros * rates.median / 1e4);
    println!(
        "  {:<26}{:>9.0} {:>20}{:>11}{:>9}{:>7}{:>8}",
        entrant.setup.to_string(),
        rates.median,
        format!("({:.0} to {:.0})", rates.least, rates.most),
        number(Quantity::Cpu.median(entrant), 2),
        number(load_cpu, 2),
        busy.map_or_else(|| "–".to_owned(), |percent| format!("{percent:.0} %")),
        number(Quantity::Memory.median(entrant).map(|bytes| bytes / MIB), 1)
    );
}

pub(crate) fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

/// Joins the goals and verdicts for people.
pub(crate) fn told(findings: &[Finding]) -> String {
    let told = findings.iter().map(Finding::told).filter(|told| !told.is_empty());
    told.collect::<Vec<_>>().join("; ")
}

/// Returns what was found about a row beside one peer.
pub(crate) fn findings(row: &str, ours: &Team, theirs: &Team) -> Vec<Finding> {
    let of = |quantity: Quantity, goal| {
        let (figure, unit) = quantity.named();
        let pairs = quantity.pairs(ours, theirs);
        Finding::new(row, theirs.side.name(), figure, unit, &pairs, goal)
    };
    let goal = |of: fn(&Goal) -> Option<finding::Goal>| theirs.goals.iter().find_map(of);
    let rate = |goal: &Goal| if let Goal::Rate(least) = *goal { Some(AtLeast(least)) } else { None };
    let cpu = |goal: &Goal| if let Goal::Cpu(most) = *goal { Some(AtMost(most)) } else { None };
    let mut findings = vec![of(Quantity::Rate, goal(rate)), of(Quantity::Cpu, goal(cpu))];
    for goal in theirs.goals {
        if let Goal::Memory(most) = *goal {
            let ours = Quantity::Memory.best(ours).map(|best| &best.samples[..]).unwrap_or_default();
            let mib = ours.iter().filter_map(|sample| Some((sample.memory? / MIB, 1.0)));
            let (figure, unit) = Quantity::Memory.named();
            let pairs: Vec<_> = mib.collect();
            findings.push(Finding::new(row, "1 MiB", figure, unit, &pairs, Some(AtMost(most))));
        }
    }
    findings
}

/// Returns what was found about one value, which the row measures without its processor time.
pub(crate) fn one(row: &str, peer: &str, figure: &str, unit: &str, pairs: &[(f64, f64)]) -> Finding {
    Finding::new(row, peer, figure, unit, pairs, None)
}
