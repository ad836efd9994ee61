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
use anyhow::{Context, ensure};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// All recipes of the book.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recipes {
    #[serde(default)]
    pub(super) run: Vec<Run>,
    #[serde(default)]
    pub(super) server: Vec<Server>,
}

/// A command that prints some output and ends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    /// The command as the page shows it; ` target/` in it stands for the target directory.
    pub(super) command: String,
    /// The transcript; `None` if only the picture is needed.
    pub(super) file: Option<String>,
    /// A wrong answer (`exNN m01_x`) that replaces the learner's answer to an exercise while this command
    /// runs.
    pub(super) answer: Option<String>,
    /// A picture that the command writes below the target directory, and the figure of the book that is
    /// made from it. If there is also a transcript, the picture is replaced only together with the
    /// transcript.
    pub(super) picture: Option<Picture>,
    #[serde(default)]
    pub(super) measured: bool,
    #[serde(default)]
    pub(super) equal: Equal,
    /// The figures in the transcript that are speed-ups.
    pub(super) speed_up: Option<SpeedUp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Picture {
    pub(super) from: String,
    /// The path of the figure below the book's sources.
    pub(super) to: String,
}

/// A server, and the commands by which its clients run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Server {
    pub(super) command: String,
    /// The transcript of the line that contains the server's address.
    pub(super) file: Option<String>,
    /// The transcript of the lines after the server's address.
    pub(super) log: Option<String>,
    pub(super) step: Vec<Step>,
    #[serde(default)]
    pub(super) measured: bool,
    #[serde(default)]
    pub(super) equal: Equal,
}

/// One step of a recording that has a server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// A command that is run to its end.
    pub(super) run: Option<String>,
    /// A command that is started in the background. At the end of the recording, the recorder waits for
    /// the command if its output goes to a file; otherwise it ends the command.
    pub(super) start: Option<String>,
    /// The number of seconds that the recorder waits.
    pub(super) wait: Option<f64>,
    pub(super) file: Option<String>,
    #[serde(default)]
    pub(super) equal: Equal,
}

/// Rules for comparing two recordings, in addition to the general rules.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Equal {
    /// True if the lines may come in another order.
    pub(super) unordered: bool,
    /// Expressions for text that may differ.
    pub(super) but: Vec<String>,
    /// Expressions for text that every recording must contain.
    pub(super) with: Vec<String>,
}

impl Run {
    /// Returns the files that the recipe produces: a transcript, a picture, or both.
    pub(super) fn products(&self) -> impl Iterator<Item = &str> {
        self.file.as_deref().into_iter().chain(self.picture.as_ref().map(|picture| picture.to.as_str()))
    }
}

impl Step {
    /// Returns the command that the step runs or starts, if it has one.
    pub(super) fn command(&self) -> Option<&String> {
        self.run.as_ref().or(self.start.as_ref())
    }
}

impl Recipes {
    /// Reads the recipes of a book. A book without `record.toml` has no transcripts.
    ///
    /// # Errors
    /// Returns an error if the file cannot be parsed.
    pub(super) fn read(sources: &Path) -> anyhow::Result<Self> {
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
    pub(super) fn files(&self) -> Vec<(&str, Option<&str>)> {
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
