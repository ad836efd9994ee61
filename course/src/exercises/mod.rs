//! The learner's side of the exercises: what to do next, whether it is right, and help in small steps.
//!
//! An exercise is a package (`exercises/exNN-name`) whose tests judge one file. Plain `cargo test -p exNN-name` is enough
//! to do it. What is added here is what a learner needs around that: the next exercise, a verdict that can be read at a
//! glance, hints one at a time, a way back to the beginning, and the picture of a failure.
//!
//! * [`catalogue`] reads what there is; [`progress`] remembers what was done, in a plain file.
//! * [`check`] has Cargo build *one* package, runs its tests with a deadline, and makes a [`Report`].
//! * Everything else shows something: the commands are the methods of [`Learner`].
//!
//! Nothing is written but the progress file, the learner's own file (by `reset`, after a backup) and the target
//! directory.

mod cargo;
pub mod catalogue;
pub mod check;
mod difference;
mod doctor;
mod explain;
mod fingerprints;
mod hint;
mod keys;
mod kinds;
mod notes;
pub mod progress;
mod report;
mod schedule;
mod show;
mod stage;
mod style;
mod trial;
mod watch;

pub use doctor::doctor;
pub use style::{Style, only_ascii, say};

use crate::workspace::Workspace;
use anyhow::ensure;
use check::{Report, Verdict};
use exercises_protocol::{Contents, Exercise, Kinds, counted};
use progress::Progress;
use serde::Serialize;
use std::time::SystemTime;

/// Somebody who does the exercises of this project. Every command says what there is to say on standard output, and
/// returns whether all was well.
pub struct Learner {
    workspace: Workspace,
    /// In the order of the book.
    exercises: Vec<Exercise>,
    kinds: Kinds,
    contents: Contents,
    progress: Progress,
    style: Style,
}

impl Learner {
    /// # Errors
    /// If the exercises or the progress file cannot be read.
    pub fn new(workspace: Workspace) -> anyhow::Result<Self> {
        let exercises = catalogue::all(&workspace)?;
        let kinds = Kinds::read(&workspace.exercises())?;
        let progress = Progress::read(&workspace)?;
        let contents = catalogue::contents(&workspace);
        Ok(Self { workspace, exercises, kinds, contents, progress, style: Style::of_stdout() })
    }

    /// `check`: the exercises of these names; without one, the exercise that is being worked on.
    ///
    /// # Errors
    /// If a name is wrong, or something could not be checked: that says nothing about the answer.
    pub fn check(
        &mut self,
        names: &[String],
        every: bool,
        all_messages: bool,
        json: Option<Json>,
    ) -> anyhow::Result<bool> {
        let chosen: Vec<Exercise> = if every {
            self.exercises.clone()
        } else if names.is_empty() {
            vec![self.chosen(None)?.clone()]
        } else {
            let find = |name: &String| catalogue::named(&self.exercises, name).cloned();
            names.iter().map(find).collect::<anyhow::Result<_>>()?
        };
        let mut reports = Vec::new();
        for exercise in &chosen {
            let mut report = self.check_one(exercise, json.is_some());
            match json {
                Some(json) => report.shorten(exercise, json),
                None => say(&report::text(&self.workspace, exercise, &report, all_messages, self.style)),
            }
            if let (None, Verdict::Solved, Some(task)) =
                (json, report.verdict, self.progress.mending(exercise))
            {
                let short = exercise.short();
                say(&format!(
                    "\nThis is {task}, mended. To solve {short} yourself: cargo course reset {short}\n"
                ));
            }
            reports.push(report);
        }
        let of_verdict = |verdict| reports.iter().filter(|report| report.verdict == verdict).count();
        let (unchecked, solved) = (of_verdict(Verdict::CouldNotCheck), of_verdict(Verdict::Solved));
        let all = reports.len();
        if json.is_some() {
            say_json(&Document::of(reports))?;
        }
        ensure!(unchecked == 0, "could not be checked: {unchecked} of {}", counted(all, "exercise"));
        Ok(solved == all)
    }

    /// Checks an exercise and remembers what came of it.
    fn check_one(&mut self, exercise: &Exercise, quietly: bool) -> Report {
        let messages = if quietly { cargo::Messages::Kept } else { cargo::Messages::Shown };
        if !quietly {
            let patience = if cargo::has_built(&self.workspace, exercise) {
                ""
            } else {
                " (the first check of its kind compiles what the tests stand on: a minute or two)"
            };
            eprintln!("checking {}{patience}", exercise.name);
        }
        let report = check::check(&self.workspace, exercise, messages);
        // The verdict stands, whether or not it can be written down.
        self.remember(exercise, &report).unwrap_or_else(|error| eprintln!("warning: {error:#}"));
        report
    }

    /// Remembers what `hint` and `next` have to know. That the stub fails says nothing, and an answer that was mended is not the
    /// learner's own.
    fn remember(&mut self, exercise: &Exercise, report: &Report) -> anyhow::Result<()> {
        if let Some(seen) = report.stage(exercise, 1)
            && exercise.is_begun()
            && self.progress.mending(exercise).is_none()
        {
            self.progress.saw_first_stage(exercise, seen)?;
        }
        match (report.verdict, report.failures(exercise).first()) {
            (Verdict::Solved, _) => match self.progress.mending(exercise).map(str::to_owned) {
                Some(task) => self.progress.solve_task(&task),
                None => self.progress.solved(exercise),
            },
            (Verdict::Failed, Some((checked, ..))) if exercise.is_begun() => {
                self.progress.has_failed(exercise, &checked.name)
            }
            _ => Ok(()),
        }
    }

    /// The exercise of this name, or the one that is being worked on.
    fn chosen(&self, name: Option<&str>) -> anyhow::Result<&Exercise> {
        name.map_or_else(|| Ok(self.current()), |name| catalogue::named(&self.exercises, name))
    }

    /// What `check` means when nobody says which: what was edited last among the unsolved, or else the next one.
    fn current(&self) -> &Exercise {
        let edited = |exercise: &&Exercise| -> Option<SystemTime> {
            exercise.answer().metadata().and_then(|metadata| metadata.modified()).ok()
        };
        let in_work = self
            .exercises
            .iter()
            .filter(|exercise| !self.progress.is_solved(exercise) && exercise.is_begun());
        in_work.max_by_key(edited).unwrap_or_else(|| self.next_unsolved().unwrap_or(&self.exercises[0]))
    }

    fn next_unsolved(&self) -> Option<&Exercise> {
        self.exercises.iter().find(|exercise| !self.progress.is_solved(exercise))
    }
}

/// How much is reported as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Json {
    Whole,
    /// Schedules, and what the learner's code printed, only for the failure that is shown first.
    First,
    /// Neither for any failure.
    Summary,
}

/// What is written as JSON: `check` and `list` have the same frame, and an exercise has the same `name` in both.
#[derive(Serialize)]
struct Document<'a, T> {
    /// Of this format. It goes up when a field changes its meaning or goes away.
    format: u32,
    /// Of the program.
    version: &'static str,
    exercises: Vec<T>,
    /// Those that are no packages. `check` does not look at them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<show::ListedTask<'a>>,
}

impl<T> Document<'_, T> {
    fn of(exercises: Vec<T>) -> Self {
        Self { format: 2, version: env!("CARGO_PKG_VERSION"), exercises, tasks: Vec::new() }
    }
}

fn say_json(what: &impl Serialize) -> anyhow::Result<()> {
    style::write(&format!("{}\n", serde_json::to_string(what)?));
    Ok(())
}
