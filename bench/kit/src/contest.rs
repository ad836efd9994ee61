//! Measures our side and each peer alternately, A B A B …. Each run of a peer comes right after a run of our
//! side, so that other work on the machine disturbs both runs.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use crate::figures::{median, median_ratio, range, shown};
use crate::finding::{self, Finding};
use crate::java::Java;

/// The flags of a comparison whose rows have several peers.
#[derive(Args)]
pub struct Flags {
    /// How often each side is measured
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,

    /// Measure only peers whose name contains this, as in `--peer rayon --peer java`
    #[arg(long = "peer", value_name = "WORD")]
    peers: Vec<String>,

    /// Measure only peers with a goal
    #[arg(long)]
    goals: bool,

    /// Print an array of objects and nothing else; README.md describes them
    #[arg(long)]
    pub json: bool,
}

impl Flags {
    pub fn wants(&self, peer: &str, has_goal: bool) -> bool {
        let is_named = self.peers.is_empty() || self.peers.iter().any(|word| contains(peer, word));
        is_named && (has_goal || !self.goals)
    }

    /// Checks that each word in a list is the name of a peer.
    ///
    /// # Errors
    /// If a word is not the name of a peer, returns a sentence that lists the peers.
    pub fn check<'a>(&self, peers: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let peers: Vec<_> = peers.collect::<BTreeSet<_>>().into_iter().collect();
        match self.peers.iter().find(|word| !peers.iter().any(|name| contains(name, word))) {
            None => Ok(()),
            Some(word) => Err(format!("no peer is called {word}; there are {}", peers.join(", "))),
        }
    }

    /// Prints the array for programs, if the flags ask for it.
    ///
    /// # Panics
    /// Does not panic: texts and numbers can be written.
    pub fn print(&self, findings: &[Finding]) {
        if self.json {
            print_json(findings);
        }
    }
}

/// Prints the array for programs, an object a line.
///
/// # Panics
/// Does not panic: texts and numbers can be written.
pub fn print_json(findings: &[Finding]) {
    let object = |found| serde_json::to_string(found).expect("texts and numbers can be written");
    println!("[{}]", findings.iter().map(object).collect::<Vec<_>>().join(",\n "));
}

fn contains(name: &str, word: &str) -> bool {
    name.to_lowercase().contains(&word.to_lowercase())
}

/// The cost of one run of one side, in the unit of the row.
#[derive(Clone, Copy)]
pub struct Cost {
    pub wall: f64,
    /// The processor time; `None` if the processor time is not known.
    pub cpu: Option<f64>,
    /// The share of the tasks that the submitting threads ran themselves.
    pub inline: f64,
}

impl Cost {
    /// `per` is the number of nanoseconds in one unit of the cost.
    pub fn of(wall: Duration, cpu: Option<Duration>, per: f64) -> Cost {
        let cpu = cpu.map(|cpu| cpu.as_nanos() as f64 / per);
        Cost { wall: wall.as_nanos() as f64 / per, cpu, inline: 0.0 }
    }
}

/// Runs a side of the contest once.
pub type Measure = Box<dyn FnMut() -> anyhow::Result<Cost>>;

/// Starts a peer that is written in Java, and makes it run the `load` several times, so that the JVM compiles
/// the code before the measurement.
///
/// # Errors
/// Returns the errors of [`Java::start`] and [`Java::run`].
pub fn java(source: &str, mode: &str, warm_ups: u32, load: String, per: f64) -> anyhow::Result<Measure> {
    let mut java = Java::start(source, mode)?;
    let mut run = move || {
        let (numbers, cpu) = java.run(&load)?;
        let wall = *numbers.first().context("Java answers a number")?;
        let inline = numbers.get(1).map_or(0.0, |&inline| inline as f64 / per);
        Ok(Cost { inline, ..Cost::of(Duration::from_nanos(wall), cpu, per) })
    };
    for _ in 0..warm_ups {
        run()?;
    }
    Ok(Box::new(run))
}

/// The highest ratio of our value to the peer's value that meets the goal.
#[derive(Clone, Copy, PartialEq)]
pub enum Goal {
    Time(f64),
    Cpu(f64),
}

pub struct Peer {
    pub name: &'static str,
    pub goals: &'static [Goal],
    pub start: Box<dyn FnOnce() -> anyhow::Result<Measure>>,
}

/// The costs of a peer and of our side. There are no rounds if the peer could not be started.
pub struct Compared {
    name: &'static str,
    goals: &'static [Goal],
    rounds: Vec<(Cost, Cost)>,
}

/// Measures our side beside each wanted peer. A peer that cannot be started is named in the output, and has no
/// rounds.
///
/// # Errors
/// Returns an error if a side fails.
pub fn hold(
    row: &str,
    flags: &Flags,
    mut ours: Measure,
    peers: impl IntoIterator<Item = Peer>,
) -> anyhow::Result<Vec<Compared>> {
    let mut pairs = Vec::new();
    for Peer { name, goals, start } in peers {
        if !flags.wants(name, !goals.is_empty()) {
            continue;
        }
        let mut theirs = match start() {
            Ok(theirs) => Some(theirs),
            Err(error) => {
                eprintln!("{name} is left out: {error:#}");
                None
            }
        };
        if let Some(theirs) = &mut theirs {
            theirs().context(name)?; // not counted
        }
        pairs.push((theirs, Compared { name, goals, rounds: Vec::new() }));
    }
    ours()?;
    for round in 1..=flags.rounds {
        progress(&format!("{row}: round {round} of {}", flags.rounds));
        for (theirs, compared) in &mut pairs {
            let Some(theirs) = theirs else { continue };
            let ours = ours()?;
            compared.rounds.push((ours, theirs().context(compared.name)?));
        }
    }
    progress("");
    Ok(pairs.into_iter().map(|(_, compared)| compared).collect())
}

/// Shows a line of progress, which replaces the previous line.
pub fn progress(line: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r{line:60}\r");
    }
}

impl Compared {
    fn wall(&self) -> Vec<(f64, f64)> {
        self.rounds.iter().map(|(ours, theirs)| (ours.wall, theirs.wall)).collect()
    }

    fn cpu(&self) -> Vec<(f64, f64)> {
        self.rounds.iter().filter_map(|(ours, theirs)| ours.cpu.zip(theirs.cpu)).collect()
    }

    /// Returns what was found about the time and the processor time.
    pub fn findings(&self, row: &str, unit: &str) -> [Finding; 2] {
        let goal = |of: fn(&Goal) -> Option<f64>| self.goals.iter().find_map(of).map(finding::Goal::AtMost);
        let time = goal(|goal| if let Goal::Time(most) = goal { Some(*most) } else { None });
        let cpu = goal(|goal| if let Goal::Cpu(most) = goal { Some(*most) } else { None });
        [("time", self.wall(), time), ("cpu", self.cpu(), cpu)]
            .map(|(figure, pairs, goal)| Finding::new(row, self.name, figure, unit, &pairs, goal))
    }
}

/// Prints the table for one row.
pub fn print(unit: &str, digits: usize, compared: &[Compared]) {
    let line = |name: &str, costs: &[Cost], rest: String| {
        let wall: Vec<_> = costs.iter().map(|cost| cost.wall).collect();
        let cpu: Vec<_> = costs.iter().filter_map(|cost| cost.cpu).collect();
        let inline: Vec<_> = costs.iter().map(|cost| cost.inline).collect();
        let inline = match inline.first().map(|_| median(&inline)) {
            Some(share) if share > 0.0 => format!("  {:.0} % inline", share * 100.0),
            _ => String::new(),
        };
        println!("  {name:<36}{:<30}{:<30}{rest}{inline}", range(&wall, digits), range(&cpu, digits));
    };
    println!("  {unit:<36}{:<30}{:<30}{:>6}{:>6}", "time, median (range)", "CPU", "ratio", "CPU");
    let of_ours: Vec<_> = compared.iter().flat_map(|peer| &peer.rounds).map(|(ours, _)| *ours).collect();
    line("ours", &of_ours, String::new());
    for peer in compared {
        let theirs: Vec<_> = peer.rounds.iter().map(|(_, theirs)| *theirs).collect();
        let (wall, cpu) = (shown(median_ratio(&peer.wall())), shown(median_ratio(&peer.cpu())));
        let told = peer.findings("", unit).map(|found| found.told()).join("  ");
        line(peer.name, &theirs, format!("{wall:>6}{cpu:>6}  {}", told.trim()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_has_its_goal() {
        let cost = |wall| Cost { wall, cpu: Some(2.0 * wall), inline: 0.0 };
        let goals = &[Goal::Time(0.5), Goal::Cpu(0.3)];
        let mut one = Compared { name: "theirs", goals, rounds: vec![(cost(4.0), cost(10.0))] };
        let told = |one: &Compared| one.findings("A", "ns").map(|found| found.told());
        assert_eq!(told(&one), ["time ≤ 0.5: met (0.40 to 0.40)", "cpu ≤ 0.3: missed (0.40 to 0.40)"]);
        one.rounds[0].0.cpu = None;
        assert_eq!(told(&one)[1], "cpu ≤ 0.3: no peer");
        one.goals = &[];
        assert_eq!(told(&one), ["", ""]);
    }

    #[test]
    fn each_run_of_a_peer_has_one_of_ours_before_it() {
        use std::cell::RefCell;
        use std::rc::Rc;
        let said = Rc::new(RefCell::new(String::new()));
        let side = |letter: char| -> Measure {
            let said = Rc::clone(&said);
            Box::new(move || {
                said.borrow_mut().push(letter);
                Ok(Cost::of(Duration::from_secs(1), None, 1e9))
            })
        };
        let peer = |name, measure: Option<Measure>| {
            let start = move || measure.context("it is missing");
            let goals: &[Goal] = if name == "peer c" { &[] } else { &[Goal::Time(1.0)] };
            Peer { name, goals, start: Box::new(start) }
        };
        let mut flags = Flags { rounds: 2, peers: vec!["PEER".into()], goals: false, json: false };
        let peers = [
            peer("peer a", Some(side('a'))),
            peer("peer b", None),
            peer("peer c", Some(side('c'))),
            peer("other", Some(side('x'))),
        ];
        let compared = hold("row", &flags, side('o'), peers).unwrap();
        assert_eq!(compared.iter().map(|peer| peer.rounds.len()).collect::<Vec<_>>(), [2, 0, 2]);
        assert_eq!(*said.borrow(), "aco".to_owned() + &"oaoc".repeat(2));
        flags.goals = true;
        assert!(flags.wants("peer a", true) && !flags.wants("peer c", false) && !flags.wants("other", true));
        assert!(flags.check(["a peer", "other"].into_iter()).is_ok());
        assert!(flags.check(["other"].into_iter()).unwrap_err().ends_with("there are other"));
    }
}
