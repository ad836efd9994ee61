//! The graph of a small program under the model: each state of the program, and the moves of each thread to
//! other states. A learner who plays the scheduler moves through this graph.
//!
//! A file `exercises/graphs/NAME.json` is a [`Graph`]; `exercises/graphs/README.md` describes it.
//! `exercises-harness` records the graph from running code, `exercises-proof` writes and checks the file, and
//! a learner plays the program with `cargo course schedule`.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

use crate::schedule::Line;
use crate::{Exercise, Wrong};

/// The version number of the format; the number grows when a field changes its meaning or is removed.
pub const FORMAT: u32 = 1;

/// A program in which a learner chooses the next thread, as `kinds.toml` describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The name that a learner types:
    pub name: String,
    /// The program's title.
    pub title: String,
    /// The file name of the exercise's page in the book.
    pub chapter: String,
    /// The number of minutes that the exercise takes.
    pub minutes: usize,
    /// The wrong answer in which the learner chooses the next thread. Without a wrong answer, the program has
    /// [code of its own](Program::own_code).
    pub code: Option<Code>,
    /// The functions of the code that are shown to the learner.
    pub functions: Vec<String>,
    /// The goal that the learner must reach as the scheduler.
    pub goal: String,
    /// The kind of end that the learner must reach.
    pub breaks: Kind,
}

/// The code of a program that belongs to an exercise.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Code {
    /// The exercise: `ex10`.
    pub exercise: String,
    /// The wrong answer to that exercise: `m02`.
    pub wrong: String,
}

impl Program {
    /// Returns the path of the program's [`Graph`].
    pub fn graph(&self, exercises: &Path) -> PathBuf {
        exercises.join("graphs").join(&self.name).with_extension("json")
    }

    /// Returns the path of the file that defines the program's threads.
    pub fn scenario(&self, exercises: &Path) -> PathBuf {
        self.graph(exercises).with_extension("rs")
    }

    /// Returns the path of the code of a program that belongs to no exercise: the code `wrong` fails, and the
    /// code `right` does not fail.
    pub fn own_code(&self, exercises: &Path, which: &str) -> Option<PathBuf> {
        self.code.is_none().then(|| self.graph(exercises).with_extension(format!("{which}.rs")))
    }

    /// Returns the wrong answer on which the program is based, if the program belongs to this exercise.
    ///
    /// # Errors
    /// Returns an error if the exercise has no such wrong answer.
    pub fn wrong<'a>(&self, exercise: &'a Exercise) -> Option<anyhow::Result<&'a Wrong>> {
        let code = self.code.as_ref().filter(|code| exercise.short() == code.exercise)?;
        Some(exercise.wrong(&code.wrong))
    }

    /// Returns the lines of the program's functions in the answer's text, without the comments before the
    /// functions.
    ///
    /// # Errors
    /// Returns an error if a function is not in the text.
    pub fn listing(&self, source: &str) -> anyhow::Result<Vec<Line>> {
        let lines: Vec<&str> = source.lines().collect();
        let mut listing = Vec::new();
        for function in &self.functions {
            let begins = |line: &&str| {
                let line = line.trim_start();
                line.strip_prefix("pub ").unwrap_or(line).starts_with(&format!("fn {function}("))
                    && line.ends_with('{')
            };
            let from = lines.iter().position(begins);
            let from = from.with_context(|| format!("{}: no function {function}", self.name))?;
            let indent = lines[from].len() - lines[from].trim_start().len();
            let ends = format!("{:indent$}}}", "");
            let length = lines[from..].iter().position(|line| *line == ends).unwrap_or(0) + 1;
            ensure!(length > 1, "{}: {function} has no end", self.name);
            let text = |line: &str| line.get(indent..).unwrap_or_default().to_owned();
            listing.extend(
                (from..from + length).map(|at| Line {
                    number: u32::try_from(at + 1).unwrap_or(u32::MAX),
                    text: text(lines[at]),
                }),
            );
        }
        listing.sort_by_key(|line| line.number);
        Ok(listing)
    }
}

/// All possible runs of a program with a few threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// [`FORMAT`].
    pub format: u32,
    /// The program's title.
    pub title: String,
    /// The goal of the scheduler, in words.
    pub goal: String,
    /// The kind of end that the learner must reach.
    pub breaks: Kind,
    /// The code, with the line numbers of its file.
    pub listing: Vec<Line>,
    /// The threads.
    pub threads: Vec<Player>,
    /// The states. The first state is the beginning; the other states are ordered by their distance from the
    /// first state.
    pub states: Vec<State>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// The thread's name.
    pub name: String,
    /// The code that the thread runs.
    pub runs: String,
}

/// A state. A state may be reached by several runs, which differ only in the order of independent steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The position of each thread.
    pub threads: Vec<Stand>,
    /// The thread that holds each lock. Threads are numbered: the number of a thread is its index in
    /// [`Graph::threads`].
    pub holders: Vec<Option<usize>>,
    /// The moves in this state: one move for each thread that can go on, or several moves if its notification
    /// can wake one of several threads. A state in which the run has ended has no moves.
    pub moves: Vec<Move>,
    /// The end of the run, if the run has ended in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
}

/// The last step of a thread, and its next step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stand {
    /// The last step of the thread, in words. The text is empty before the thread's first step.
    pub did: String,
    /// The line of that step.
    pub line: Option<u32>,
    /// The step that the thread is about to make, the event that it waits for, or a note that it has ended.
    pub next: String,
    /// The line of that step.
    pub next_line: Option<u32>,
}

/// A step of one thread, up to the next point at which another thread can run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Which thread.
    pub thread: usize,
    /// The number of the state to which the move leads.
    pub to: usize,
    /// The step of the thread, in words.
    pub text: String,
    /// The line of that step.
    pub line: Option<u32>,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The kind of end.
    pub kind: Kind,
    /// A description of the end.
    pub text: String,
}

/// The ways in which a run can end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// All threads have ended, and all promises were kept.
    Ended,
    /// Some threads wait for ever.
    Deadlock,
    /// All threads have ended, and a promise was broken.
    BrokenPromise,
    /// A thread has panicked.
    Panic,
}

impl Graph {
    /// Returns, for each state, the number of moves to the nearest end of this kind. `None` stands for a
    /// state from which no such end can be reached.
    pub fn distances(&self, kind: Kind) -> Vec<Option<usize>> {
        let mut before = vec![Vec::new(); self.states.len()];
        for (from, state) in self.states.iter().enumerate() {
            state.moves.iter().for_each(|step| before[step.to].push(from));
        }
        let is_meant = |state: &State| state.end.as_ref().is_some_and(|end| end.kind == kind);
        let mut distances: Vec<_> = self.states.iter().map(|state| is_meant(state).then_some(0)).collect();
        let mut queue: VecDeque<usize> =
            (0..distances.len()).filter(|&state| distances[state].is_some()).collect();
        while let Some(state) = queue.pop_front() {
            for &from in &before[state] {
                if distances[from].is_none() {
                    distances[from] = distances[state].map(|moves| moves + 1);
                    queue.push_back(from);
                }
            }
        }
        distances
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "struct S;\n\nimpl S {\n    /// Puts.\n    pub fn put(&self) {\n        if true {\n            ();\n        }\n    }\n\n\
                          \x20   fn putter(&self) {\n    }\n}\n\nfn look() {\n    ();\n}\n";

    fn listing(functions: &[&str]) -> anyhow::Result<Vec<(u32, String)>> {
        let program = Program {
            name: "schedule9".into(),
            title: String::new(),
            chapter: String::new(),
            minutes: 5,
            code: None,
            functions: functions.iter().map(|&name| name.to_owned()).collect(),
            goal: String::new(),
            breaks: Kind::Deadlock,
        };
        Ok(program.listing(SOURCE)?.into_iter().map(|line| (line.number, line.text)).collect())
    }

    #[test]
    fn a_function_is_listed_from_its_first_line_to_its_last() {
        let lines = listing(&["look", "put"]).unwrap();
        let put = ["pub fn put(&self) {", "    if true {", "        ();", "    }", "}"];
        let numbered = (5..).zip(put).chain((15..).zip(["fn look() {", "    ();", "}"]));
        let numbered: Vec<(u32, String)> = numbered.map(|(number, text)| (number, text.to_owned())).collect();
        assert_eq!(lines, numbered);
    }

    #[test]
    fn a_function_that_is_not_there_is_named() {
        assert_eq!(listing(&["take"]).unwrap_err().to_string(), "schedule9: no function take");
    }
}
