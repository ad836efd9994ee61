//! The learner's side of the exercises: what to do next, whether the answer is right, and help in small
//! steps.
//!
//! An exercise is a package (`exercises/exNN-name`) whose tests judge one file. The command `cargo test -p
//! exNN-name` is enough to do an exercise. This module gives further help: it finds the next exercise, gives
//! a short verdict and one hint at a time, starts an exercise again, and draws a picture of a failure.
//!
//! * [`catalogue`] reads the exercises; [`progress`] remembers what was done, in a plain file.
//! * [`check`] lets Cargo build *one* package, runs its tests with a deadline, and makes a
//!   [`Report`].
//! * The other modules show results and files; the commands are the methods of [`Learner`].
//!
//! The commands write only three things: the progress file, the learner's own file (after making a backup)
//! and the target directory.

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
pub(crate) mod replay;
mod report;
mod schedule;
mod show;
mod stage;
mod style;
pub mod submissions;
mod trial;
mod watch;

pub(crate) use cargo::cargo;
pub use doctor::doctor;
pub use style::{Style, only_ascii, say};

use crate::ways::Ways;
use crate::workspace::Workspace;
use anyhow::ensure;
use check::{Report, Verdict};
use exercises_protocol::{Contents, Exercise, Kinds, counted};
use progress::Progress;
use serde::Serialize;
use std::time::SystemTime;

/// The commands of a learner who does the exercises of this project. Each command prints its result to
/// standard output, and returns whether the result is success.
pub struct Learner {
    workspace: Workspace,
    /// The exercises are in the order of the book.
    exercises: Vec<Exercise>,
    kinds: Kinds,
    contents: Contents,
    ways: Ways,
    progress: Progress,
    style: Style,
}

impl Learner {
    /// # Errors
    /// Returns an error if the exercises or the progress file cannot be read.
    pub fn new(workspace: Workspace) -> anyhow::Result<Self> {
        let exercises = catalogue::all(&workspace)?;
        let kinds = Kinds::read(&workspace.exercises())?;
        let progress = Progress::read(&workspace)?;
        let (contents, ways) = (catalogue::contents(&workspace), Ways::read(&workspace)?);
        Ok(Self { workspace, exercises, kinds, contents, ways, progress, style: Style::of_stdout() })
    }

    /// `check`: checks the exercises with these names; without a name, checks the learner's current exercise.
    ///
    /// # Errors
    /// Returns an error if a name is wrong, or if an exercise could not be checked; the answer may still be
    /// right.
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

    /// Checks an exercise and remembers the result.
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
        // The verdict is valid even if it cannot be saved.
        let kept = replay::renew(&self.workspace, exercise, &report);
        for saved in [self.remember(exercise, &report), kept] {
            saved.unwrap_or_else(|error| eprintln!("warning: {error:#}"));
        }
        report
    }

    /// Records the data that `hint` and `next` need. The function does not record that the stub failed or
    /// that a mended answer succeeded, because the learner has written neither the stub nor that answer.
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

    /// Finds the exercise with this name; without a name, finds the learner's current exercise.
    fn chosen(&self, name: Option<&str>) -> anyhow::Result<&Exercise> {
        name.map_or_else(|| Ok(self.current()), |name| catalogue::named(&self.exercises, name))
    }

    /// Returns the exercise that `check` means without a name: the unsolved exercise that was edited last, or
    /// else the next exercise.
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

/// The amount of detail in the JSON report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Json {
    Whole,
    /// Only the first failure in the report contains the schedule and the output of the learner's code.
    First,
    /// No failure in the report contains the schedule or the output of the learner's code.
    Summary,
}

/// The data that `check` and `list` print as JSON. An exercise has the same `name` in the output of both
/// commands.
#[derive(Serialize)]
struct Document<'a, T> {
    /// The version number of this format. The version increases when a field is removed or gets another
    /// meaning.
    format: u32,
    /// The version of this program.
    version: &'static str,
    exercises: Vec<T>,
    /// The exercises that are not packages. The command `check` does not report these exercises.
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
