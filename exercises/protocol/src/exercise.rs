//! An exercise as its `exercise.toml` describes it, and the places of its files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::wrong::{Wrong, wrong_answers};

/// An exercise: its texts, and the places of its files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    /// The folder's name, and the package's: `ex01-worker-pool`.
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    folder: PathBuf,
    /// The exercise's title.
    pub title: String,
    /// Former names. What a learner has done under one of them still counts.
    #[serde(default)]
    pub formerly: Vec<String>,
    /// Pages of the book, as file names.
    pub chapters: Vec<String>,
    /// Whether the exercise is a warm-up: a few lines that come before the page that says how exercises are
    /// done.
    #[serde(default)]
    pub warm_up: bool,
    /// The model that tries the exercise's schedules.
    #[serde(default)]
    pub model: Model,
    /// The exercise whose answers the learner's answer, a test, must judge.
    #[serde(default)]
    pub judges: Option<String>,
    /// What the learner needs to know before.
    pub needs: Vec<String>,
    /// A question, a pointer, nearly the answer.
    pub hints: Vec<String>,
    /// The task of the second stage, in a sentence, if a long exercise is cut in two. The first stage can be
    /// done alone.
    #[serde(default)]
    pub second_stage: Option<String>,
    /// A question to think about once the exercise is solved.
    pub afterwards: String,
    /// What a right answer promises, from simple to hard.
    #[serde(rename = "property")]
    pub properties: Vec<Property>,
    /// The typical wrong answers, which `wrong.diff` has. None while an exercise is in the making; the proof
    /// asks for six.
    #[serde(skip)]
    pub wrong: Vec<Wrong>,
    /// Right answers that are built in another way than the solution: the files under `right/`, without
    /// `.rs`.
    #[serde(skip)]
    pub right: Vec<String>,
}

/// What tries an exercise's schedules, in its `tests/model.rs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Locks and threads, on thousands of schedules. Every thread sees what the last one did.
    #[default]
    Threads,
    /// A single thread: there is one schedule, and the properties try something else, such as all ways to cut
    /// an input.
    Single,
    /// Atomics, on all schedules of a few steps. A thread sees whatever the orderings allow.
    Memory,
}

/// What a right answer promises. The function of the suite that checks it, and its tests, have the same name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// The function's name.
    pub name: String,
    /// The promise, in a sentence.
    pub promise: String,
    /// Above 0 for a property that many mistakes break: its failure is shown after those of a lower rank.
    #[serde(default)]
    pub rank: u8,
    /// 2 for a property of the second stage.
    #[serde(default = "first")]
    pub stage: u8,
    /// Where to look when just this one fails, without the design.
    #[serde(default)]
    pub hint: String,
}

fn first() -> u8 {
    1
}

/// All exercises in a folder, by their numbers. The order of the course is that of the
/// [`Contents`](crate::Contents).
///
/// # Errors
/// If there are none, or one of them cannot be read.
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

/// The files under `right/`. A folder without one has none.
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
    /// Reads the description in a folder.
    ///
    /// # Errors
    /// If there is none, or something is wrong with it.
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

    /// The beginning of the name, which is enough to ask for it: `ex01`.
    pub fn short(&self) -> &str {
        self.name.split('-').next().unwrap_or(&self.name)
    }

    /// The exercise's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The README: what to build, and what must hold.
    pub fn readme(&self) -> PathBuf {
        self.folder.join("README.md")
    }

    /// The one file that a learner edits.
    pub fn answer(&self) -> PathBuf {
        self.folder.join("src/exercise.rs")
    }

    /// The stub: the answer as it was in the beginning.
    pub fn stub(&self) -> PathBuf {
        self.folder.join("stub/exercise.rs")
    }

    /// The file of the solution, a right answer.
    pub fn solution(&self) -> PathBuf {
        self.folder.join("solution/exercise.rs")
    }

    /// The page that says why the solution is right.
    pub fn explanation(&self) -> PathBuf {
        self.folder.join("solution/README.md")
    }

    /// The file of a right answer that is built in another way.
    pub fn right_answer(&self, name: &str) -> PathBuf {
        self.folder.join("right").join(format!("{name}.rs"))
    }

    /// The functions that check the properties.
    pub fn suite(&self) -> PathBuf {
        self.folder.join("tests/suite/mod.rs")
    }

    /// The answers that the learner's test judges: the files of the other exercise, relative to this
    /// exercise's folder. Other kinds of exercises have none.
    pub fn judged_files(&self) -> Vec<String> {
        let files = ["solution/exercise.rs", "right", "wrong.diff", "wrong"];
        let of = |name: &String| files.map(|file| format!("../{name}/{file}"));
        self.judges.iter().flat_map(of).collect()
    }

    /// Whether answers use the library: then the package has the library compiled for the model, too.
    pub fn uses_the_library(&self) -> bool {
        fs::read_to_string(self.folder.join("Cargo.toml"))
            .is_ok_and(|package| package.contains("executor-model"))
    }

    /// Whether the learner has written something.
    pub fn is_begun(&self) -> bool {
        match (fs::read(self.answer()), fs::read(self.stub())) {
            (Ok(answer), Ok(stub)) => answer != stub,
            _ => false,
        }
    }

    /// The property of that name.
    ///
    /// # Errors
    /// If there is no such property. The message names those that there are.
    pub fn property(&self, name: &str) -> anyhow::Result<&Property> {
        self.properties.iter().find(|property| property.name == name).with_context(|| {
            let names: Vec<&str> = self.properties.iter().map(|property| property.name.as_str()).collect();
            format!("{} has no property `{name}`. It has:\n  {}", self.name, names.join("\n  "))
        })
    }

    /// The wrong answer of this name, or `m03` for short.
    ///
    /// # Errors
    /// If there is no such wrong answer. The message names those that there are.
    pub fn wrong(&self, name: &str) -> anyhow::Result<&Wrong> {
        let name = name.trim_end_matches(".rs");
        let is_meant = |wrong: &&Wrong| wrong.name == name || wrong.name.split('_').next() == Some(name);
        self.wrong.iter().find(is_meant).with_context(|| {
            let names: Vec<&str> = self.wrong.iter().map(|wrong| wrong.name.as_str()).collect();
            format!("{} has no wrong answer `{name}`. It has:\n  {}", self.name, names.join("\n  "))
        })
    }
}
