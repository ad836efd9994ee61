//! The exercises that are not separate packages: `exercises/kinds.toml`.
//!
//! In such an exercise, a learner repairs a wrong answer, predicts the outcome of code, or plays the
//! scheduler. The code exists already: it is a wrong answer to another exercise, or an example of the library
//! whose output the book shows.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

use crate::graph::Program;

/// All exercises in `kinds.toml`; the exercises of each kind are in the order of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kinds {
    /// The wrong answers that a learner repairs.
    #[serde(default)]
    pub mend: Vec<Mend>,
    /// The questions about the outcome of code.
    #[serde(default)]
    pub predict: Vec<Predict>,
    /// The programs in which the learner chooses the thread that goes on.
    #[serde(default)]
    pub schedule: Vec<Program>,
}

/// A wrong answer that the learner gets without a description of the mistake.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mend {
    /// The name that a learner types: `mend1`.
    pub name: String,
    /// The exercise's title.
    pub title: String,
    /// The file name of the exercise's page in the book.
    pub chapter: String,
    /// The number of minutes that the exercise takes.
    pub minutes: usize,
    /// The exercise: `ex10`.
    pub exercise: String,
    /// The wrong answer to that exercise: `m03`.
    pub wrong: String,
}

/// A question about the outcome of some code, with the options and the right answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Predict {
    /// The name that a learner types: `predict1`.
    pub name: String,
    /// The exercise's title.
    pub title: String,
    /// The file name of the exercise's page in the book.
    pub chapter: String,
    /// The number of minutes that the exercise takes.
    pub minutes: usize,
    pub code: Shown,
    pub question: String,
    /// The letter of the right option.
    pub answer: char,
    /// The options; the first option has the letter `a`.
    #[serde(rename = "option")]
    pub options: Vec<Choice>,
}

/// The code that a question is about, and the output that contains the right answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Shown {
    /// Parts of a program (the whole program if no part is named), and the file that contains the program's
    /// output.
    Program { file: String, anchors: Vec<String>, transcript: String },
    /// The difference between a wrong answer and the solution, and the first message that a learner with the
    /// wrong answer sees: `exercises/seen/NAME.txt`.
    Wrong { exercise: String, wrong: String },
}

/// An option, and the reason why it is right or wrong.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub text: String,
    pub why: String,
    /// Words that are in the output only if this option is right.
    pub seen: Option<String>,
}

/// The data that an exercise of any kind has.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Task<'a> {
    /// The command that begins the exercise.
    pub kind: &'static str,
    pub name: &'a str,
    pub title: &'a str,
    pub chapter: &'a str,
    pub minutes: usize,
}

impl Kinds {
    /// Reads `kinds.toml` in the exercises' folder. If there is no such file, the result contains no
    /// exercises.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is invalid.
    pub fn read(exercises: &Path) -> anyhow::Result<Self> {
        let path = exercises.join("kinds.toml");
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let wrong = || format!("{} is not as it should be; `git checkout` brings it back", path.display());
        let kinds: Self = toml::from_str(&text).with_context(wrong)?;
        kinds.check().with_context(wrong)?;
        Ok(kinds)
    }

    fn check(&self) -> anyhow::Result<()> {
        for task in self.tasks() {
            let number = task.name.strip_prefix(task.kind).and_then(|number| number.parse::<usize>().ok());
            ensure!(number.is_some(), "{:?} is no name for a task of the kind {:?}", task.name, task.kind);
            let same = self.tasks().filter(|other| other.name == task.name).count();
            ensure!(same == 1, "there are {same} tasks {}", task.name);
        }
        for Predict { name, answer, options, .. } in &self.predict {
            ensure!(options.len() >= 2, "{name} has fewer than two options");
            ensure!(
                Choice::place(*answer).is_some_and(|n| n < options.len()),
                "{name} has no option {answer}"
            );
        }
        Ok(())
    }

    /// Returns every exercise of every kind.
    pub fn tasks(&self) -> impl Iterator<Item = Task<'_>> {
        macro_rules! tasks {
            ($($kind:ident),*) => {
                std::iter::empty()$(.chain(self.$kind.iter().map(|task| Task {
                    kind: stringify!($kind),
                    name: &task.name,
                    title: &task.title,
                    chapter: &task.chapter,
                    minutes: task.minutes,
                })))*
            };
        }
        tasks!(mend, predict, schedule)
    }
}

impl Choice {
    /// Returns the position of the option with this letter.
    pub fn place(letter: char) -> Option<usize> {
        letter.is_ascii_lowercase().then(|| usize::from(letter as u8 - b'a'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        [[predict]]
        name = "predict1"
        title = "T"
        chapter = "c.md"
        minutes = 5
        code = { exercise = "ex01", wrong = "m03" }
        question = "Q?"
        answer = "b"
        option = [{ text = "A", why = "no" }, { text = "B", why = "yes" }]
    "#;

    fn read(text: &str) -> anyhow::Result<Kinds> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("kinds.toml"), text).unwrap();
        Kinds::read(folder.path())
    }

    #[test]
    fn a_task_has_a_name_of_its_kind_of_its_own_and_an_answer_that_is_there() {
        let kinds = read(GOOD).unwrap();
        assert_eq!(
            kinds.tasks().map(|task| (task.kind, task.name)).collect::<Vec<_>>(),
            [("predict", "predict1")]
        );
        for (from, to, says) in [
            ("predict1", "mend1", "no name"),
            ("answer = \"b\"", "answer = \"c\"", "no option c"),
            ("minutes", "hours", "hours"),
            ("wrong = \"m03\"", "rong = \"m03\"", "code"),
            ("why = \"no\"", "reason = \"no\"", "reason"),
        ] {
            let error = format!("{:?}", read(&GOOD.replace(from, to)).unwrap_err());
            assert!(error.contains(says) && error.contains("kinds.toml"), "{error}");
        }
        assert!(format!("{:?}", read(&GOOD.repeat(2)).unwrap_err()).contains("2 tasks predict1"));
    }
}
