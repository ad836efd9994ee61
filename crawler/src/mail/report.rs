//! The output of the mail check, and its exit status.

use super::{Account, Answer, Progress};
use command_line::{GAPS, INTERRUPTED};
use executor::{CancelKind, CancelToken};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// An account's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The account's name.
    pub name: String,
    /// The result of the account's check.
    pub answer: Answer,
    /// The time from the beginning of the check until the answer.
    pub took: Duration,
}

impl Checked {
    /// Creates the answer of an account; `took` is the time until the answer arrived.
    pub fn new(account: &Account, answer: Answer, took: Duration) -> Checked {
        Checked { name: account.name.clone(), answer, took }
    }
}

/// The result of a whole check.
#[derive(Debug)]
pub struct Report {
    /// An answer for each account.
    pub accounts: Vec<Checked>,
    /// The duration of the check.
    pub took: Duration,
    /// The number of threads of the check that are alive after the check.
    pub threads_left: usize,
    /// True if a signal has ended the check early.
    pub interrupted: bool,
}

impl Report {
    /// Returns 0 if there is new mail, 1 if there is no new mail, 3 if no new mail was found but an account
    /// has failed, and 130 if a signal arrived.
    pub fn exit_status(&self) -> u8 {
        match (self.interrupted, self.with_mail(), self.failed()) {
            (true, ..) => INTERRUPTED,
            (_, 1.., _) => 0,
            (_, 0, 0) => 1,
            (_, 0, _) => GAPS,
        }
    }

    /// Returns the number of accounts with new mail.
    fn with_mail(&self) -> usize {
        self.accounts.iter().filter(|checked| matches!(checked.answer, Answer::New(_))).count()
    }

    fn failed(&self) -> usize {
        self.accounts.iter().filter(|checked| matches!(checked.answer, Answer::Failed(_))).count()
    }

    /// Returns the whole report: one JSON object, or a table for people.
    pub fn text(&self, as_json: bool) -> String {
        if as_json { format!("{}\n", self.json()) } else { self.table() }
    }

    fn json(&self) -> Value {
        json!({
            "accounts": self.accounts.iter().map(account_json).collect::<Value>(),
            "with_new_mail": self.with_mail(),
            "failed": self.failed(),
            "milliseconds": milliseconds(self.took),
            "threads_left": self.threads_left,
            "interrupted": self.interrupted,
        })
    }

    /// Returns a line for each account, and two lines for all accounts together.
    fn table(&self) -> String {
        let width = self.accounts.iter().map(|checked| checked.name.chars().count()).max().unwrap_or(0);
        let mut table = String::new();
        for Checked { name, answer, took } in &self.accounts {
            let answer = match answer {
                Answer::New(count) => format!("{count} new"),
                Answer::None => "no new mail".to_owned(),
                Answer::Failed(why) => format!("failed: {why}"),
            };
            let _ = writeln!(table, "{name:width$}  {:>6} ms  {answer}", milliseconds(*took));
        }
        let (with_mail, failed) = (self.with_mail(), self.failed());
        let _ = writeln!(table, "new mail: {with_mail} of {} accounts, {failed} failed", self.accounts.len());
        table + &left(self.threads_left)
    }
}

/// Returns a sentence with the number of threads that a check has left running.
pub fn left(threads: usize) -> String {
    format!("threads of the check that are still alive: {threads}\n")
}

fn account_json(Checked { name, answer, took }: &Checked) -> Value {
    let milliseconds = milliseconds(*took);
    match answer {
        Answer::New(count) => {
            json!({ "name": name, "answer": "new", "count": count, "milliseconds": milliseconds })
        }
        Answer::None => json!({ "name": name, "answer": "none", "milliseconds": milliseconds }),
        Answer::Failed(why) => {
            json!({ "name": name, "answer": "failed", "why": why, "milliseconds": milliseconds })
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the reason why a cancelled check has no answer: the deadline after `within` has passed, the token
/// was cancelled, or no thread could be started. The text names the step that the check had reached.
pub fn called_off(call: &CancelToken, within: Duration, progress: &Progress) -> String {
    let why = match call.reason().map(|reason| reason.kind()) {
        Some(CancelKind::Deadline) => format!("no answer within {}", words(within)),
        Some(_) => "called off".to_owned(),
        None => "no thread could be started".to_owned(),
    };
    format!("{why} ({})", progress.step())
}

/// Formats a time for people, for example as `200 ms`, `10 s`.
fn words(time: Duration) -> String {
    match milliseconds(time) {
        ms if ms % 1000 == 0 => format!("{} s", ms / 1000),
        ms => format!("{ms} ms"),
    }
}
