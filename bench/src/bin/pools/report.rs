//! The output: a table for people, an array for programs.

use bench::figures::{Spread, median, median_ratio, spread};

use crate::load::{Load, Measured};
use crate::rows::{Goal, Peer};

/// The costs of a side so far, per task.
#[derive(Default)]
pub(crate) struct Costs {
    wall: Vec<f64>,
    cpu: Vec<f64>,
    inline: Vec<f64>,
}

/// Nanoseconds of one measurement, per task.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) wall: f64,
    pub(crate) cpu: Option<f64>,
    /// The share of tasks that the submitters ran themselves.
    inline: f64,
}

impl Cost {
    pub(crate) fn of(measured: &Measured, load: &Load) -> Cost {
        let tasks = load.tasks as f64;
        Cost {
            wall: measured.wall.as_nanos() as f64 / tasks,
            cpu: measured.cpu.map(|cpu| cpu.as_nanos() as f64 / tasks),
            inline: measured.inline as f64 / tasks,
        }
    }
}

impl Costs {
    pub(crate) fn push(&mut self, cost: Cost) {
        self.wall.push(cost.wall);
        self.cpu.extend(cost.cpu);
        self.inline.push(cost.inline);
    }
}

/// A peer, compared with ours.
pub(crate) struct Compared<'a> {
    pub(crate) peer: &'a Peer,
    pub(crate) theirs: Costs,
    /// Our times and theirs, in pairs measured one right after the other.
    wall: Vec<(f64, f64)>,
    cpu: Vec<(f64, f64)>,
}

impl<'a> Compared<'a> {
    pub(crate) fn new(peer: &'a Peer) -> Self {
        Self { peer, theirs: Costs::default(), wall: Vec::new(), cpu: Vec::new() }
    }

    pub(crate) fn push(&mut self, ours: Cost, theirs: Cost) {
        self.theirs.push(theirs);
        self.wall.push((ours.wall, theirs.wall));
        self.cpu.extend(ours.cpu.zip(theirs.cpu));
    }

    fn time_ratio(&self) -> Option<f64> {
        median_ratio(&self.wall)
    }

    fn cpu_ratio(&self) -> Option<f64> {
        median_ratio(&self.cpu)
    }

    fn verdict(&self) -> String {
        let (what, most, ratio) = match self.peer.goal {
            None => return String::new(),
            Some(Goal::Time(most)) => ("time", most, self.time_ratio()),
            Some(Goal::Cpu(most)) => ("CPU", most, self.cpu_ratio()),
        };
        let verdict = match ratio {
            None => "not known",
            Some(ratio) if ratio <= most => "met",
            Some(_) => "missed",
        };
        format!("{what} ≤ {most}: {verdict}")
    }

    /// An object of the array for programs.
    pub(crate) fn json(&self, row: &str) -> String {
        let number = |ratio: Option<f64>| ratio.map_or("null".to_owned(), |ratio| format!("{ratio:.4}"));
        let (time, cpu) = (number(self.time_ratio()), number(self.cpu_ratio()));
        let peer = self.peer.name;
        format!(r#"{{"row":"{row}","peer":"{peer}","time_ratio":{time},"cpu_ratio":{cpu}}}"#)
    }
}

/// The table of one row.
pub(crate) fn table(ours: &Costs, compared: &[Compared<'_>]) {
    println!("  {:<31}{:<26}{:<26}{:>6}{:>6}", "ns per task, median (range)", "time", "CPU", "ratio", "CPU");
    let inline = |costs: &Costs| match median(&costs.inline) {
        share if share > 0.0 => format!("  {:.0} % inline", share * 100.0),
        _ => String::new(),
    };
    println!("  {:<31}{:<26}{:<26}{}", "ours", range(&ours.wall), range(&ours.cpu), inline(ours));
    for peer in compared {
        let ratio = |ratio: Option<f64>| ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
        println!(
            "  {:<31}{:<26}{:<26}{:>6}{:>6}  {}{}",
            peer.peer.name,
            range(&peer.theirs.wall),
            range(&peer.theirs.cpu),
            ratio(peer.time_ratio()),
            ratio(peer.cpu_ratio()),
            peer.verdict(),
            inline(&peer.theirs),
        );
    }
}

fn range(values: &[f64]) -> String {
    if values.is_empty() {
        return "–".to_owned();
    }
    let Spread { median, least, most } = spread(values);
    format!("{median:>6.0} ({least:.0} to {most:.0})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows;

    fn compared(row: &str, pairs: &[(f64, f64)]) -> Compared<'static> {
        let mut compared = Compared::new(&rows::called(row)[0].peers[0]);
        for &(ours, theirs) in pairs {
            let cost = |wall| Cost { wall, cpu: Some(2.0 * wall), inline: 0.0 };
            compared.push(cost(ours), cost(theirs));
        }
        compared
    }

    #[test]
    fn a_goal_is_judged_by_the_median_of_ratios() {
        let pairs = [(4.0, 10.0), (400.0, 1000.0), (90.0, 100.0)];
        assert_eq!(compared("A", &pairs).verdict(), "time ≤ 0.5: met");
        assert_eq!(compared("A", &[(6.0, 10.0)]).verdict(), "time ≤ 0.5: missed");
        assert_eq!(compared("D-caller-runs", &[(10.0, 10.0)]).verdict(), "CPU ≤ 1: met");
        assert_eq!(compared("A", &[]).verdict(), "time ≤ 0.5: not known");
    }

    #[test]
    fn what_a_program_reads_has_null_for_what_is_not_known() {
        let mut one = compared("A", &[(1.0, 4.0)]);
        let expected =
            r#"{"row":"A","peer":"crossbeam-channel pool","time_ratio":0.2500,"cpu_ratio":0.2500}"#;
        assert_eq!(one.json("A"), expected);
        one.cpu.clear();
        assert!(one.json("A").ends_with(r#""time_ratio":0.2500,"cpu_ratio":null}"#));
    }
}
