//! What a test found, as data and as text.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::Mode;
use crate::schedule::Schedule;

/// How a property fared in one mode. A test program writes it down for each property.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum State {
    /// No way was found to break it.
    Held,
    /// It was broken.
    Failed(Box<Failure>),
    /// Not tried, because of what failed before.
    NotRun,
}

/// What the process reports that has run a property: how often it held, or why it did not.
pub type Verdict = Result<usize, Box<Failure>>;

/// A property does not hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// What the property promises.
    pub promise: String,
    /// What was seen instead.
    pub seen: String,
    /// The likely cause.
    pub cause: String,
    /// Who did what until then.
    #[serde(default, skip_serializing_if = "Schedule::is_empty")]
    pub schedule: Schedule,
    /// What the learner's code printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// It was ended because it did not end.
    pub hung: bool,
    /// On which schedule, or in which run, it was found. The first is 1.
    #[serde(default)]
    pub found: usize,
    /// It happened in a part that the property is not about, such as the end of a pool after the last step.
    #[serde(default)]
    pub aside: bool,
}

/// How wide text is set.
const WIDTH: usize = 100;
/// The longest of the words before a paragraph.
const TITLES: usize = 8;

impl Failure {
    /// A failure of which nothing more is known.
    pub fn new(promise: &str, seen: &str, cause: &str, schedule: Schedule) -> Self {
        Self {
            promise: promise.into(),
            seen: seen.into(),
            cause: cause.into(),
            schedule,
            output: String::new(),
            hung: false,
            found: 0,
            aside: false,
        }
    }

    /// Whether enough happened for a picture. A single step is the failure itself.
    pub fn can_be_drawn(&self) -> bool {
        self.schedule.events.len() > 1
    }

    /// What a learner reads.
    pub fn message(&self, property: &str, mode: Mode, colour: bool) -> String {
        let (strong, plain) = if colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        let mut text = format!("\nproperty  {strong}{property}{plain} ({})\n", mode.place());
        for (title, body) in [("promise", &self.promise), ("seen", &self.seen), ("cause", &self.cause)] {
            text.push_str(&paragraph(&format!("{title:TITLES$}"), body));
        }
        if self.can_be_drawn() {
            text.push_str(
                "\nWho did what, in this order, top to bottom (after a colon: the line of your file; ►: the step that \
                 decided it):\n\n",
            );
            text.push_str(&self.schedule.text(colour));
        }
        if !self.output.is_empty() {
            let _ = writeln!(text, "\nWhat your code printed last:\n{}", self.output);
        }
        text
    }
}

/// A title, two spaces, and text that is set beside it.
pub fn paragraph(title: &str, body: &str) -> String {
    let beside = title.chars().count() + 2;
    let mut text = String::new();
    for (n, line) in body.lines().flat_map(|line| wrap(line, WIDTH)).enumerate() {
        let title = if n == 0 { title } else { "" };
        let _ = writeln!(text, "{title:beside$}{line}");
    }
    text
}

/// Breaks a line at spaces; what follows the first line of an indented one is indented as far.
fn wrap(line: &str, width: usize) -> Vec<String> {
    let indent = " ".repeat(line.len() - line.trim_start().len());
    let mut lines = vec![indent.clone()];
    for word in line.split_whitespace() {
        let last = lines.last_mut().expect("there is at least one");
        let empty = last.len() == indent.len();
        if !empty && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("{indent}{word}"));
        } else {
            last.push_str(if empty { "" } else { " " });
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_set_beside_its_title_and_keeps_its_indentation() {
        let body = format!("{}end\n  one two", "word ".repeat(30));
        let text = paragraph("seen", &body);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("seen  word") && lines[1].starts_with("      word"), "{text}");
        assert_eq!(lines[2], "        one two");
        assert!(lines.iter().all(|line| line.len() <= WIDTH + 6), "{text}");
    }

    #[test]
    fn a_line_is_as_wide_as_it_looks() {
        let dashes = "– ".repeat(WIDTH); // three bytes each, and one column
        assert_eq!(wrap(&dashes, WIDTH)[0].chars().count(), WIDTH - 1);
    }
}
