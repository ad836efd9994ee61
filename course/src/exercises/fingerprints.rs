//! Computes fingerprints of the checked file and of the tests that checked it, for a teacher who grades
//! answers from other machines. If a test was changed, its fingerprint differs from the fingerprint of the
//! teacher's copy.

use crate::workspace::{Workspace, was_built};
use anyhow::Context;
use exercises_protocol::Exercise;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The SHA-256 hashes of files, as hexadecimal numbers. A line that ends in `\r\n` has the same hash as one
/// that ends in `\n`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fingerprints {
    /// The learner's file.
    pub answer: String,
    /// The tests of the exercise: all files that are compiled together with the answer.
    pub suite: String,
    /// The code that the tests of all exercises use: the harness, the library and the versions of
    /// their dependencies.
    pub harness: String,
}

impl Fingerprints {
    /// # Errors
    /// Returns an error if a file of the exercise cannot be read.
    pub(super) fn of(workspace: &Workspace, exercise: &Exercise) -> anyhow::Result<Self> {
        const HARNESS: [&str; 7] = [
            ".cargo",
            "Cargo.lock",
            "Cargo.toml",
            "executor",
            "exercises/harness",
            "exercises/protocol",
            "exercises/sync",
        ];
        let judged = exercise.judged_files();
        let mut suite = vec!["Cargo.toml", "exercise.toml", "src/lib.rs", "tests"];
        suite.extend(judged.iter().map(String::as_str));
        Ok(Self {
            answer: of(exercise.folder(), &["src/exercise.rs"])?,
            suite: of(exercise.folder(), &suite)?,
            harness: of(workspace.root(), &HARNESS)?,
        })
    }
}

/// Returns the hash of all files at these paths, with their names. A path that has no file adds nothing to
/// the hash.
fn of(root: &Path, paths: &[&str]) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    for path in paths {
        add(&mut hash, &root.join(path), path)?;
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

fn add(hash: &mut Sha256, path: &Path, name: &str) -> anyhow::Result<()> {
    let context = || format!("cannot read {}", path.display());
    if path.is_dir() {
        let names = fs::read_dir(path).with_context(context)?.map(|entry| Ok(entry?.file_name()));
        let mut names: Vec<_> = names.collect::<std::io::Result<_>>().with_context(context)?;
        names.sort();
        for entry in names.into_iter().filter(|entry| !was_built(&path.join(entry))) {
            add(hash, &path.join(&entry), &format!("{name}/{}", entry.to_string_lossy()))?;
        }
    } else if path.exists() {
        let text = fs::read(path).with_context(context)?;
        let lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        hash.update(format!("{name} {}\n", lines.clone().count()));
        for line in lines {
            hash.update(line);
            hash.update(b"\n");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_or_has_another_name_is_seen_and_the_ends_of_lines_are_not() {
        let of_tests = |files: &[(&str, &str)]| {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir(dir.path().join("tests")).unwrap();
            for (name, text) in files {
                fs::write(dir.path().join("tests").join(name), text).unwrap();
            }
            of(dir.path(), &["Cargo.toml", "tests"]).unwrap()
        };
        let whole = of_tests(&[("a.rs", "one\ntwo\n"), ("b.rs", "three\n")]);
        assert_eq!(whole.len(), 64);
        assert_eq!(whole, of_tests(&[("b.rs", "three\r\n"), ("a.rs", "one\r\ntwo\r\n")]));
        for other in [
            of_tests(&[("a.rs", "one\ntwo\n"), ("b.rs", "threa\n")]),
            of_tests(&[("a.rs", "one\ntwo\n"), ("c.rs", "three\n")]),
            of_tests(&[("a.rs", "one\n"), ("b.rs", "two\nthree\n")]),
            of_tests(&[("a.rs", "one\ntwo\n")]),
        ] {
            assert_ne!(whole, other);
        }
    }
}
