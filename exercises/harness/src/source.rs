//! A look at the learner's file before it is run.
//!
//! A `std::sync::Mutex` under the model is not the model's: a thread that waits for it blocks all of them, for ever.
//! What the model says then is obscure, so the file is read first.

use exercises_protocol::Failure;
use exercises_protocol::schedule::Schedule;

/// What goes past the door, and what to write instead; the first that fits counts.
const FORBIDDEN: [(&str, &str); 6] = [
    ("std::sync", "crate::sync"),
    ("core::sync", "crate::sync"),
    ("std::thread_local", "crate::sync::thread_local"),
    ("std::thread::sleep", NO_CLOCK),
    ("std::thread", "crate::sync::thread"),
    ("std::time", NO_CLOCK),
];

const NO_CLOCK: &str = "nothing of the kind: wait for what has to happen, not for a time";

/// Refuses a file that goes past `crate::sync`. Comments don't count.
pub(crate) fn look_at(source: &str) -> Result<(), Box<Failure>> {
    let words = words(&without_comments(source));
    for word in &words {
        let fits = |(forbidden, _): &&(&str, &str)| word.path.starts_with(forbidden);
        if let Some((forbidden, instead)) = FORBIDDEN.iter().find(fits) {
            return Err(Box::new(refusal(word.line, forbidden, instead)));
        }
    }
    if let Some(word) = words.iter().find(|word| word.path.starts_with("exercises_harness")) {
        return Err(Box::new(Failure::new(
            "The answer is judged by the tests, and has no part in them.",
            &format!("line {} of src/exercise.rs names exercises_harness", word.line),
            "that is what the tests are made of; an answer needs nothing of it",
            Schedule::default(),
        )));
    }
    if let Some(word) = words.iter().find(|word| word.path == "unsafe") {
        return Err(Box::new(Failure::new(
            "The answer is safe Rust.",
            &format!("line {} of src/exercise.rs says unsafe", word.line),
            "with it the compiler no longer sees to it that a value is handed over properly from one thread to another, and \
             neither do the tests: under the model only one thread runs at a time, so a race for a value that no lock \
             guards, or a memory ordering that is too weak, shows nowhere. Put the value behind a Mutex",
            Schedule::default(),
        )));
    }
    // This one needs no `use` to be std's.
    let names = |word: &&Word| word.path == "thread_local" || word.path.ends_with("sync::thread_local");
    let imported = words.iter().filter(names).any(|word| word.then != Some('!'))
        || words.iter().any(|word| word.path == "crate::sync::" && word.then == Some('*'));
    let bare = words.iter().find(|word| word.path == "thread_local" && word.then == Some('!'));
    match bare {
        Some(word) if !imported => Err(Box::new(refusal(
            word.line,
            "thread_local! without importing it, and so means that of std",
            "use crate::sync::thread_local; at the top, and the same as now below",
        ))),
        _ => Ok(()),
    }
}

/// The same lines, with nothing where a comment was.
fn without_comments(source: &str) -> String {
    let mut code = String::new();
    let (mut rest, mut depth) = (source, 0); // of block comments, which can be nested
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        if rest.starts_with("/*") {
            (depth, length) = (depth + 1, 2);
        } else if depth > 0 && rest.starts_with("*/") {
            (depth, length) = (depth - 1, 2);
        } else if depth == 0 && rest.starts_with("//") {
            length = rest.find('\n').unwrap_or(rest.len());
        } else if depth == 0 || c == '\n' {
            code.push(c);
        }
        rest = &rest[length..];
    }
    code
}

/// Something in the file that could be a path, without spaces.
struct Word {
    line: usize,
    path: String,
    /// The character behind it.
    then: Option<char>,
}

/// All of them; what stands in the braces of `use std::{…}` is written out.
fn words(code: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut group: Option<usize> = None; // inside `std::{`, at this depth of braces
    for (n, line) in code.lines().enumerate() {
        let line: Vec<&str> = line.split("::").map(str::trim).collect();
        let line = line.join("\u{1}"); // one letter for `::`, so that `x:std::sync` is two words
        let of_a_path = |c: char| c.is_alphanumeric() || c == '_' || c == '\u{1}';
        for part in line.split_inclusive(|c| !of_a_path(c)) {
            let path = part.trim_end_matches(|c| !of_a_path(c)).replace('\u{1}', "::");
            let path = path.trim_start_matches("use::").trim_start_matches("::");
            let then = part.chars().last().filter(|c| !of_a_path(*c));
            let written_out = if group == Some(1) { format!("std::{path}") } else { path.to_owned() };
            words.push(Word { line: n + 1, path: written_out, then });
            group = match (group, then) {
                (None, Some('{')) if path == "std::" => Some(1),
                (Some(depth), Some('{')) => Some(depth + 1),
                (Some(1), Some('}')) => None,
                (Some(depth), Some('}')) => Some(depth - 1),
                (group, _) => group,
            };
        }
    }
    words
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
            ("/* a comment,\nand more */ use std::thread;", 2),
            ("use crate::sync::Mutex;\nthread_local! {\n    static N: u8 = 1\n}", 2),
            ("\n#[cfg(test)]\nuse exercises_harness::fail;", 3),
            ("fn f() {}\nunsafe impl Sync for S {}", 2),
            ("let x = unsafe{ *p };", 1),
        ] {
            let failure = look_at(source).expect_err(source);
            assert!(failure.seen.starts_with(&format!("line {line} ")), "{}", failure.seen);
        }
    }

    #[test]
    fn what_to_write_instead_depends_on_what_was_meant() {
        for (source, instead) in [
            ("use std::sync::Mutex;", "write instead: crate::sync"),
            ("std::thread::sleep(d);", "wait for what has to happen, not for a time"),
            ("thread_local! { static N: u8 = 1 }", "use crate::sync::thread_local;"),
        ] {
            let failure = look_at(source).expect_err(source);
            assert!(failure.seen.contains(instead), "{}", failure.seen);
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
            "/* std::sync /* and */ std::thread\nstd::time */ fn f() {}",
            "use crate::sync::thread_local;\nthread_local! { static N: u8 = 1 }",
            "use crate::sync::{Mutex, thread_local};\nthread_local! { static N: u8 = 1 }",
            "use crate::sync::*;\nthread_local! { static N: u8 = 1 }",
            "use crate::sync;\nsync::thread_local! { static N: u8 = 1 }",
            "crate::sync::thread_local! { static N: u8 = 1 }",
            "// thread_local! {}",
            "#![forbid(unsafe_code)] // no unsafe",
        ] {
            assert!(look_at(source).is_ok(), "{source}");
        }
    }
}
