//! The output about answers and their cost: a table for human readers, and objects of the array that `--json`
//! prints.

use bench::figures::{median, median_ratio, object, spread};

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

    /// Returns the median of the ratios of all rounds; each ratio compares the value of our best server with
    /// the value of the peer's best server.
    fn ratio(self, ours: &Team, theirs: &Team) -> Option<f64> {
        let turns = self.best(ours)?.samples.iter().zip(&self.best(theirs)?.samples);
        let pairs: Vec<_> = turns.filter_map(|(a, b)| self.of(a).zip(self.of(b))).collect();
        median_ratio(&pairs)
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
            team.goals.iter().map(|goal| verdict(*goal, ours, team)).collect::<Vec<_>>().join("; ")
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

pub(crate) fn met(is_met: Option<bool>) -> &'static str {
    match is_met {
        None => "not known",
        Some(true) => "met",
        Some(false) => "missed",
    }
}

fn verdict(goal: Goal, ours: &Team, theirs: &Team) -> String {
    match goal {
        Goal::Rate(least) => {
            let is_met = Quantity::Rate.ratio(ours, theirs).map(|ratio| ratio >= least);
            format!("answers ≥ {least}: {}", met(is_met))
        }
        Goal::Cpu(most) => {
            let is_met = Quantity::Cpu.ratio(ours, theirs).map(|ratio| ratio <= most);
            format!("CPU ≤ {most}: {}", met(is_met))
        }
        Goal::Memory(most) => {
            let ours = Quantity::Memory.best(ours).and_then(|entrant| Quantity::Memory.median(entrant));
            format!("memory ≤ {most} MiB: {}", met(ours.map(|bytes| bytes / MIB <= most)))
        }
    }
}

/// Returns one object of the array that `--json` prints.
pub(crate) fn json(row: &str, ours: &Team, theirs: &Team) -> String {
    let ratio = |quantity: Quantity| quantity.ratio(ours, theirs);
    object(row, theirs.side.name(), &[("rate", ratio(Quantity::Rate)), ("cpu", ratio(Quantity::Cpu))])
}

/// Returns one object of the array that `--json` prints, for a row that measures one value without its
/// processor time.
pub(crate) fn json_of(row: &str, peer: &str, what: &str, ratio: Option<f64>) -> String {
    object(row, peer, &[(what, ratio), ("cpu", None)])
}
