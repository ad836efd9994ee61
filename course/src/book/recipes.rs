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
//!
//! The recipes in `breaks/record.toml` are the recipes for the experiments in the sections *Break it*. A
//! recipe for an experiment names the experiment, as in `breaks = "work-stealing-1"`. The recipe runs in a
//! copy of the project. If `breaks/work-stealing-1.patch` exists, this patch is applied to the copy. Its
//! transcript is `breaks/work-stealing-1.txt`. `[[by_hand]]` lists the experiments that only the reader can
//! do.

use crate::book::breaks;
use crate::book::speed_up::SpeedUp;
use crate::copy::Copy;
use crate::exercises::catalogue;
use crate::workspace::Workspace;
use anyhow::{Context, ensure};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// The folder with the experiments of the sections *Break it*: recipes, patches and transcripts.
pub(crate) const BREAKS: &str = "breaks";

/// The recipes in a folder of the book.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recipes {
    #[serde(default)]
    pub(crate) run: Vec<Run>,
    #[serde(default)]
    pub(crate) server: Vec<Server>,
    #[serde(default)]
    pub(crate) by_hand: Vec<ByHand>,
}

/// An experiment without a recipe.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ByHand {
    pub(crate) breaks: String,
    /// The reason why the course cannot do the experiment for the reader.
    pub(crate) reason: String,
}

/// A command that prints some output and ends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// The name of the recipe's experiment, such as `work-stealing-1`.
    pub(crate) breaks: Option<String>,
    /// The command as the page shows it; ` target/` in the command means the target directory.
    pub(crate) command: String,
    /// The transcript; `None` if only the picture is needed.
    pub(crate) file: Option<String>,
    /// A wrong answer (`exNN m01_x`) that replaces the learner's answer to an exercise while this command
    /// runs.
    pub(crate) answer: Option<String>,
    /// A picture that the command writes below the target directory, and the figure of the book that is made
    /// from this picture. If there is also a transcript, the picture is replaced only together with the
    /// transcript.
    pub(crate) picture: Option<Picture>,
    #[serde(default)]
    pub(crate) measured: bool,
    #[serde(default)]
    pub(crate) equal: Equal,
    /// The figures in the transcript that show a speed-up.
    pub(super) speed_up: Option<SpeedUp>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Picture {
    pub(crate) from: String,
    /// The path of the figure below the book's sources.
    pub(crate) to: String,
}

/// A server, and the commands that run its clients.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    /// The name of the recipe's experiment, such as `single-threaded-1`.
    pub(crate) breaks: Option<String>,
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

/// One step of a recording that involves a server.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// A command that is run to its end.
    pub(crate) run: Option<String>,
    /// A command that is started and then runs in the background. At the end of the recording, the recorder
    /// waits for the command to end if the command's output goes to a file; if not, the recorder ends the
    /// command.
    pub(crate) start: Option<String>,
    /// The number of seconds for which the recorder waits.
    pub(crate) wait: Option<f64>,
    pub(crate) file: Option<String>,
    #[serde(default)]
    pub(crate) equal: Equal,
}

/// Rules for comparing two recordings, in addition to the general rules.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Equal {
    /// True if two recordings may have the same lines in different orders.
    pub(crate) unordered: bool,
    /// Expressions for text that may differ.
    pub(crate) but: Vec<String>,
    /// Expressions for text that every recording must contain.
    pub(crate) with: Vec<String>,
}

impl Run {
    /// Returns a copy of the project with the change of the recipe's experiment, or with the recipe's wrong
    /// answer in place of the learner's answer; returns `None` if the recipe has neither.
    ///
    /// # Errors
    /// Returns an error if there is no such answer, if the patch does not apply, or if a file cannot be read or
    /// written.
    pub(crate) fn copy(&self, workspace: &Workspace, name: &str) -> anyhow::Result<Option<Copy>> {
        if let Some(experiment) = &self.breaks {
            return breaks::broken_copy(workspace, experiment, name);
        }
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

impl Server {
    /// Returns each recorded file, with its command. The log has no command.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let first = self.file.as_deref().map(|file| (file, Some(self.command.as_str())));
        let log = self.log.as_deref().map(|log| (log, None));
        let of_steps = self
            .step
            .iter()
            .filter_map(|step| Some((step.file.as_deref()?, step.command().map(String::as_str))));
        first.into_iter().chain(log).chain(of_steps)
    }
}

impl Recipes {
    /// The folders of the book's sources that contain recipes; each folder also contains the transcripts of
    /// its recipes.
    pub(crate) const FOLDERS: [&str; 2] = ["transcripts", BREAKS];

    /// Reads the recipes in one of the folders. A folder without `record.toml` has no transcripts.
    ///
    /// # Errors
    /// Returns an error if the file cannot be parsed.
    pub(crate) fn read(sources: &Path, folder: &str) -> anyhow::Result<Self> {
        let path = sources.join(folder).join("record.toml");
        if !path.exists() {
            return Ok(Self { run: Vec::new(), server: Vec::new(), by_hand: Vec::new() });
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut recipes: Self = toml::from_str(&text).with_context(|| path.display().to_string())?;
        for step in recipes.server.iter().flat_map(|server| &server.step) {
            let kinds = [step.run.is_some(), step.start.is_some(), step.wait.is_some()];
            let kinds = kinds.into_iter().filter(|is| *is).count();
            ensure!(kinds == 1, "{}: a step is one of run, start and wait", path.display());
        }
        for run in &mut recipes.run {
            run.file = run.file.take().or_else(|| Some(format!("{}.txt", run.breaks.as_ref()?)));
        }
        Ok(recipes)
    }

    /// Returns each recorded file, with its command. The log of a server has no command.
    pub(crate) fn files(&self) -> Vec<(&str, Option<&str>)> {
        let of_runs =
            self.run.iter().filter_map(|run| Some((run.file.as_deref()?, Some(run.command.as_str()))));
        of_runs.chain(self.server.iter().flat_map(Server::files)).collect()
    }

    /// Returns each experiment that has a recipe, with the files that it records.
    pub(crate) fn experiments(&self) -> Vec<(&str, Vec<&str>)> {
        let of_runs = self.run.iter().map(|run| (&run.breaks, run.file.as_deref().into_iter().collect()));
        let of_servers =
            self.server.iter().map(|server| (&server.breaks, server.files().map(|(file, _)| file).collect()));
        of_runs.chain(of_servers).filter_map(|(breaks, files)| Some((breaks.as_deref()?, files))).collect()
    }

    /// Returns the names of everything that the recipes produce: transcripts and pictures.
    pub(crate) fn products(&self) -> impl Iterator<Item = &str> {
        let of_servers = self.server.iter().flat_map(Server::files).map(|(file, _)| file);
        self.run.iter().flat_map(Run::products).chain(of_servers)
    }
}
