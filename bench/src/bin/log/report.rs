//! The output: a table for human readers, and objects of the array that `--json` prints.

use bench::figures::{median, range, shown};
use bench::finding::{self, Finding};

use crate::load::{Load, of_the_clock};
use crate::rows::{Figure, Goal, Row};
use crate::{Compared, Sample};

impl Compared {
    /// Returns, for one figure, the pairs of our values and the peer's values.
    fn pairs(&self, figure: &Figure, load: Load) -> Vec<(f64, f64)> {
        let of = |sample: &Sample| figure.of(&sample.numbers, load);
        self.rounds.iter().map(|(ours, theirs)| (of(ours), of(theirs))).collect()
    }

    fn finding(&self, figure: &Figure, row: Row, load: Load) -> Finding {
        let (peer, goal) = (self.peer.name, figure.goal_beside(self.peer.name));
        Finding::new(&row.title(), peer, figure.name, figure.unit(), &self.pairs(figure, load), goal)
    }

    /// Returns the number of lines that were not in the file exactly once, complete and in order: the
    /// median of the rounds.
    fn lost(&self, load: Load) -> f64 {
        let lost = |(_, theirs): &(Sample, Sample)| {
            theirs.books.as_ref().map_or(0.0, |books| books.wrong(load) as f64)
        };
        median(&self.rounds.iter().map(lost).collect::<Vec<_>>())
    }
}

pub(crate) fn table(row: Row, load: Load, compared: &[Compared]) {
    println!("\n{}: {}", row.name(), row.what(load));
    if row.times_calls() {
        let clock = of_the_clock().as_nanos();
        println!("  A call is timed without the {clock} ns that the clock takes itself.");
    }
    row.figures().iter().for_each(|figure| block(figure, row, load, compared));
    for Compared { peer, rounds } in compared {
        if let Some(books) = rounds.first().and_then(|(_, theirs)| theirs.books.as_ref()) {
            println!("  {:<36}{}", peer.name, books.told(load));
        }
    }
}

fn block(figure: &Figure, row: Row, load: Load, compared: &[Compared]) {
    println!("  {:<36}{:<28}{:>6}", figure.label, "median (range)", "ratio");
    let pairs: Vec<_> = compared.iter().map(|peer| peer.pairs(figure, load)).collect();
    let ours: Vec<f64> = pairs.iter().flatten().map(|(ours, _)| *ours).collect();
    let of_ours = our_own(figure, row, load, compared).map_or_else(String::new, |found| found.told());
    println!("  {:<36}{:<36}{of_ours}", "ours", range(&ours, figure.digits));
    for (compared, pairs) in compared.iter().zip(&pairs) {
        let theirs: Vec<f64> = pairs.iter().map(|(_, theirs)| *theirs).collect();
        let found = compared.finding(figure, row, load);
        let (theirs, ratio, told) = (range(&theirs, figure.digits), shown(found.ratio), found.told());
        println!("  {:<36}{theirs:<28}{ratio:>6}  {told}", compared.peer.name);
    }
}

/// Compares our own values with the goal of the figure, if the goal depends on no peer.
fn our_own(figure: &Figure, row: Row, load: Load, compared: &[Compared]) -> Option<Finding> {
    let Some(Goal::OursAtMost(most)) = figure.goal else { return None };
    let ours = compared.iter().flat_map(|peer| peer.pairs(figure, load)).map(|(ours, _)| (ours, 1.0));
    let (unit, goal) = (figure.unit(), finding::Goal::AtMost(most));
    let pairs: Vec<_> = ours.collect();
    Some(Finding::new(&row.title(), &format!("1 {unit}"), figure.name, unit, &pairs, Some(goal)))
}

/// Returns what was found about all figures of a row.
pub(crate) fn findings(row: Row, load: Load, compared: &[Compared]) -> Vec<Finding> {
    let own = |figure| our_own(figure, row, load, compared);
    let of = |peer: &Compared| {
        let mut findings: Vec<_> =
            row.figures().iter().map(|figure| peer.finding(figure, row, load)).collect();
        if row.has_log() {
            let lost: Vec<_> = peer.rounds.iter().map(|_| (0.0, peer.lost(load))).collect();
            findings.push(Finding::new(&row.title(), peer.peer.name, "lost", "lines", &lost, None));
        }
        findings
    };
    row.figures().iter().filter_map(own).chain(compared.iter().flat_map(of)).collect()
}
