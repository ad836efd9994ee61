//! The recipes in `transcripts/record.toml`: the command of each transcript, and the parts of its output
//! that must stay equal.
//!
//! ```toml
//! [[run]]
//! command = "cargo run --example pool_of_two"
//! file = "pool_of_two.txt"
//!
//! [[server]]
//! command = "cargo run --bin pooled"      # is started on a free port
//! log = "pooled_log.txt"
//! step = [
//!     { start = "curl http://127.0.0.1:8080/block?ms=2000" },      # goes on in the background
//!     { wait = 0.5 },                                              # seconds, as a reader would take
//!     { run = "curl http://127.0.0.1:8080/hello", file = "pooled_hello.txt" },
//! ]
//! ```
//!
//! The transcript of a measurement is kept as long as the parts that `equal` names do not change. To
//! measure again, delete the transcript. `--check` skips recipes with `measured = true` unless the user
//! names them: on a busy machine even the order of the lines can differ.

use crate::book::speed_up::SpeedUp;
use crate::copy::Copy;
use crate::exercises::catalogue;
use crate::workspace::Workspace;
use anyhow::{Context, ensure};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// All recipes of the book.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recipes {
    #[serde(default)]
    pub(crate) run: Vec<Run>,
    #[serde(default)]
    pub(crate) server: Vec<Server>,
}

/// A command that prints some output and ends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// The command as the page shows it; ` target/` in it stands for the target directory.
    pub(crate) command: String,
    /// The transcript; `None` if only the picture is needed.
    pub(crate) file: Option<String>,
    /// A wrong answer (`exNN m01_x`) that replaces the learner's answer to an exercise while this command
    /// runs.
    pub(crate) answer: Option<String>,
    /// A picture that the command writes below the target directory, and the figure of the book that is
    /// made from it. If there is also a transcript, the picture is replaced only together with the
    /// transcript.
    pub(crate) picture: Option<Picture>,
    #[serde(default)]
    pub(crate) measured: bool,
    #[serde(default)]
    pub(crate) equal: Equal,
    /// The figures in the transcript that are speed-ups.
    pub(super) speed_up: Option<SpeedUp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Picture {
    pub(crate) from: String,
    /// The path of the figure below the book's sources.
    pub(crate) to: String,
}

/// A server, and the commands by which its clients run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) command: String,
    /// The transcript of the line that contains the server's address.
    pub(crate) file: Option<String>,
    /// The transcript of the lines after the server's address.
    pub(crate) log: Option<String>,
    pub(crate) step: Vec<Step>,
    #[serde(default)]
    pub(crate) measured: bool,
    #[serde(default)]
    pub(crate) equal: Equal,
}

/// One step of a recording that has a server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// A command that is run to its end.
    pub(crate) run: Option<String>,
    /// A command that is started in the background. At the end of the recording, the recorder waits for
    /// the command if its output goes to a file; otherwise it ends the command.
    pub(crate) start: Option<String>,
    /// The number of seconds that the recorder waits.
    pub(crate) wait: Option<f64>,
    pub(crate) file: Option<String>,
    #[serde(default)]
    pub(crate) equal: Equal,
}

/// Rules for comparing two recordings, in addition to the general rules.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Equal {
    /// True if the lines may come in another order.
    pub(crate) unordered: bool,
    /// Expressions for text that may differ.
    pub(crate) but: Vec<String>,
    /// Expressions for text that every recording must contain.
    pub(crate) with: Vec<String>,
}

impl Run {
    /// Returns a copy of the project below the target directory, in which the learner's answer is replaced by
    /// the recipe's; `None` if the recipe has no answer.
    ///
    /// # Errors
    /// Returns an error if there is no such answer, or if a file cannot be read or written.
    pub(crate) fn copy(&self, workspace: &Workspace, name: &str) -> anyhow::Result<Option<Copy>> {
        let Some(answer) = &self.answer else { return Ok(None) };
        let copy = Copy::of(workspace, name)?;
        let (exercise, wrong) =
            answer.split_once(' ').with_context(|| format!("{answer:?} is no `exNN m01_x`"))?;
        let exercises = catalogue::all(copy.workspace())?;
        let exercise = catalogue::named(&exercises, exercise)?;
        fs::write(exercise.answer(), exercise.wrong_answer(exercise.wrong(wrong)?)?)?;
        Ok(Some(copy))
    }

    /// Returns the files that the recipe produces: a transcript, a picture, or both.
    pub(crate) fn products(&self) -> impl Iterator<Item = &str> {
        self.file.as_deref().into_iter().chain(self.picture.as_ref().map(|picture| picture.to.as_str()))
    }
}

impl Step {
    /// Returns the command that the step runs or starts, if it has one.
    pub(crate) fn command(&self) -> Option<&String> {
        self.run.as_ref().or(self.start.as_ref())
    }
}

impl Recipes {
    /// Reads the recipes of a book. A book without `record.toml` has no transcripts.
    ///
    /// # Errors
    /// Returns an error if the file cannot be parsed.
    pub(crate) fn read(sources: &Path) -> anyhow::Result<Self> {
        let path = sources.join("transcripts/record.toml");
        if !path.exists() {
            return Ok(Self { run: Vec::new(), server: Vec::new() });
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let recipes: Self = toml::from_str(&text).with_context(|| path.display().to_string())?;
        for step in recipes.server.iter().flat_map(|server| &server.step) {
            let kinds = [step.run.is_some(), step.start.is_some(), step.wait.is_some()];
            let kinds = kinds.into_iter().filter(|is| *is).count();
            ensure!(kinds == 1, "{}: a step is one of run, start and wait", path.display());
        }
        Ok(recipes)
    }

    /// Returns each recorded file, with its command. The log of a server has no command.
    pub(crate) fn files(&self) -> Vec<(&str, Option<&str>)> {
        let mut files: Vec<(&str, Option<&str>)> = Vec::new();
        files.extend(
            self.run.iter().filter_map(|run| Some((run.file.as_deref()?, Some(run.command.as_str())))),
        );
        for server in &self.server {
            files.extend(server.file.as_deref().map(|file| (file, Some(server.command.as_str()))));
            files.extend(server.log.as_deref().map(|log| (log, None)));
            for step in &server.step {
                files.extend(step.file.as_deref().map(|file| (file, step.command().map(String::as_str))));
            }
        }
        files
    }
}
