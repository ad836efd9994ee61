//! Measures our side and each peer alternately, A B A B …. Each run of a peer comes right after a run of our
//! side, so that other work on the machine disturbs both runs.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Context;
use clap::Args;

use crate::figures::{is_met, median, median_ratio, object, range, shown};
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

    /// Print an array of {`row`, `peer`, ratios} and nothing else
    #[arg(long)]
    pub json: bool,
}

impl Flags {
    pub fn wants(&self, peer: &str) -> bool {
        self.peers.is_empty() || self.peers.iter().any(|word| contains(peer, word))
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

    /// Prints the array for programs, if the command line asks for it.
    pub fn print(&self, objects: &[String]) {
        if self.json {
            println!("[{}]", objects.join(",\n "));
        }
    }
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

/// The goal: the highest allowed ratio of our value to the peer's value.
#[derive(Clone, Copy)]
pub enum Goal {
    Time(f64),
    Cpu(f64),
}

pub struct Peer {
    pub name: &'static str,
    pub goal: Option<Goal>,
    pub start: Box<dyn FnOnce() -> anyhow::Result<Measure>>,
}

/// The costs of a peer and of our side.
pub struct Compared {
    name: &'static str,
    goal: Option<Goal>,
    rounds: Vec<(Cost, Cost)>,
}

/// Measures our side together with each wanted peer. If a peer cannot be started, the output names the peer,
/// and the peer is left out.
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
    for Peer { name, goal, start } in peers.into_iter().filter(|peer| flags.wants(peer.name)) {
        match start() {
            Ok(mut theirs) => {
                theirs().context(name)?; // not counted
                pairs.push((theirs, Compared { name, goal, rounds: Vec::new() }));
            }
            Err(error) => eprintln!("{name} is left out: {error:#}"),
        }
    }
    ours()?;
    for round in 1..=flags.rounds {
        progress(&format!("{row}: round {round} of {}", flags.rounds));
        for (theirs, compared) in &mut pairs {
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

    fn verdict(&self) -> String {
        match self.goal {
            None => String::new(),
            Some(Goal::Time(most)) => format!("time {}", is_met(most, median_ratio(&self.wall()))),
            Some(Goal::Cpu(most)) => format!("CPU {}", is_met(most, median_ratio(&self.cpu()))),
        }
    }

    /// Returns one object of the array that `--json` prints.
    pub fn json(&self, row: &str) -> String {
        let ratios = [("time", median_ratio(&self.wall())), ("cpu", median_ratio(&self.cpu()))];
        object(row, self.name, &ratios)
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
        line(peer.name, &theirs, format!("{wall:>6}{cpu:>6}  {}", peer.verdict()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(goal: Goal, pairs: &[(f64, f64)]) -> Compared {
        let cost = |wall| Cost { wall, cpu: Some(2.0 * wall), inline: 0.0 };
        let rounds = pairs.iter().map(|&(ours, theirs)| (cost(ours), cost(theirs))).collect();
        Compared { name: "theirs", goal: Some(goal), rounds }
    }

    #[test]
    fn a_goal_is_judged_by_the_median_of_ratios() {
        let pairs = [(4.0, 10.0), (400.0, 1000.0), (90.0, 100.0)];
        assert_eq!(compared(Goal::Time(0.5), &pairs).verdict(), "time ≤ 0.5: met");
        assert_eq!(compared(Goal::Time(0.5), &[(6.0, 10.0)]).verdict(), "time ≤ 0.5: missed");
        assert_eq!(compared(Goal::Cpu(1.0), &[(10.0, 10.0)]).verdict(), "CPU ≤ 1: met");
        assert_eq!(compared(Goal::Time(0.5), &[]).verdict(), "time ≤ 0.5: not known");
    }

    #[test]
    fn what_a_program_reads_has_null_for_what_is_not_known() {
        let mut one = compared(Goal::Time(0.5), &[(1.0, 4.0)]);
        let expected = r#"{"row":"A","peer":"theirs","time_ratio":0.2500,"cpu_ratio":0.2500}"#;
        assert_eq!(one.json("A"), expected);
        one.rounds[0].0.cpu = None;
        assert!(one.json("A").ends_with(r#""time_ratio":0.2500,"cpu_ratio":null}"#));
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
            Peer { name, goal: None, start: Box::new(start) }
        };
        let flags = Flags { rounds: 2, peers: vec!["PEER".into()], json: false };
        let peers = [
            peer("peer a", Some(side('a'))),
            peer("peer b", None),
            peer("peer c", Some(side('c'))),
            peer("other", Some(side('x'))),
        ];
        let compared = hold("row", &flags, side('o'), peers).unwrap();
        assert_eq!(compared.len(), 2);
        assert_eq!(*said.borrow(), "aco".to_owned() + &"oaoc".repeat(2));
        assert!(flags.check(["a peer", "other"].into_iter()).is_ok());
        assert!(flags.check(["other"].into_iter()).unwrap_err().ends_with("there are other"));
    }
}
