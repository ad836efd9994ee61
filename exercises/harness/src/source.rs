//! A look at the learner's file before it is run.
//!
//! A `std::sync::Mutex` under the model is not the model's: a thread that waits for it blocks all of them, for ever.
//! What the model says then is obscure, so the file is read first.

use crate::isolate::Failure;
use crate::schedule::Schedule;

/// What goes past the door, without spaces, and what to write instead.
const FORBIDDEN: [(&str, &str); 5] = [
    ("std::sync", "crate::sync"),
    ("core::sync", "crate::sync"),
    ("std::thread_local", "crate::sync::thread_local"),
    ("std::thread", "crate::sync::thread"),
    ("std::time", "nothing of the kind: wait for what has to happen, not for a time"),
];

/// Refuses a file that goes past `crate::sync`. Comments don't count.
pub(crate) fn look_at(source: &str) -> Result<(), Box<Failure>> {
    for (line, path) in paths(source) {
        if let Some((forbidden, instead)) =
            FORBIDDEN.iter().find(|(forbidden, _)| path.starts_with(forbidden))
        {
            return Err(Box::new(refusal(line, forbidden, instead)));
        }
    }
    Ok(())
}

/// Everything in the file that could be a path of std, with its line; what stands in the braces of `use std::{…}` is
/// written out.
fn paths(source: &str) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    let mut group: Option<usize> = None; // inside `std::{`, at this depth of braces
    for (n, line) in source.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let code: Vec<&str> = code.split("::").map(str::trim).collect();
        let code = code.join("\u{1}"); // one letter for `::`, so that `x:std::sync` is two words
        let of_a_path = |c: char| c.is_alphanumeric() || c == '_' || c == '\u{1}';
        for part in code.split_inclusive(|c| !of_a_path(c)) {
            let path = part.trim_end_matches(|c| !of_a_path(c)).replace('\u{1}', "::");
            let path = path.trim_start_matches("use::").trim_start_matches("::");
            match group {
                Some(1) => paths.push((n + 1, format!("std::{path}"))),
                _ => paths.push((n + 1, path.to_owned())),
            }
            group = match (group, part.chars().last()) {
                (None, Some('{')) if path == "std::" => Some(1),
                (Some(depth), Some('{')) => Some(depth + 1),
                (Some(1), Some('}')) => None,
                (Some(depth), Some('}')) => Some(depth - 1),
                (group, _) => group,
            };
        }
    }
    paths
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
            ("std::thread_local! { static N: u8 = 1 }", 1),
            ("let now = std::time::Instant::now();", 1),
            ("use std::{\n    collections::{HashMap, VecDeque},\n    sync::Mutex,\n};", 3),
            ("use ::std::thread;", 1),
            ("\npub(crate) use std :: sync::Mutex;", 2),
            ("fn f(x:std::sync::Mutex<u8>) {}", 1),
            ("    let x = Arc::new(std::sync::Mutex::new(0));", 1),
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
            "use std::{collections::VecDeque, panic};\nuse crate::sync;",
            "use std::{collections::{HashMap, VecDeque}, mem};\nfn thread() {}",
        ] {
            assert!(look_at(source).is_ok(), "{source}");
        }
    }
}
