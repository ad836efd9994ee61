//! `proven.toml`: the exercises that were proven for [`ROUNDS`] rounds, and a hash of the state in which each
//! was proven.
//!
//! The schedules that a round tries depend only on the number of the round. So as long as nothing that
//! decides a verdict changes, a second run of the same rounds has a known result. (Changes to comments and
//! documentation of the library and of the harness do not count.) The tests run the first round of every exercise that is built;
//! for most exercises, they look for the result of the other rounds in this file. The ledger only saves
//! repetitions. A forged line hides at most one repetition: the tests also run all rounds of one exercise,
//! and they choose another exercise after each change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use exercises_protocol::Exercise;
use sha2::{Digest, Sha256};

use crate::{ROUNDS, folder};

/// The files on which every verdict depends, as paths below the exercises' folder.
const OF_ALL: [&str; 4] =
    ["harness/src", "protocol/src", "sync/src", "../executor/model/primitives/locks.rs"];
/// The files on which verdicts also depend if the answers use the library.
const OF_THE_LIBRARY: [&str; 2] = ["../executor/src", "../executor/model/primitives"];
/// The files in an exercise's own folder on which its verdicts depend. The learner's file is not in this
/// list.
const OF_ITS_OWN: [&str; 7] =
    ["exercise.toml", "tests", "stub", "solution/exercise.rs", "right", "wrong.diff", "wrong"];

const HEAD: &str = "\
# Each exercise that has been proven for twenty rounds, and a hash of all that the verdicts depend on.
# `cargo run -p exercises-proof -- ex01 --rounds 20` runs them and writes the line.
";

type Lines = BTreeMap<String, String>;

/// Records that an exercise is proven in its present state.
///
/// # Errors
/// Returns an error if the ledger, or a file on which the verdicts depend, cannot be read or written.
pub fn write(exercise: &Exercise) -> anyhow::Result<()> {
    let mut lines = lines()?;
    lines.insert(exercise.name.clone(), hash(exercise)?);
    let mut text = HEAD.to_owned();
    for (name, hash) in lines {
        let _ = writeln!(text, "{name} = \"{hash}\"");
    }
    fs::write(path(), text).with_context(|| format!("cannot write {}", path().display()))
}

/// Returns the exercises whose state differs from the ledger, with the command that proves each of them.
///
/// # Errors
/// Returns an error if the ledger, or a file on which the verdicts depend, cannot be read.
pub fn mistakes(exercises: &[Exercise]) -> anyhow::Result<Vec<String>> {
    compare(exercises, &lines()?)
}

fn compare(exercises: &[Exercise], lines: &Lines) -> anyhow::Result<Vec<String>> {
    let mut mistakes = Vec::new();
    for exercise in exercises {
        let problem = match lines.get(&exercise.name) {
            None => "has no line in proven.toml",
            Some(line) if *line != hash(exercise)? => "is not what it was when it was proven",
            Some(_) => continue,
        };
        mistakes.push(format!(
            "{} {problem}: EXERCISE_ONLY={short} cargo run -p exercises-proof -- {short} --rounds {ROUNDS}",
            exercise.name,
            short = exercise.short()
        ));
    }
    let is_there = |name: &String| exercises.iter().any(|exercise| exercise.name == *name);
    for name in lines.keys().filter(|name| !is_there(name)) {
        mistakes.push(format!("proven.toml has a line for {name}, which is no exercise"));
    }
    Ok(mistakes)
}

/// Returns a hash of everything that decides the verdicts on an exercise, each part with its name.
fn hash(exercise: &Exercise) -> anyhow::Result<String> {
    let mut sum = Sha256::new();
    sum.update(env!("COMPILER"));
    sum.update(model_checkers()?);
    let of_the_library = OF_THE_LIBRARY.iter().filter(|_| exercise.uses_the_library());
    for part in OF_ALL.iter().chain(of_the_library) {
        add(&mut sum, &folder(), Path::new(part), Text::Code)?;
    }
    let judged = exercise.judged_files();
    for part in judged.iter().map(String::as_str).chain(OF_ITS_OWN) {
        add(&mut sum, exercise.folder(), Path::new(part), Text::Whole)?;
    }
    Ok(sum.finalize().iter().take(16).fold(String::new(), |text, byte| format!("{text}{byte:02x}")))
}

/// Returns the entries of the model checkers in Cargo.lock: their versions, and hashes of their sources.
fn model_checkers() -> anyhow::Result<String> {
    let path = folder().join("../Cargo.lock");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let is_one =
        |package: &&str| ["name = \"shuttle", "name = \"loom\""].iter().any(|name| package.starts_with(name));
    let found: Vec<&str> = text.split("[[package]]\n").filter(is_one).collect();
    anyhow::ensure!(found.len() > 1, "{} names no model checkers", path.display());
    Ok(found.concat())
}

/// The part of a file that is hashed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Whole,
    /// Code counts without its comments; files of documentation are not hashed at all.
    Code,
}

/// Adds a file, or all files in a folder and its subfolders. A missing file adds nothing.
fn add(sum: &mut Sha256, folder: &Path, name: &Path, of: Text) -> anyhow::Result<()> {
    let path = folder.join(name);
    let cannot_read = || format!("cannot read {}", path.display());
    if path.is_dir() {
        let entries = fs::read_dir(&path).with_context(cannot_read)?;
        let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<anyhow::Result<Vec<_>>>()?;
        names.sort();
        return names.iter().try_for_each(|below| add(sum, folder, &name.join(below), of));
    }
    if path.exists() {
        let text = match of {
            Text::Code if path.extension().is_some_and(|extension| extension == "md") => return Ok(()),
            Text::Code => code(&fs::read_to_string(&path).with_context(cannot_read)?).into_bytes(),
            Text::Whole => fs::read(&path).with_context(cannot_read)?,
        };
        sum.update(format!("\n{}\n{}\n", name.display(), text.len()));
        sum.update(text);
    }
    Ok(())
}

fn code(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

fn lines() -> anyhow::Result<Lines> {
    let text = fs::read_to_string(path()).with_context(|| format!("cannot read {}", path().display()))?;
    toml::from_str(&text).with_context(|| format!("{} is not as it should be", path().display()))
}

fn path() -> PathBuf {
    folder().join("proof/proven.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_of_the_library_changes_nothing_and_a_line_of_its_code_does() {
        let hash_of = |text: &str, of| {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("a.rs"), text).unwrap();
            fs::write(folder.path().join("b.md"), text).unwrap();
            let mut sum = Sha256::new();
            add(&mut sum, folder.path(), Path::new(""), of).unwrap();
            sum.finalize()
        };
        let texts = ["/// One.\nfn a() {}\n", "/// Two.\n    // more\nfn a() {}\n", "/// One.\nfn b() {}\n"];
        let [one, commented, changed] = texts.map(|text| hash_of(text, Text::Code));
        assert_eq!(one, commented);
        assert_ne!(one, changed);
        assert_ne!(hash_of(texts[0], Text::Whole), hash_of(texts[1], Text::Whole));
    }

    #[test]
    fn a_line_that_is_missing_or_stale_or_of_no_exercise_is_named() {
        let exercises = crate::exercises(Some("ex0")).unwrap();
        let mut lines: Lines =
            exercises.iter().map(|exercise| (exercise.name.clone(), hash(exercise).unwrap())).collect();
        assert_eq!(compare(&exercises, &lines).unwrap(), Vec::<String>::new());
        let different: std::collections::BTreeSet<_> = lines.values().collect();
        assert_eq!(different.len(), exercises.len());

        lines.remove(&exercises[1].name);
        lines.insert(exercises[3].name.clone(), "0".repeat(32));
        lines.insert("ex00-gone".to_owned(), "0".repeat(32));
        let mistakes = compare(&exercises, &lines).unwrap();
        let begins = [
            "ex01-worker-pool has no line in proven.toml: EXERCISE_ONLY=ex01 cargo run",
            "ex03-bounded-executor is not what it was when it was proven: EXERCISE_ONLY=ex03 cargo run",
            "proven.toml has a line for ex00-gone, which is no exercise",
        ];
        assert_eq!(mistakes.len(), begins.len(), "{mistakes:?}");
        for (mistake, begin) in mistakes.iter().zip(begins) {
            assert!(mistake.starts_with(begin), "{mistake}");
        }
    }
}
