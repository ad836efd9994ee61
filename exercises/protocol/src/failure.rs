//! What a test found, as data and as text.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::schedule::Schedule;
use crate::{Mode, Terminal, picture};

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

/// The report of a process that has run a property: how often the property held, or why it did not.
pub type Verdict = Result<usize, Box<Failure>>;

/// The failure of a property.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// What the property promises.
    pub promise: String,
    /// What was seen instead.
    pub seen: String,
    /// The likely cause.
    pub cause: String,
    /// What each thread did until then.
    #[serde(default, skip_serializing_if = "Schedule::is_empty")]
    pub schedule: Schedule,
    /// What the learner's code printed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Whether the property was ended because it did not end by itself.
    pub hung: bool,
    /// The schedule, or run, on which the failure was found. The first is 1.
    #[serde(default)]
    pub found: usize,
    /// Whether the failure happened in a part that the property is not about, such as the end of a pool after
    /// the last step.
    #[serde(default)]
    pub aside: bool,
}

/// The length of the longest title of a paragraph.
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

    /// The text that a learner reads.
    pub fn message(&self, property: &str, mode: Mode, terminal: &Terminal) -> String {
        let (strong, plain) = if terminal.colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        let mut text = format!("\nproperty  {strong}{property}{plain} ({})\n", mode.place());
        for (title, body) in [("promise", &self.promise), ("seen", &self.seen), ("cause", &self.cause)] {
            text.push_str(&terminal.paragraph(&format!("{title:TITLES$}"), body));
        }
        if self.can_be_drawn() {
            text.push_str(&picture::text(self, terminal));
        }
        if !self.output.is_empty() {
            let _ = writeln!(text, "\nWhat your code printed last:\n{}", self.output);
        }
        text
    }
}
