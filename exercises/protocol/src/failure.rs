//! The result of a test, as data and as text.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::schedule::Schedule;
use crate::{Mode, Terminal, picture};

/// The result of testing a property in one mode. A test program writes this state into a file for each
/// property.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum State {
    /// The property held: no schedule broke it.
    Held,
    /// The property was broken.
    Failed(Box<Failure>),
    /// The property was not run, because an earlier property had failed.
    NotRun,
}

/// The report of a process that has run a property: the number of runs in which the property held, or the
/// failure.
pub type Verdict = Result<usize, Box<Failure>>;

/// The failure of a property.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The property's promise.
    pub promise: String,
    /// The observation that contradicts the promise.
    pub seen: String,
    /// The likely cause.
    pub cause: String,
    /// The steps of each thread up to the failure.
    #[serde(default, skip_serializing_if = "Schedule::is_empty")]
    pub schedule: Schedule,
    /// The output of the learner's code.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// True if the harness ended the property, because the property did not end by itself.
    pub hung: bool,
    /// The number of the schedule, or run, on which the failure was found. The number of the first schedule,
    /// or run, is 1.
    #[serde(default)]
    pub found: usize,
    /// True if the failure happened in a part that the property does not test, such as the end of a pool
    /// after the last step.
    #[serde(default)]
    pub aside: bool,
}

/// The length of the longest title of a paragraph.
const TITLES: usize = 8;

impl Failure {
    /// Makes a failure without further details.
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

    /// Returns true if there are enough events for a picture. A single event is only the failure itself, so
    /// it needs no picture.
    pub fn can_be_drawn(&self) -> bool {
        self.schedule.events.len() > 1
    }

    /// Returns the text that a learner reads.
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
