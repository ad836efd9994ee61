//! A look at the learner's file before it is run.
//!
//! A `std::sync::Mutex` under the model is not the model's: a thread that waits for it blocks all of them, for ever.
//! What the model says then is obscure, so the file is read first.

use crate::isolate::Failure;
use crate::schedule::Schedule;

/// What the model must know about, and what to write instead.
const FORBIDDEN: [(&str, &str); 5] = [
    ("std::sync", "crate::sync"),
    ("std::thread", "crate::sync::thread"),
    ("core::sync", "crate::sync"),
    ("std::time", "no clock: wait for what has to happen"),
    ("unsafe", "nothing: no exercise needs it"),
];

/// Refuses a file that goes past `crate::sync`. Comments don't count.
pub(crate) fn look_at(source: &str) -> Result<(), Box<Failure>> {
    for (n, line) in source.lines().enumerate() {
        let code: String = line.split("//").next().unwrap_or(line).split_whitespace().collect();
        let words = line.split("//").next().unwrap_or(line).split(|c: char| !c.is_alphanumeric() && c != '_');
        for (forbidden, instead) in FORBIDDEN {
            let found = if forbidden == "unsafe" {
                words.clone().any(|word| word == "unsafe")
            } else {
                code.contains(forbidden)
            };
            if found {
                return Err(Box::new(refusal(n + 1, forbidden, instead)));
            }
        }
        if code.contains("std::{")
            && code
                .split("std::{")
                .nth(1)
                .is_some_and(|rest| rest.contains("sync::") || rest.contains("thread"))
        {
            return Err(Box::new(refusal(n + 1, "std::{… sync or thread …}", "crate::sync")));
        }
    }
    Ok(())
}

fn refusal(line: usize, forbidden: &str, instead: &str) -> Failure {
    Failure::new(
        "The answer takes its locks and threads from crate::sync, which has what std has, under the same names.",
        &format!("line {line} of src/exercise.rs names {forbidden}; write instead: {instead}"),
        "the tests put other locks and threads behind crate::sync, ones whose schedule they decide. Those of std they \
         can neither see nor stop: the test would hang, or miss the mistake it is there for",
        Schedule::default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_past_the_door_is_named_with_its_line() {
        for (source, line) in [
            ("use std::sync::Mutex;", 1),
            ("\nuse std::{collections::VecDeque, sync::Mutex};", 2),
            ("\n\nlet t = std :: thread::spawn(f);", 3),
            ("let now = std::time::Instant::now();", 1),
            ("unsafe impl Send for X {}", 1),
        ] {
            let failure = look_at(source).expect_err(source);
            assert!(failure.seen.starts_with(&format!("line {line} ")), "{}", failure.seen);
        }
    }

    #[test]
    fn comments_and_the_right_door_are_fine() {
        for source in [
            "use crate::sync::{Mutex, thread};",
            "// not std::sync::Mutex",
            "use std::collections::VecDeque; // std::thread is elsewhere",
            "use std::panic::{AssertUnwindSafe, catch_unwind};",
            "let unsafely = 1;",
        ] {
            assert!(look_at(source).is_ok(), "{source}");
        }
    }
}
