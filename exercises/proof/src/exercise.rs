//! An exercise as its `exercise.toml` describes it, and whether everything that belongs to it is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use serde::Deserialize;

use crate::{folder, missing, read};

/// An exercise and what is to come of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    /// The folder's, and the package's.
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    folder: PathBuf,
    title: String,
    chapters: Vec<String>,
    minutes: u32,
    needs: Vec<String>,
    hints: Vec<String>,
    afterwards: String,
    /// In the order of the suite.
    #[serde(rename = "property")]
    pub properties: Vec<Property>,
    /// The typical wrong answers.
    pub wrong: Vec<Wrong>,
}

/// A property of the suite.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// The function's and the tests' name.
    pub name: String,
    /// What its message begins with.
    pub promise: String,
}

/// A wrong answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrong {
    /// Under `wrong/`, without `.rs`.
    pub file: String,
    /// The property that has to catch it.
    pub property: String,
    /// What the message has to say, in these words.
    pub message: String,
}

/// All exercises, or the one whose name begins like this.
pub fn exercises(wanted: Option<&str>) -> anyhow::Result<Vec<Exercise>> {
    let mut folders: Vec<PathBuf> = fs::read_dir(folder())
        .context("cannot read the folder of the exercises")?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("exercise.toml").is_file())
        .collect();
    folders.sort();
    let mut exercises = Vec::new();
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if wanted.is_none_or(|wanted| name.starts_with(wanted)) {
            let path = folder.join("exercise.toml");
            let exercise: Exercise =
                toml::from_str(&read(&path)?).with_context(|| path.display().to_string())?;
            exercises.push(Exercise { name, folder, ..exercise });
        }
    }
    anyhow::ensure!(!exercises.is_empty(), "no exercise is called {}", wanted.unwrap_or_default());
    Ok(exercises)
}

/// The exercises whose `src/exercise.rs` is not the stub.
pub fn pristine(exercises: &[Exercise]) -> anyhow::Result<Vec<String>> {
    let mut mistakes = Vec::new();
    for exercise in exercises {
        let file = |path: &str| read(&exercise.folder.join(path));
        if file("src/exercise.rs")? != file("stub/exercise.rs")? {
            mistakes.push(format!("{}: src/exercise.rs is not stub/exercise.rs", exercise.name));
        }
    }
    Ok(mistakes)
}

impl Exercise {
    /// The solution, the stub, and the wrong answers.
    pub(crate) fn answers(&self) -> impl Iterator<Item = &str> {
        ["solution", "stub"].into_iter().chain(self.wrong.iter().map(|wrong| wrong.file.as_str()))
    }

    pub(crate) fn property(&self, name: &str) -> anyhow::Result<&Property> {
        let found = self.properties.iter().find(|property| property.name == name);
        found.with_context(|| format!("exercise.toml does not name the property {name}"))
    }

    pub(crate) fn wrong(&self, file: &str) -> anyhow::Result<&Wrong> {
        let found = self.wrong.iter().find(|wrong| wrong.file == file);
        found.with_context(|| format!("exercise.toml does not name the wrong answer {file}"))
    }

    /// What belongs to an exercise and is missing.
    pub(crate) fn incomplete(&self) -> anyhow::Result<Vec<String>> {
        let mut mistakes = self.incomplete_description();
        mistakes.extend(self.properties_not_everywhere()?);
        mistakes.extend(self.wrong_answers_not_described()?);
        for mistake in &mut mistakes {
            *mistake = format!("{}: {mistake}", self.name);
        }
        Ok(mistakes)
    }

    fn incomplete_description(&self) -> Vec<String> {
        let texts = [&self.title, &self.afterwards].into_iter().chain(&self.needs).chain(&self.hints);
        let mut mistakes = Vec::new();
        let mut require = |holds: bool, what: &str| {
            if !holds {
                mistakes.push(format!("exercise.toml: {what}"));
            }
        };
        require(texts.clone().all(|text| !text.trim().is_empty()), "an empty text");
        require((5..=60).contains(&self.minutes), "minutes that nobody has");
        require(self.hints.len() == 3, "three hints: a question, a pointer, nearly the answer");
        require(self.hints.first().is_some_and(|hint| hint.contains('?')), "the first hint is a question");
        require(self.afterwards.contains('?'), "the question for afterwards is a question");
        require(!self.chapters.is_empty(), "a chapter");
        require(self.wrong.len() >= 6, "at least six wrong answers");
        mistakes
    }

    /// The suite, both tests, the README and `exercise.toml` have to name the same properties.
    fn properties_not_everywhere(&self) -> anyhow::Result<Vec<String>> {
        let listed: BTreeSet<&str> = self.properties.iter().map(|property| property.name.as_str()).collect();
        let suite = read(&self.folder.join("tests/suite/mod.rs"))?;
        let in_suite: BTreeSet<&str> =
            suite.lines().filter_map(|line| Some(line.strip_prefix("pub fn ")?.split_once('(')?.0)).collect();
        let mut mistakes = Vec::new();
        for name in missing(&in_suite, &listed) {
            mistakes.push(format!("exercise.toml does not list the property {name}"));
        }
        for name in missing(&listed, &in_suite) {
            mistakes.push(format!("the suite has no property {name}"));
        }
        let readme = read(&self.folder.join("README.md"))?;
        for file in ["tests/model.rs", "tests/real.rs"] {
            let test = read(&self.folder.join(file))?;
            for name in &listed {
                if !test.contains(&format!("#[test]\nfn {name}() {{\n    check(suite::{name});\n}}\n")) {
                    mistakes.push(format!("{file} does not check {name}"));
                }
            }
        }
        for name in listed.into_iter().filter(|name| !readme.contains(&format!("`{name}`"))) {
            mistakes.push(format!("README.md does not name {name}"));
        }
        for chapter in &self.chapters {
            if !folder().join("../book/src").join(chapter).is_file() {
                mistakes.push(format!("the book has no chapter {chapter}"));
            }
        }
        for chapter in self.chapters.iter().filter(|chapter| !readme.contains(&format!("book/src/{chapter}")))
        {
            mistakes.push(format!("README.md does not link the chapter {chapter}"));
        }
        Ok(mistakes)
    }

    /// Every wrong answer is listed, exists, says what is wrong, and has a message of some length.
    fn wrong_answers_not_described(&self) -> anyhow::Result<Vec<String>> {
        let listed: BTreeSet<&str> = self.wrong.iter().map(|wrong| wrong.file.as_str()).collect();
        let files: Vec<String> = fs::read_dir(self.folder.join("wrong"))
            .context("no folder wrong/")?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().trim_end_matches(".rs").to_owned()))
            .collect::<anyhow::Result<_>>()?;
        let files: BTreeSet<&str> = files.iter().map(String::as_str).collect();
        let mut mistakes = Vec::new();
        for file in missing(&files, &listed) {
            mistakes.push(format!("exercise.toml does not say what catches wrong/{file}.rs"));
        }
        for file in missing(&listed, &files) {
            mistakes.push(format!("there is no wrong/{file}.rs"));
        }
        for wrong in self.wrong.iter().filter(|wrong| files.contains(wrong.file.as_str())) {
            let text = read(&self.folder.join("wrong").join(format!("{}.rs", wrong.file)))?;
            let head: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
            let says = |words: &str| head.iter().any(|line| line.contains(words));
            if !(says("//! Wrong: ") && says("The learner sees: ")) {
                mistakes.push(format!(
                    "wrong/{}.rs does not begin with what is wrong and what is seen",
                    wrong.file
                ));
            }
            if wrong.message.len() < 10 {
                mistakes.push(format!("the message expected for {} says nothing", wrong.file));
            }
            self.property(&wrong.property)?;
        }
        Ok(mistakes)
    }
}
