//! `wrong exNN MISTAKE --runs COUNT`: counts how often a typical mistake is caught, and by which
//! property.
//!
//! The package `exercises-proof` compiles every wrong answer with the exercise's tests. This module is
//! different: it runs one wrong answer several times in each mode. Each run is a separate process; under the
//! model, each run also tries other schedules.

use crate::exercises::{Learner, cargo, catalogue, say};
use crate::workspace::Workspace;
use anyhow::{Context, bail, ensure};
use exercises_protocol::{Exercise, Mode, Model, ONLY, Property, ROUND, Wrong, paragraph};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

impl Learner {
    /// Runs a typical wrong answer `runs` times in each mode, and prints how often each property caught that
    /// answer.
    ///
    /// # Errors
    /// Returns an error if there is no such exercise or mistake, or if the wrong answers cannot be
    /// built.
    pub fn try_mistake(
        &self,
        name: &str,
        mistake: &str,
        property: Option<&str>,
        runs: u32,
    ) -> anyhow::Result<bool> {
        let exercise = catalogue::named(&self.exercises, name)?;
        let mistake = catalogue::mistake(exercise, mistake)?;
        let properties: Vec<&Property> = match property {
            Some(name) => vec![catalogue::property(exercise, name)?],
            None => exercise.properties.iter().collect(),
        };
        eprintln!("building the wrong answers with their tests (the first time takes a minute or two)");
        let program = build(&self.workspace, exercise)?;
        say(&format!("{}\n", self.style.strong(&mistake.name)));
        say(&paragraph("", &mistake.what_is_wrong()));
        let schedules = match exercise.model {
            Model::Threads => "thousands of schedules",
            Model::Single => "the one schedule that there is",
            Model::Memory => "all schedules",
        };
        say(&format!(
            "\nIn how many of {runs} runs it is caught. A run repeats a property some dozens of times on real threads,\n\
             and on {schedules} under the model.\n\n{:56}{:>14}{:>18}\n",
            "", "real threads", "under the model"
        ));
        for &property in &properties {
            let mut caught = [0, 0];
            for (mode, caught) in [Mode::Real, Mode::Model].into_iter().zip(&mut caught) {
                for round in 0..runs {
                    *caught += u32::from(catches(&program, mode, exercise, mistake, &property.name, round)?);
                }
            }
            let [real, model] = caught;
            let mark = if property.name == mistake.property { "*" } else { " " };
            say(&format!("{mark} {:54}{real:14}{model:18}\n", property.name));
        }
        if properties.iter().any(|property| property.name == mistake.property) {
            say("\n* the property made for this mistake\n");
        }
        Ok(true)
    }
}

fn build(workspace: &Workspace, exercise: &Exercise) -> anyhow::Result<PathBuf> {
    #[derive(Deserialize)]
    struct Artifact {
        executable: PathBuf,
    }
    let output = cargo(workspace)
        .args(["build", "--quiet", "--package", "exercises-proof", "--bin", "exercises-proof"])
        .arg("--message-format=json-render-diagnostics")
        .env(ONLY, &exercise.name) // this build has the wrong answers for real threads
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(
        output.status.success(),
        "the wrong answers do not compile; `git checkout -- exercises` brings them back"
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let artifact = text.lines().find_map(|line| serde_json::from_str::<Artifact>(line).ok());
    Ok(artifact.context("cargo does not say what it built")?.executable)
}

fn catches(
    program: &Path,
    mode: Mode,
    exercise: &Exercise,
    mistake: &Wrong,
    property: &str,
    round: u32,
) -> anyhow::Result<bool> {
    let status = Command::new(program)
        .args(["--run", mode.program(), &exercise.name, &mistake.name, property])
        .env(ROUND, round.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("cannot start {}", program.display()))?;
    match status.code() {
        Some(0) => Ok(false),
        Some(2) => bail!("{} cannot run {} of {}", program.display(), mistake.name, exercise.name),
        _ => Ok(true), // the test reports it, or the test was ended
    }
}
