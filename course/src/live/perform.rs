//! Carries out the recipes of one run, as the recorder does, and compares each output with the book.

use super::child::{Child, Output, Starter};
use super::run::Run;
use crate::book::equal::differences;
use crate::book::recipes::{self, Equal, Server, Step};
use crate::book::shell::{SHOWN, build_commands, in_shell, server_command, settle};
use crate::copy::Copy;
use crate::workspace::Workspace;
use anyhow::{Context, ensure};
use executor::Promise;
use serde_json::json;
use std::fs;
use std::iter;
use std::ops::Range;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// A server logs a line after it has sent the answer. The server is stopped when it has logged nothing for
/// this time.
const QUIET: Duration = Duration::from_secs(1);

/// A recipe of the book.
#[derive(Clone, Copy)]
pub(super) enum Recipe<'a> {
    /// The command of an experiment.
    Experiment(&'a str),
    Run(&'a recipes::Run),
    Server(&'a Server),
}

/// The run of some recipes, one after the other.
pub(super) struct Performance<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) starter: &'a Starter,
    pub(super) run: &'a Arc<Run>,
    /// A folder in the target directory. If a command writes to `target/` or to the folder for temporary
    /// files, its files go to this folder.
    pub(super) scratch: String,
}

impl Performance<'_> {
    /// Carries out a recipe.
    ///
    /// # Errors
    /// Returns an error if a command cannot be built or started, if a server does not say where it listens,
    /// or if the run was cut short.
    pub(super) fn of(&self, recipe: Recipe<'_>) -> anyhow::Result<()> {
        match recipe {
            Recipe::Experiment(command) => self.of_experiment(command),
            Recipe::Run(run) => self.of_run(run),
            Recipe::Server(server) => self.of_server(server),
        }
    }

    fn of_experiment(&self, command: &str) -> anyhow::Result<()> {
        let part = self.run.begin_part(command);
        let child = in_shell(self.workspace, command);
        self.end(self.start(&child, self.workspace, false, Output::Part(part))?, part)
    }

    fn of_run(&self, recipe: &recipes::Run) -> anyhow::Result<()> {
        let copy = recipe.copy(self.workspace, &format!("{}/copy", self.scratch))?;
        let place = copy.as_ref().map_or(self.workspace, Copy::workspace);
        self.run.rename(&format!("{}/", place.root().display()), "");
        self.build(&recipe.command)?;
        let part = self.run.begin_part(&recipe.command);
        let child = self.start(&in_shell(place, &recipe.command), place, false, Output::Part(part))?;
        self.end(child, part)?;
        self.judge(part, 0..usize::MAX, recipe.file.as_deref(), &recipe.equal)
    }

    /// Starts the server on a free port, carries out the steps, and kills the server.
    fn of_server(&self, recipe: &Server) -> anyhow::Result<()> {
        for command in iter::once(&recipe.command).chain(recipe.step.iter().filter_map(Step::command)) {
            self.build(command)?;
        }
        let start = |command: &str, typing, output| {
            self.start(&in_shell(self.workspace, command), self.workspace, typing, output)
        };
        let serving = self.run.begin_part(&recipe.command);
        let (promise, address) = Promise::new();
        let server = start(&server_command(recipe), false, Output::Server(serving, promise))?;
        let address = address.join_timeout(self.starter.patience).ok();
        let address = address.context("the server ended without an address")?;
        let mut waiting = Vec::new();
        for step in &recipe.step {
            self.run.ending.sleep(Duration::from_secs_f64(step.wait.unwrap_or_default()))?;
            let Some(shown) = step.command() else { continue };
            let part = self.run.begin_part(shown);
            let goes_on = step.start.is_some();
            let child = start(&shown.replace(SHOWN, &address), goes_on, Output::Part(part))?;
            if goes_on {
                waiting.push((child, part, step));
            } else {
                self.end(child, part)?;
                self.judge(part, 0..usize::MAX, step.file.as_deref(), &step.equal)?;
            }
        }
        for (child, part, step) in waiting {
            if step.file.is_some() {
                self.end(child, part)?;
                self.judge(part, 0..usize::MAX, step.file.as_deref(), &step.equal)?;
            } else {
                child.kill()?;
            }
        }
        if recipe.log.is_some() {
            self.until_quiet()?;
        }
        server.kill()?;
        self.judge(serving, 0..1, recipe.file.as_deref(), &recipe.equal)?;
        self.judge(serving, 1..usize::MAX, recipe.log.as_deref(), &recipe.equal)
    }

    /// Builds what `command` runs. The time of the build does not count as time of the command.
    fn build(&self, command: &str) -> anyhow::Result<()> {
        let show_progress = |build: &mut Command| {
            settle(build, self.workspace);
            build.env("CARGO_TERM_PROGRESS_WHEN", "always").env("CARGO_TERM_PROGRESS_WIDTH", "80");
        };
        for command in build_commands(command) {
            self.run.builds(true);
            let build = self.starter.start(self.run, &command, false, show_progress, Output::Progress)?;
            let status = build.end()?;
            self.run.builds(false);
            self.run.ending.check()?;
            ensure!(status == 0, "`{command}` failed");
        }
        Ok(())
    }

    fn start(&self, command: &str, place: &Workspace, typing: bool, output: Output) -> anyhow::Result<Child> {
        let target = self.workspace.target();
        let scratch = target.join(&self.scratch);
        self.run.rename(&format!("{}/", target.display()), "target/");
        self.run.rename(&format!("{}/", scratch.display()), "target/");
        let command = command.replace(" target/", &format!(" '{}'/", scratch.display()));
        let settle = |child: &mut Command| {
            settle(child, place);
            child.env("CARGO_TARGET_DIR", &target).env("TMPDIR", &scratch);
        };
        self.starter.start(self.run, &command, typing, settle, output)
    }

    /// Waits for the end of a command. Fails if the run was cut short.
    fn end(&self, child: Child, part: usize) -> anyhow::Result<()> {
        self.run.end_part(part, child.end()?);
        Ok(self.run.ending.check()?)
    }

    /// Waits until nothing was printed for [`QUIET`].
    fn until_quiet(&self) -> anyhow::Result<()> {
        let mut before = None;
        while before.replace(self.run.count()) != Some(self.run.count()) {
            self.run.ending.sleep(QUIET)?;
        }
        Ok(())
    }

    /// Compares some lines of a command's output with a transcript.
    fn judge(
        &self,
        part: usize,
        lines: Range<usize>,
        file: Option<&str>,
        equal: &Equal,
    ) -> anyhow::Result<()> {
        let Some(file) = file else { return Ok(()) };
        let path = self.workspace.book().join("src/transcripts").join(file);
        let recorded =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let printed = self.run.printed(part);
        let printed: Vec<&str> =
            printed.iter().map(String::as_str).skip(lines.start).take(lines.len()).collect();
        let differ = differences(&recorded, &format!("{}\n", printed.join("\n").trim_end()), equal)?;
        let new: Vec<usize> = differ.new.iter().map(|number| lines.start + number).collect();
        self.run.judge(json!({
            "transcript": file, "part": part, "old": differ.old, "new": new, "lacks": differ.lacks,
        }));
        Ok(())
    }
}
