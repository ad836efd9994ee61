//! An exercise as its `exercise.toml` describes it, and the paths of its files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::wrong::{Wrong, wrong_answers};

/// An exercise: its texts, and the paths of its files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    /// The name of the folder and of the package: `ex01-worker-pool`.
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    folder: PathBuf,
    /// The exercise's title.
    pub title: String,
    /// Former names. A learner's progress under a former name still counts.
    #[serde(default)]
    pub formerly: Vec<String>,
    /// The pages of the book that explain the exercise's subject, as file names.
    pub chapters: Vec<String>,
    /// True if the exercise is a warm-up: it takes a few lines, and comes before the page that explains how
    /// to do exercises.
    #[serde(default)]
    pub warm_up: bool,
    /// The model that tries the schedules of the exercise.
    #[serde(default)]
    pub model: Model,
    /// If the learner's answer is a test: the exercise whose answers this test judges.
    #[serde(default)]
    pub judges: Option<String>,
    /// The knowledge that the learner needs for the exercise.
    pub needs: Vec<String>,
    /// Three hints: a question, a pointer, and nearly the answer.
    pub hints: Vec<String>,
    /// The task of the second stage, in one sentence, if a long exercise is divided into two stages. The
    /// first stage can be done without the second stage.
    #[serde(default)]
    pub second_stage: Option<String>,
    /// A question to think about after the exercise is solved.
    pub afterwards: String,
    /// The promises that a right answer keeps, from simple to hard.
    #[serde(rename = "property")]
    pub properties: Vec<Property>,
    /// The typical wrong answers, which are listed in `wrong.diff`. The list may be empty while an exercise
    /// is being written; later, the proof requires six wrong answers.
    #[serde(skip)]
    pub wrong: Vec<Wrong>,
    /// The right answers that are built in another way than the solution: the names of the files under
    /// `right/`, without `.rs`.
    #[serde(skip)]
    pub right: Vec<String>,
}

/// A model that tries an exercise's schedules, in the exercise's `tests/model.rs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Tries locks and threads on thousands of schedules. Every thread sees all writes of the threads that
    /// ran before.
    #[default]
    Threads,
    /// Runs a single thread on its only schedule; the properties vary something else, such as the ways to cut
    /// an input.
    Single,
    /// Tries atomics on all schedules of a few steps. A thread may see any value that the orderings allow.
    Memory,
}

/// A promise that a right answer keeps. The function of the suite that checks the promise, and its tests,
/// have the same name as the property.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// The function's name.
    pub name: String,
    /// The promise, in one sentence.
    pub promise: String,
    /// The rank is above 0 for a property that many mistakes break. Failures of properties with a lower rank
    /// are shown first.
    #[serde(default)]
    pub rank: u8,
    /// The stage is 2 for a property of the second stage, and 1 for all others.
    #[serde(default = "first")]
    pub stage: u8,
    /// A hint for a learner's answer that breaks only this property; it does not give away the design.
    #[serde(default)]
    pub hint: String,
}

fn first() -> u8 {
    1
}

/// Returns all exercises in a folder, ordered by their numbers. The [`Contents`](crate::Contents) give the
/// order of the course.
///
/// # Errors
/// Returns an error if there are no exercises, or if one of them cannot be read.
pub fn all(folder: &Path) -> anyhow::Result<Vec<Exercise>> {
    let none = || {
        format!(
            "there are no exercises in {}. `git checkout -- exercises` brings them back.",
            folder.display()
        )
    };
    let entries = fs::read_dir(folder).with_context(none)?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("exercise.toml").is_file())
        .collect();
    folders.sort();
    if folders.is_empty() {
        bail!(none());
    }
    folders.into_iter().map(Exercise::read).collect()
}

/// Returns the names of the files under `right/`. If the folder has no `right/`, the list is empty.
fn right_answers(folder: &Path) -> anyhow::Result<Vec<String>> {
    let folder = folder.join("right");
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    Ok(names)
}

impl Exercise {
    /// Reads the description of the exercise in a folder.
    ///
    /// # Errors
    /// Returns an error if there is no description, or if the description is invalid.
    pub fn read(folder: impl Into<PathBuf>) -> anyhow::Result<Self> {
        let folder = folder.into();
        let path = folder.join("exercise.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let exercise: Self = toml::from_str(&text).with_context(|| {
            format!("{} is not as it should be; `git checkout` brings it back", path.display())
        })?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (right, wrong) = (right_answers(&folder)?, wrong_answers(&folder)?);
        Ok(Self { name, folder, wrong, right, ..exercise })
    }

    /// Returns the beginning of the name, which is enough to identify the exercise: `ex01`.
    pub fn short(&self) -> &str {
        self.name.split('-').next().unwrap_or(&self.name)
    }

    /// Returns the exercise's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the README, which says what to build and which properties must hold.
    pub fn readme(&self) -> PathBuf {
        self.folder.join("README.md")
    }

    /// Returns the path of the one file that a learner edits.
    pub fn answer(&self) -> PathBuf {
        self.folder.join("src/exercise.rs")
    }

    /// Returns the path of the stub, from which every answer begins.
    pub fn stub(&self) -> PathBuf {
        self.folder.join("stub/exercise.rs")
    }

    /// Returns the path of the solution, a right answer.
    pub fn solution(&self) -> PathBuf {
        self.folder.join("solution/exercise.rs")
    }

    /// Returns the path of the page that says why the solution is right.
    pub fn explanation(&self) -> PathBuf {
        self.folder.join("solution/README.md")
    }

    /// Returns the path of a right answer that is built in another way than the solution.
    pub fn right_answer(&self, name: &str) -> PathBuf {
        self.folder.join("right").join(format!("{name}.rs"))
    }

    /// Returns the path of the file with the functions that check the properties.
    pub fn suite(&self) -> PathBuf {
        self.folder.join("tests/suite/mod.rs")
    }

    /// Returns the paths of the files with the answers that the learner's test judges. The paths are relative
    /// to this exercise's folder. The list is empty if the answer is no test.
    pub fn judged_files(&self) -> Vec<String> {
        let files = ["solution/exercise.rs", "right", "wrong.diff", "wrong"];
        let of = |name: &String| files.map(|file| format!("../{name}/{file}"));
        self.judges.iter().flat_map(of).collect()
    }

    /// Returns true if the answers use the library; then the exercise's package also compiles the library for
    /// the model.
    pub fn uses_the_library(&self) -> bool {
        fs::read_to_string(self.folder.join("Cargo.toml"))
            .is_ok_and(|package| package.contains("executor-model"))
    }

    /// Returns true if the learner has changed the stub.
    pub fn is_begun(&self) -> bool {
        match (fs::read(self.answer()), fs::read(self.stub())) {
            (Ok(answer), Ok(stub)) => answer != stub,
            _ => false,
        }
    }

    /// Returns the property of this name.
    ///
    /// # Errors
    /// Returns an error if there is no such property. The message lists the names that exist.
    pub fn property(&self, name: &str) -> anyhow::Result<&Property> {
        self.properties.iter().find(|property| property.name == name).with_context(|| {
            let names: Vec<&str> = self.properties.iter().map(|property| property.name.as_str()).collect();
            format!("{} has no property `{name}`. It has:\n  {}", self.name, names.join("\n  "))
        })
    }

    /// Returns the wrong answer of this name (`m03` for short).
    ///
    /// # Errors
    /// Returns an error if there is no such wrong answer. The message lists the names that exist.
    pub fn wrong(&self, name: &str) -> anyhow::Result<&Wrong> {
        let name = name.trim_end_matches(".rs");
        let is_meant = |wrong: &&Wrong| wrong.name == name || wrong.name.split('_').next() == Some(name);
        self.wrong.iter().find(is_meant).with_context(|| {
            let names: Vec<&str> = self.wrong.iter().map(|wrong| wrong.name.as_str()).collect();
            format!("{} has no wrong answer `{name}`. It has:\n  {}", self.name, names.join("\n  "))
        })
    }
}
