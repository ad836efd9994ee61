//! The output: a table for human readers, and objects of the array that `--json` prints.

use bench::figures::{is_met, median, median_ratio, object, range, shown};

use crate::load::{Load, of_the_clock};
use crate::rows::{Figure, Goal, Row};
use crate::sides::SPDLOG;
use crate::{Compared, Sample};

impl Compared {
    /// Returns, for one figure, the pairs of our values and the peer's values.
    fn pairs(&self, figure: &Figure, load: Load) -> Vec<(f64, f64)> {
        let of = |sample: &Sample| figure.of(&sample.numbers, load);
        self.rounds.iter().map(|(ours, theirs)| (of(ours), of(theirs))).collect()
    }

    /// Returns how many lines were not in the file exactly once, complete and in order: the median of the
    /// rounds.
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
    row.figures().iter().for_each(|figure| block(figure, load, compared));
    for Compared { peer, rounds } in compared {
        if let Some(books) = rounds.first().and_then(|(_, theirs)| theirs.books.as_ref()) {
            println!("  {:<36}{}", peer.name, books.told(load));
        }
    }
}

fn block(figure: &Figure, load: Load, compared: &[Compared]) {
    println!("  {:<36}{:<28}{:>6}", figure.label, "median (range)", "ratio");
    let pairs: Vec<_> = compared.iter().map(|peer| peer.pairs(figure, load)).collect();
    let ours: Vec<f64> = pairs.iter().flatten().map(|(ours, _)| *ours).collect();
    let goal = figure.goal.filter(|_| !ours.is_empty()).and_then(|goal| match goal {
        Goal::OursAtMost(most) => Some(is_met(most, Some(median(&ours)))),
        _ => None,
    });
    println!("  {:<36}{:<36}{}", "ours", range(&ours, figure.digits), goal.unwrap_or_default());
    for (peer, pairs) in compared.iter().map(|compared| compared.peer).zip(&pairs) {
        let theirs: Vec<f64> = pairs.iter().map(|(_, theirs)| *theirs).collect();
        let ratio = median_ratio(pairs);
        let verdict =
            figure.goal.filter(|_| peer.name == SPDLOG).zip(ratio).map(|(goal, ratio)| match goal {
                Goal::AtLeast(least) => {
                    format!("  ≥ {least}: {}", if ratio >= least { "met" } else { "missed" })
                }
                Goal::AtMost(most) => format!("  {}", is_met(most, Some(ratio))),
                Goal::OursAtMost(_) => String::new(),
            });
        let theirs = range(&theirs, figure.digits);
        println!("  {:<36}{theirs:<28}{:>6}{}", peer.name, shown(ratio), verdict.unwrap_or_default());
    }
}

/// Returns one object of the array that `--json` prints.
pub(crate) fn json(row: Row, load: Load, compared: &Compared) -> String {
    let ratio = |figure: &Figure| median_ratio(&compared.pairs(figure, load));
    let ratios: Vec<_> = row.figures().iter().map(|figure| (figure.name, ratio(figure))).collect();
    let object = object(&row.name(), compared.peer.name, &ratios);
    if !row.has_log() {
        return object;
    }
    let lost = compared.lost(load);
    object.replace('}', &format!(r#","lost":{lost}}}"#))
}
