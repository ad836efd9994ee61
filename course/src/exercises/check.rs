//! `check`: do the properties of an exercise hold?

use crate::exercises::cargo::{self, Built, Messages, Ran};
use crate::workspace::Workspace;
use anyhow::Context;
use exercises_protocol::schedule::Schedule;
use exercises_protocol::{Exercise, Failure, Mode, Property};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// How a property fared in one mode.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum State {
    /// No way was found to break it.
    Held,
    /// It was broken.
    Failed(Box<Failure>),
    /// Not tried, because of what failed before.
    NotRun,
}

/// A property and how it fared.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    pub name: String,
    pub promise: String,
    pub model: State,
    pub real: State,
}

impl Checked {
    /// Whether nothing was found to break it, wherever it was tried.
    pub fn holds(&self) -> bool {
        matches!((&self.model, &self.real), (State::Held, State::Held | State::NotRun))
    }

    /// Where it failed first, and why.
    pub fn failure(&self) -> Option<(Mode, &Failure)> {
        [(Mode::Model, &self.model), (Mode::Real, &self.real)].into_iter().find_map(|(mode, state)| {
            match state {
                State::Failed(failure) => Some((mode, &**failure)),
                State::Held | State::NotRun => None,
            }
        })
    }
}

/// The verdict on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every property holds.
    Solved,
    /// Some do not.
    Failed,
    /// There is nothing to run.
    DoesNotCompile,
}

/// What `check` found out about one exercise.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub exercise: String,
    pub title: String,
    pub verdict: Verdict,
    /// In the order of `exercise.toml`, which is from simple to hard.
    pub properties: Vec<Checked>,
    /// What the compiler said, if that was to be kept.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub compiler: String,
}

/// Builds an exercise and checks every property, under the model and, if all hold there, on real threads.
///
/// # Errors
/// If Cargo or a test program cannot be run. A wrong answer is not an error but a report.
pub(super) fn check(
    workspace: &Workspace,
    exercise: &Exercise,
    messages: Messages,
) -> anyhow::Result<Report> {
    let mut report = Report {
        exercise: exercise.name.clone(),
        title: exercise.title.clone(),
        verdict: Verdict::DoesNotCompile,
        properties: Vec::new(),
        compiler: String::new(),
    };
    let run = |mode| run(workspace, exercise, mode, messages);
    let model = match run(Mode::Model)? {
        Run::Of(states) => states,
        Run::DoesNotCompile(said) => return Ok(Report { compiler: said, ..report }),
    };
    // The model says more about a mistake, and never has to wait for a deadline to know that nobody can go on.
    let real = if model.iter().all(|state| matches!(state, State::Held)) {
        match run(Mode::Real)? {
            Run::Of(states) => states,
            Run::DoesNotCompile(said) => return Ok(Report { compiler: said, ..report }),
        }
    } else {
        vec![State::NotRun; exercise.properties.len()]
    };
    let properties = exercise.properties.iter().zip(model.into_iter().zip(real));
    report.properties = properties.map(|(property, (model, real))| checked(property, model, real)).collect();
    let solved =
        report.properties.iter().all(|checked| matches!(checked.real, State::Held) && checked.holds());
    report.verdict = if solved { Verdict::Solved } else { Verdict::Failed };
    Ok(report)
}

fn checked(property: &Property, model: State, real: State) -> Checked {
    Checked { name: property.name.clone(), promise: property.promise.clone(), model, real }
}

/// What came of a test program.
enum Run {
    /// How each property fared.
    Of(Vec<State>),
    /// What the compiler said, if that was to be kept.
    DoesNotCompile(String),
}

/// Builds a test program, runs it, and tells for each property how it fared.
fn run(workspace: &Workspace, exercise: &Exercise, mode: Mode, messages: Messages) -> anyhow::Result<Run> {
    let program = match cargo::build(workspace, exercise, mode.program(), messages)? {
        Built::Test(program) => program,
        Built::Not(said) => return Ok(Run::DoesNotCompile(said)),
    };
    let trace = tempfile::tempdir().context("cannot make a temporary directory")?;
    let ran = cargo::run_tests(&program, exercise, trace.path())?;
    Ok(Run::Of(exercise.properties.iter().map(|property| state(property, &ran, trace.path())).collect()))
}

fn state(property: &Property, ran: &Ran, trace: &Path) -> State {
    if ran.passed.contains(&property.name) {
        return State::Held;
    }
    let written = fs::read(trace.join(format!("{}.json", property.name))).ok();
    let failure = written.and_then(|json| serde_json::from_slice::<Failure>(&json).ok());
    match failure {
        // What the tests write for a property that they did not try.
        Some(failure) if failure.promise == "(not run)" => State::NotRun,
        Some(failure) => State::Failed(Box::new(failure)),
        None => State::Failed(Box::new(without_a_reason(property, ran))),
    }
}

fn without_a_reason(property: &Property, ran: &Ran) -> Failure {
    let (seen, cause) = if ran.stuck {
        (
            "the tests did not go on, and were ended",
            "something in your code never ends and cannot be interrupted",
        )
    } else if ran.failed.contains(&property.name) {
        ("the test failed without saying why", "`cargo test` with its name shows what it printed")
    } else {
        ("there is no such test", "the exercise's files have changed; `git status` shows how")
    };
    let mut failure = Failure::new(&property.promise, seen, cause, Schedule::default());
    failure.hung = ran.stuck;
    failure
}
