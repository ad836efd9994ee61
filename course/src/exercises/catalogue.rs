//! The exercises as their `exercise.toml` files describe them.

use crate::workspace::Workspace;
use anyhow::{Context, bail};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// An exercise: what is asked, and where its files are.
///
/// Fields of `exercise.toml` that this version doesn't know are passed over, so that an update of the exercises never
/// stops an older runner.
#[derive(Debug, Clone, Deserialize)]
pub struct Exercise {
    /// The folder's name, and the package's: `ex01-worker-pool`.
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    folder: PathBuf,
    pub title: String,
    /// Pages of the book, as file names.
    pub chapters: Vec<String>,
    pub minutes: u32,
    /// What has to be known before.
    pub needs: Vec<String>,
    /// A question, a pointer, nearly the answer.
    pub hints: Vec<String>,
    /// A question to think about once it is solved.
    pub afterwards: String,
    #[serde(rename = "property")]
    pub properties: Vec<Property>,
    #[serde(rename = "wrong", default)]
    pub mistakes: Vec<Mistake>,
}

/// What a right answer promises. The test that checks it has the same name.
#[derive(Debug, Clone, Deserialize)]
pub struct Property {
    pub name: String,
    pub promise: String,
}

/// A typical wrong answer, and the property that catches it.
#[derive(Debug, Clone, Deserialize)]
pub struct Mistake {
    /// Under `wrong/`, without `.rs`.
    #[serde(rename = "file")]
    pub name: String,
    pub property: String,
}

impl Exercise {
    /// The beginning of the name, which is enough to ask for it: `ex01`.
    pub fn short(&self) -> &str {
        self.name.split('-').next().unwrap_or(&self.name)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The one file that a learner edits.
    pub fn answer(&self) -> PathBuf {
        self.folder.join("src/exercise.rs")
    }

    /// The answer as it was in the beginning.
    pub fn stub(&self) -> PathBuf {
        self.folder.join("stub/exercise.rs")
    }

    pub fn solution(&self) -> PathBuf {
        self.folder.join("solution/exercise.rs")
    }

    /// All properties, or the one of that name.
    ///
    /// # Errors
    /// If there is no such property.
    pub(super) fn chosen(&self, name: Option<&str>) -> anyhow::Result<Vec<&Property>> {
        let chosen: Vec<&Property> =
            self.properties.iter().filter(|property| name.is_none_or(|name| property.name == name)).collect();
        if chosen.is_empty() {
            let names: Vec<&str> = self.properties.iter().map(|property| property.name.as_str()).collect();
            bail!(
                "{} has no property `{}`. It has:\n  {}",
                self.name,
                name.unwrap_or_default(),
                names.join("\n  ")
            );
        }
        Ok(chosen)
    }

    /// Whether somebody has written something.
    pub fn is_begun(&self) -> bool {
        match (fs::read(self.answer()), fs::read(self.stub())) {
            (Ok(answer), Ok(stub)) => answer != stub,
            _ => false,
        }
    }

    /// What a typical wrong answer does wrong, in the words at the top of its file.
    pub fn what_is_wrong(&self, mistake: &Mistake) -> anyhow::Result<String> {
        let path = self.folder.join("wrong").join(format!("{}.rs", mistake.name));
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let head: Vec<&str> =
            text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
        let head = head.join(" ");
        let (wrong, _) = head.split_once("The learner sees:").unwrap_or((&head, ""));
        Ok(wrong.trim().trim_start_matches("Wrong: ").to_owned())
    }
}

/// All exercises, in the order of the course.
///
/// # Errors
/// If there are none, or one of them cannot be read.
pub fn all(workspace: &Workspace) -> anyhow::Result<Vec<Exercise>> {
    let folder = workspace.exercises();
    let entries = fs::read_dir(&folder).with_context(|| {
        format!(
            "there are no exercises in {}. `git checkout -- exercises` brings them back.",
            folder.display()
        )
    })?;
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("exercise.toml").is_file())
        .collect();
    folders.sort();
    if folders.is_empty() {
        bail!(
            "there are no exercises in {}. `git checkout -- exercises` brings them back.",
            folder.display()
        );
    }
    folders.into_iter().map(read).collect()
}

fn read(folder: PathBuf) -> anyhow::Result<Exercise> {
    let path = folder.join("exercise.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let exercise: Exercise = toml::from_str(&text).with_context(|| {
        format!("{} is not as it should be; `git checkout` brings it back", path.display())
    })?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Exercise { name, folder, ..exercise })
}

/// The exercise that somebody means by `ex01`, `1`, `ex01-worker-pool` or `worker-pool`.
///
/// # Errors
/// If there is no such exercise, or more than one.
pub fn named<'a>(exercises: &'a [Exercise], wanted: &str) -> anyhow::Result<&'a Exercise> {
    let number = wanted.strip_prefix("ex").unwrap_or(wanted).parse::<u32>().ok();
    let is_meant = |exercise: &&Exercise| {
        let (short, rest) = exercise.name.split_once('-').unwrap_or((&exercise.name, ""));
        let same_number =
            number.is_some() && number == short.strip_prefix("ex").and_then(|n| n.parse::<u32>().ok());
        same_number || exercise.name == wanted || rest == wanted
    };
    exercises.iter().find(is_meant).with_context(|| {
        let names: Vec<String> =
            exercises.iter().map(|exercise| format!("  {}  ({})", exercise.short(), exercise.name)).collect();
        format!("there is no exercise called `{wanted}`. There are:\n{}", names.join("\n"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exercise_is_found_by_number_short_name_name_and_what_it_is_about() {
        let exercises = all(&Workspace::find().unwrap()).unwrap();
        for wanted in ["ex01", "1", "01", "ex1", "ex01-worker-pool", "worker-pool"] {
            assert_eq!(named(&exercises, wanted).unwrap().name, "ex01-worker-pool", "{wanted}");
        }
        let error = named(&exercises, "ex99").unwrap_err().to_string();
        assert!(error.contains("`ex99`") && error.contains("ex02-one-shot-future"), "{error}");
    }

    #[test]
    fn every_typical_mistake_says_what_is_wrong() {
        for exercise in all(&Workspace::find().unwrap()).unwrap() {
            assert!(!exercise.mistakes.is_empty());
            for mistake in &exercise.mistakes {
                let text = exercise.what_is_wrong(mistake).unwrap();
                assert!(text.len() > 20 && !text.contains("Wrong:"), "{}: {text}", mistake.name);
            }
        }
    }
}
