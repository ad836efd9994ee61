//! `check`: checks whether the properties of an exercise hold.

use crate::exercises::Json;
use crate::exercises::cargo::{self, Built, Messages};
use crate::exercises::fingerprints::Fingerprints;
use crate::exercises::notes;
use crate::exercises::stage::Stage;
use crate::workspace::Workspace;
use anyhow::{Context, bail, ensure};
use exercises_protocol::schedule::Schedule;
use exercises_protocol::{Exercise, Failure, Mode, Property, State};
use serde::Serialize;
use std::path::Path;
use std::time::Instant;
use std::{env, fs};

/// A property, and the result of checking it.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    pub name: String,
    pub promise: String,
    /// The stage of the exercise: 2 if the property belongs to the second stage.
    pub stage: u8,
    pub model: State,
    pub real: State,
}

impl Checked {
    /// Returns whether the property held in every mode in which it was checked.
    pub fn holds(&self) -> bool {
        matches!((&self.model, &self.real), (State::Held, State::Held | State::NotRun))
    }

    /// Returns the first mode in which the property failed, and the reason.
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
    /// Some property does not hold.
    Failed,
    /// The answer does not compile, so there is nothing to run.
    DoesNotCompile,
    /// The machine, Cargo or the project's files prevented the check. This verdict does not say
    /// whether the answer is right.
    CouldNotCheck,
}

/// The result of `check` for one exercise.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub name: String,
    pub title: String,
    pub verdict: Verdict,
    /// The time that the check took, including the build.
    pub milliseconds: u128,
    /// The fingerprints of the checked files and of the tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Fingerprints>,
    /// The properties in the order of `exercise.toml`, from simple to hard.
    pub properties: Vec<Checked>,
    /// The notes on the answer; they do not depend on the verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The messages of the compiler, if they are kept.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub compiler: String,
    /// The reason why the check could not be made.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl Report {
    /// Returns the properties that failed. The list begins with the failure that says most about the
    /// mistake.
    pub(super) fn failures(&self, exercise: &Exercise) -> Vec<(&Checked, Mode, &Failure)> {
        let failures = self.properties.iter().filter_map(|checked| Some((checked, checked.failure()?)));
        let mut failures: Vec<_> =
            failures.map(|(checked, (mode, failure))| (checked, mode, failure)).collect();
        failures.sort_by_key(|(checked, _, failure)| exercise.place(&checked.name, failure));
        failures
    }

    /// Returns the progress in a stage of the exercise, according to the check.
    pub(super) fn stage(&self, exercise: &Exercise, number: u8) -> Option<Stage> {
        Stage::seen(exercise, number, &self.properties)
    }

    /// Removes the long parts: schedules, and the output of the learner's code.
    pub(super) fn shorten(&mut self, exercise: &Exercise, json: Json) {
        let first = self.failures(exercise).first().map(|(checked, ..)| checked.name.clone());
        let keeps = |name: &String| match json {
            Json::Whole => true,
            Json::First => first.as_ref() == Some(name),
            Json::Summary => false,
        };
        for checked in self.properties.iter_mut().filter(|checked| !keeps(&checked.name)) {
            for state in [&mut checked.model, &mut checked.real] {
                if let State::Failed(failure) = state {
                    failure.schedule = Schedule::default();
                    failure.output.clear();
                }
            }
        }
    }
}

/// Builds an exercise and checks every property: first under the model, and then on real threads if
/// all properties hold under the model.
pub(super) fn check(workspace: &Workspace, exercise: &Exercise, messages: Messages) -> Report {
    let started = Instant::now();
    let mut report = Report {
        name: exercise.name.clone(),
        title: exercise.title.clone(),
        verdict: Verdict::CouldNotCheck,
        milliseconds: 0,
        sha256: None,
        properties: Vec::new(),
        notes: notes::of(exercise),
        compiler: String::new(),
        reason: String::new(),
    };
    let checked = answer_is_there(workspace, exercise).and_then(|()| {
        report.sha256 = Some(Fingerprints::of(workspace, exercise)?);
        properties(workspace, exercise, messages)
    });
    match checked {
        Ok(Run::Of(properties)) => {
            let holds = |checked: &Checked| matches!(checked.real, State::Held) && checked.holds();
            report.verdict = if properties.iter().all(holds) { Verdict::Solved } else { Verdict::Failed };
            report.properties = properties;
        }
        Ok(Run::DoesNotCompile(said)) => {
            report.verdict = Verdict::DoesNotCompile;
            report.compiler = said;
        }
        Err(error) => format!("{error:#}").trim_end().clone_into(&mut report.reason),
    }
    report.milliseconds = started.elapsed().as_millis();
    report
}

fn answer_is_there(workspace: &Workspace, exercise: &Exercise) -> anyhow::Result<()> {
    let (answer, short) = (exercise.answer(), exercise.short());
    ensure!(
        answer.is_file(),
        "{} is missing; `cargo course reset {short}` puts the stub there",
        workspace.relative(&answer)
    );
    Ok(())
}

/// The result of running one or both test programs.
enum Run<T> {
    Of(Vec<T>),
    /// The messages of the compiler, if they are kept.
    DoesNotCompile(String),
}

fn properties(
    workspace: &Workspace,
    exercise: &Exercise,
    messages: Messages,
) -> anyhow::Result<Run<Checked>> {
    let run = |mode| run(workspace, exercise, mode, messages);
    let model = match run(Mode::Model)? {
        Run::Of(states) => states,
        Run::DoesNotCompile(said) => return Ok(Run::DoesNotCompile(said)),
    };
    // The model is used first, because it explains a mistake better, and because it needs no deadline to find
    // out that no thread can continue.
    let real = if model.iter().all(|state| matches!(state, State::Held)) {
        match run(Mode::Real)? {
            Run::Of(states) => states,
            Run::DoesNotCompile(said) => return Ok(Run::DoesNotCompile(said)),
        }
    } else {
        vec![State::NotRun; exercise.properties.len()]
    };
    let properties = exercise.properties.iter().zip(model.into_iter().zip(real));
    let checked = |(property, (model, real)): (&Property, _)| Checked {
        name: property.name.clone(),
        promise: property.promise.clone(),
        stage: property.stage,
        model,
        real,
    };
    Ok(Run::Of(properties.map(checked).collect()))
}

/// Builds a test program, runs it, and returns the result of each property.
fn run(
    workspace: &Workspace,
    exercise: &Exercise,
    mode: Mode,
    messages: Messages,
) -> anyhow::Result<Run<State>> {
    let program = match cargo::build(workspace, exercise, mode, messages)? {
        Built::Test(program) => program,
        Built::Not(said) => return Ok(Run::DoesNotCompile(said)),
    };
    let trace = tempfile::tempdir().context("cannot make a temporary directory")?;
    let ended = cargo::run_tests(&program, exercise, trace.path())?;
    let states = exercise.properties.iter().map(|property| state(property, ended, trace.path()));
    Ok(Run::Of(states.collect::<anyhow::Result<_>>()?))
}

/// Reads the result that the test of a property has written. If the test has written nothing, this is not the
/// learner's fault, because the learner's code runs in separate processes.
fn state(property: &Property, ended: bool, trace: &Path) -> anyhow::Result<State> {
    match fs::read(trace.join(format!("{}.json", property.name))) {
        Ok(json) => serde_json::from_slice(&json)
            .with_context(|| format!("the test of {} wrote what cannot be read", property.name)),
        Err(_) if !ended => {
            bail!("the tests did not go on, and were ended: {} has no verdict", property.name)
        }
        Err(_) => bail!(
            "the test of {} has written no verdict. Is there room in {}? `git status` shows whether files of the \
             exercise have changed",
            property.name,
            env::temp_dir().display()
        ),
    }
}
