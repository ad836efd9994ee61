//! What a learner has done so far: `progress.txt` at the project's root.
//!
//! A line for each thing that happened, a word and an exercise, in the order in which they happened:
//!
//! ```text
//! hint ex01-worker-pool 1
//! solved ex01-worker-pool
//! ```
//!
//! A name that the exercise had before counts, too: `formerly` in its `exercise.toml`. Lines are only ever added. So nothing is lost if two commands run at once, the file can be read and edited by hand,
//! and a line that this version doesn't understand stays where it is. Git ignores the file, and an update of the
//! project leaves it alone.

use crate::workspace::Workspace;
use anyhow::Context;
use exercises_protocol::Exercise;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

const HEADER: &str = "# What you have done in the exercises, one thing a line. Written by `cargo course`.\n";

/// The progress file, as it was when it was read.
pub struct Progress {
    path: PathBuf,
    text: String,
}

impl Progress {
    /// Reads the file. None is as good as an empty one.
    pub fn read(workspace: &Workspace) -> anyhow::Result<Self> {
        let path = workspace.progress();
        match fs::read(&path) {
            Ok(bytes) => Ok(Self { path, text: String::from_utf8_lossy(&bytes).into_owned() }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self { path, text: String::new() }),
            Err(error) => {
                Err(error).with_context(|| format!("cannot read your progress in {}", path.display()))
            }
        }
    }

    /// What is remembered of an exercise since it was last begun again: pairs of a word and the rest of the line.
    fn of<'a>(&'a self, exercise: &'a Exercise) -> impl Iterator<Item = (&'a str, &'a str)> {
        let lines = self.text.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let word = words.next()?;
            let name = words.next()?;
            let is_meant = name == exercise.name || exercise.formerly.iter().any(|former| former == name);
            is_meant.then(|| (word, words.next().unwrap_or_default()))
        });
        let lines: Vec<_> = lines.collect();
        let begun = lines.iter().rposition(|(word, _)| *word == "reset").map_or(0, |n| n + 1);
        lines.into_iter().skip(begun)
    }

    pub fn is_solved(&self, exercise: &Exercise) -> bool {
        self.of(exercise).any(|(word, _)| word == "solved")
    }

    /// How many hints have been given.
    pub fn hints(&self, exercise: &Exercise) -> usize {
        self.of(exercise)
            .filter(|(word, _)| *word == "hint")
            .filter_map(|(_, number)| number.parse().ok())
            .max()
            .unwrap_or(0)
    }

    /// Whether the solution has been asked for before it was found.
    pub fn has_asked(&self, exercise: &Exercise) -> bool {
        self.of(exercise).any(|(word, _)| word == "asked")
    }

    pub fn solved(&mut self, exercise: &Exercise) -> anyhow::Result<()> {
        if self.is_solved(exercise) { Ok(()) } else { self.add(&format!("solved {}", exercise.name)) }
    }

    pub fn gave_hint(&mut self, exercise: &Exercise, number: usize) -> anyhow::Result<()> {
        self.add(&format!("hint {} {number}", exercise.name))
    }

    pub fn asked(&mut self, exercise: &Exercise) -> anyhow::Result<()> {
        self.add(&format!("asked {}", exercise.name))
    }

    pub fn reset(&mut self, exercise: &Exercise) -> anyhow::Result<()> {
        self.add(&format!("reset {}", exercise.name))
    }

    fn add(&mut self, line: &str) -> anyhow::Result<()> {
        let mut added = String::new();
        if self.text.is_empty() {
            added.push_str(HEADER);
        } else if !self.text.ends_with('\n') {
            added.push('\n'); // an editor left the last line open
        }
        added.push_str(line);
        added.push('\n');
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .and_then(|mut file| file.write_all(added.as_bytes()))
            .with_context(|| {
                format!("cannot write your progress to {}; it will be forgotten", self.path.display())
            })?;
        self.text.push_str(&added);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exercises::catalogue;

    fn with(text: &str) -> (tempfile::TempDir, Progress, Vec<Exercise>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("progress.txt");
        fs::write(&path, text).unwrap();
        let progress = Progress { path, text: text.to_owned() };
        (dir, progress, catalogue::all(&Workspace::find().unwrap()).unwrap())
    }

    #[test]
    fn what_was_done_is_remembered_and_strange_lines_stay() {
        let (_dir, mut progress, exercises) =
            with("# mine\nflew ex01-worker-pool to the moon\nsolved ex07-gone");
        progress.solved(&exercises[0]).unwrap();
        progress.gave_hint(&exercises[1], 2).unwrap();
        assert!(progress.is_solved(&exercises[0]) && !progress.is_solved(&exercises[1]));
        assert_eq!((progress.hints(&exercises[0]), progress.hints(&exercises[1])), (0, 2));
        let text = fs::read_to_string(&progress.path).unwrap();
        let name = &exercises[0].name;
        assert!(text.starts_with("# mine\nflew ex01-worker-pool to the moon\nsolved ex07-gone\n"), "{text}");
        assert!(text.contains(&format!("\nsolved {name}\n")), "{text}");
    }

    #[test]
    fn what_was_done_under_a_former_name_counts() {
        let (_dir, mut progress, mut exercises) = with("solved ex77-pool\nhint ex78-latch 2\n");
        exercises[0].formerly = vec!["ex70-pool".into(), "ex77-pool".into()];
        assert!(progress.is_solved(&exercises[0]) && !progress.is_solved(&exercises[1]));
        exercises[1].formerly = vec!["ex78-latch".into()];
        assert_eq!(progress.hints(&exercises[1]), 2);
        progress.reset(&exercises[0]).unwrap();
        assert!(!progress.is_solved(&exercises[0]));
    }

    #[test]
    fn solving_twice_is_one_line_and_beginning_again_undoes_it() {
        let (_dir, mut progress, exercises) = with("");
        progress.solved(&exercises[0]).unwrap();
        progress.solved(&exercises[0]).unwrap();
        assert_eq!(fs::read_to_string(&progress.path).unwrap().matches("solved").count(), 1);
        progress.reset(&exercises[0]).unwrap();
        assert!(!progress.is_solved(&exercises[0]));
        progress.solved(&exercises[0]).unwrap();
        assert!(progress.is_solved(&exercises[0]));
    }
}
