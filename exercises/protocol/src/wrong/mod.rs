//! `wrong.diff`: the typical wrong answers of an exercise, each written as an edit of a right answer.
//!
//! ```text
//! === m03_notify_one_at_shutdown
//! Wrong: the end is announced to one worker only.
//! The learner sees: with two workers asleep, shutdown() waits for the second one for ever.
//! Caught by shutdown_wakes_every_sleeping_worker: "notify_one() wakes one thread, and 2 were waiting"
//! @@
//!          self.shared.state.lock().unwrap().shutting_down = true;
//! -        self.shared.changed.notify_all();
//! +        self.shared.changed.notify_one();
//! ```
//!
//! An edit consists of one or more hunks, from top to bottom; [`edit`] says where a hunk applies. An edit
//! changes the solution, or the right answer that a line `Beside right/r08_name` names. A line `The whole of
//! it: wrong/m20_name.rs` replaces the hunks if the answer has a design of its own. A line that begins with
//! `#` is a comment. Empty lines separate entries; inside a hunk, an empty line is a line of the answer,
//! unless it is the last line.

mod edit;

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};

pub use edit::{Hunk, Line};

use crate::Exercise;

const TITLE: &str = "=== ";
const WRONG: &str = "Wrong: ";
const SEEN: &str = "The learner sees: ";
const CAUGHT: &str = "Caught by ";
const BESIDE: &str = "Beside right/";
const WHOLE: &str = "The whole of it: wrong/";

/// A typical wrong answer, and the property that must catch it.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The name of the answer: `m03_notify_one_at_shutdown`.
    pub name: String,
    /// The description of the mistake and of what the learner sees, line by line as in `wrong.diff`.
    pub text: Vec<String>,
    /// The property that must catch the answer.
    pub property: String,
    /// Words that the message must contain.
    pub message: String,
    /// The answer's code.
    pub code: Code,
    /// The lines of the entry in `wrong.diff`, counted from 0, without the lines that separate it from the
    /// next entry.
    pub lines: Range<usize>,
}

/// The code of a wrong answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// An edit of a right answer.
    Edit {
        /// The name of a right answer under `right/`; `None` for the solution.
        base: Option<String>,
        hunks: Vec<Hunk>,
    },
    /// A whole file, `wrong/NAME.rs`.
    Whole,
}

impl Wrong {
    /// Returns the description of the mistake, in one paragraph.
    pub fn what_is_wrong(&self) -> String {
        self.paragraphs().0
    }

    /// Returns the description of what a learner with this answer sees, in one paragraph.
    pub fn what_is_seen(&self) -> String {
        self.paragraphs().1
    }

    fn paragraphs(&self) -> (String, String) {
        let text = self.text.join(" ");
        let (wrong, seen) = text.split_once(SEEN.trim_end()).unwrap_or((&text, ""));
        (wrong.trim_start_matches(WRONG).trim().to_owned(), seen.trim().to_owned())
    }
}

/// Returns the wrong answers of the exercise in a folder. Without a `wrong.diff`, there are no wrong answers.
pub(crate) fn wrong_answers(folder: &Path) -> anyhow::Result<Vec<Wrong>> {
    let path = folder.join("wrong.diff");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    parse(&text).with_context(|| format!("{} is not as it should be", path.display()))
}

/// Reads the text of a `wrong.diff`.
///
/// # Errors
/// Returns an error, with the line, if the text is invalid.
pub fn parse(text: &str) -> anyhow::Result<Vec<Wrong>> {
    let lines: Vec<&str> = text.lines().collect();
    let begins: Vec<usize> = (0..lines.len()).filter(|&line| lines[line].starts_with(TITLE)).collect();
    let first = *begins.first().unwrap_or(&lines.len());
    if let Some(line) = (0..first).find(|&line| !is_comment(lines[line]) && !lines[line].is_empty()) {
        bail!("line {}: an entry begins with `{TITLE}NAME`", line + 1);
    }
    let ends = begins.iter().skip(1).copied().chain([lines.len()]);
    let mut answers: Vec<Wrong> = Vec::new();
    for (begin, end) in begins.iter().copied().zip(ends) {
        let answer = entry(&lines, begin..end)?;
        ensure!(
            answers.iter().all(|before| before.name != answer.name),
            "line {}: there are two entries {}",
            begin + 1,
            answer.name
        );
        answers.push(answer);
    }
    Ok(answers)
}

fn is_comment(line: &str) -> bool {
    line.starts_with('#')
}

/// Reads the entry in the given lines.
fn entry(lines: &[&str], mut range: Range<usize>) -> anyhow::Result<Wrong> {
    while lines[range.end - 1].is_empty() {
        range.end -= 1;
    }
    let name = lines[range.start][TITLE.len()..].trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    ensure!(is_name, "line {}: {name:?} is no name of a module", range.start + 1);

    let mut rest =
        range.clone().skip(1).map(|line| (line + 1, lines[line])).filter(|(_, text)| !is_comment(text));
    let mut text = Vec::new();
    let caught = loop {
        match rest.next() {
            Some((line, caught)) if caught.starts_with(CAUGHT) => break (line, caught),
            Some((line, words)) if words.starts_with("@@") || words.is_empty() => {
                bail!("line {line}: {name}: a line `{CAUGHT}PROPERTY: \"WORDS\"` comes before the code")
            }
            Some((_, words)) => text.push(words.to_owned()),
            None => bail!("line {}: {name} has no line `{CAUGHT}PROPERTY: \"WORDS\"`", range.start + 1),
        }
    };
    let says = |words| text.iter().any(|line: &String| line.contains(words));
    ensure!(
        text.first().is_some_and(|line| line.starts_with(WRONG)) && says(SEEN.trim_end()),
        "line {}: {name} does not say `{WRONG}…` and `{SEEN}…`",
        range.start + 1
    );
    let (property, message) = caught.1[CAUGHT.len()..]
        .split_once(": \"")
        .and_then(|(property, message)| Some((property, message.strip_suffix('"')?)))
        .with_context(|| format!("line {}: {name}: `{CAUGHT}PROPERTY: \"WORDS\"`", caught.0))?;

    let code =
        code(name, &rest.collect::<Vec<_>>()).with_context(|| format!("line {}: {name}", range.start + 1))?;
    let (property, message) = (property.to_owned(), message.to_owned());
    Ok(Wrong { name: name.to_owned(), text, property, message, code, lines: range })
}

/// Reads the code of an entry: the numbered lines after the line that names the property.
fn code(name: &str, mut lines: &[(usize, &str)]) -> anyhow::Result<Code> {
    if let [(line, whole)] = lines
        && let Some(file) = whole.strip_prefix(WHOLE)
    {
        ensure!(file.strip_suffix(".rs") == Some(name), "line {line}: the file has to be wrong/{name}.rs");
        return Ok(Code::Whole);
    }
    let mut base = None;
    if let [(_, first), rest @ ..] = lines
        && let Some(right) = first.strip_prefix(BESIDE)
    {
        base = Some(right.trim_end_matches(':').to_owned());
        lines = rest;
    }
    let hunks = edit::hunks(lines)?;
    ensure!(!hunks.is_empty(), "there is no hunk, which begins with a line `@@`");
    Ok(Code::Edit { base, hunks })
}

impl Exercise {
    /// Returns the wrong answer as a file: the code, with the description of the mistake and of its message
    /// above the code.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or if the edit does not apply; the message names the lines
    /// that occur at no place or at several.
    pub fn wrong_answer(&self, wrong: &Wrong) -> anyhow::Result<String> {
        let head = wrong.text.iter().fold(String::new(), |head, line| head + "//! " + line + "\n");
        Ok(head + &self.wrong_code(wrong)?)
    }

    /// Returns the code of the wrong answer, without a description of the mistake.
    ///
    /// # Errors
    /// As [`wrong_answer`](Self::wrong_answer).
    pub fn wrong_code(&self, wrong: &Wrong) -> anyhow::Result<String> {
        self.code_of(wrong).with_context(|| format!("{} {}", self.name, wrong.name))
    }

    /// Returns the edit of the wrong answer, with the given number of lines around it. Returns `None` if the
    /// answer has a design of its own.
    ///
    /// # Errors
    /// As [`wrong_answer`](Self::wrong_answer).
    pub fn edit(&self, wrong: &Wrong, context: usize) -> anyhow::Result<Option<Vec<Hunk>>> {
        let Code::Edit { base, hunks } = &wrong.code else { return Ok(None) };
        let hunks = self.base(base.as_deref()).and_then(|base| edit::with_context(&base, hunks, context));
        hunks.map(Some).with_context(|| format!("{} {}", self.name, wrong.name))
    }

    fn code_of(&self, wrong: &Wrong) -> anyhow::Result<String> {
        match &wrong.code {
            Code::Whole => self.read_file(&format!("wrong/{}.rs", wrong.name)),
            Code::Edit { base, hunks } => edit::apply(&self.base(base.as_deref())?, hunks),
        }
    }

    /// Returns the code of the right answer of this name, or of the solution.
    ///
    /// # Errors
    /// Returns an error if its file cannot be read.
    pub fn base(&self, right: Option<&str>) -> anyhow::Result<String> {
        let file = right.map_or_else(|| "solution/exercise.rs".to_owned(), |name| format!("right/{name}.rs"));
        self.read_file(&file).map(|text| without_head(&text).to_owned())
    }

    fn read_file(&self, name: &str) -> anyhow::Result<String> {
        fs::read_to_string(self.folder().join(name)).with_context(|| format!("cannot read {name}"))
    }
}

/// Returns an answer without the comment at its top.
pub fn without_head(answer: &str) -> &str {
    let head: usize =
        answer.split_inclusive('\n').take_while(|line| line.starts_with("//!")).map(str::len).sum();
    &answer[head..]
}

#[cfg(test)]
mod tests;
