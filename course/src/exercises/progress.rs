//! Records a learner's progress in `progress.txt` at the project's root.
//!
//! Each event is a line with a word and an exercise; the lines have the order of the events:
//!
//! ```text
//! failed ex01-worker-pool every_job_runs_once
//! hint ex01-worker-pool every_job_runs_once
//! hint ex01-worker-pool 1
//! solved ex01-worker-pool
//! stage ex22-bounded-acceptor 7
//! ```
//!
//! For an exercise with two stages, the last line records how many properties of the first stage held in a
//! check.
//!
//! If a task that is not a package, such as `mend1`, is solved, a line of the same form records this. The line
//! `mending ex22-bounded-acceptor mend1` says that the exercise's file contains the wrong answer of that task.
//! The line `way evening` says which way through the course the learner follows.
//!
//! Lines with a former name of the exercise also count; the key `formerly` in the exercise's `exercise.toml`
//! lists the former names. The commands only append lines. So no line is lost if two commands run at the same
//! time. Users can read and edit the file by hand, and lines that this version does not understand are kept.
//! Git ignores the progress file, and an update of the project does not change it.

use crate::exercises::stage::Stage;
use crate::workspace::Workspace;
use anyhow::Context;
use exercises_protocol::Exercise;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

const HEADER: &str = "# What you have done in the exercises, one thing a line. Written by `cargo course`.\n";

/// The contents of the progress file.
pub struct Progress {
    path: PathBuf,
    text: String,
}

impl Progress {
    /// Reads the progress file. A missing file counts as an empty file.
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

    /// Returns the lines about an exercise since its last reset, as pairs of a word and the rest of the
    /// line.
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

    /// Returns the property whose failure the last check has shown; returns `None` if the exercise was
    /// solved in that check.
    pub fn failed<'a>(&'a self, exercise: &'a Exercise) -> Option<&'a str> {
        let (word, property) =
            self.of(exercise).filter(|(word, _)| matches!(*word, "failed" | "solved")).last()?;
        (word == "failed").then_some(property)
    }

    /// Returns whether the hint of this property has been given.
    pub fn has_hinted(&self, exercise: &Exercise, property: &str) -> bool {
        self.of(exercise).any(|line| line == ("hint", property))
    }

    /// Returns how many of the exercise's own hints have been given; the hints of its properties do not
    /// count.
    pub fn hints(&self, exercise: &Exercise) -> usize {
        self.of(exercise)
            .filter(|(word, _)| *word == "hint")
            .filter_map(|(_, number)| number.parse().ok())
            .max()
            .unwrap_or(0)
    }

    /// Returns whether the learner has asked for the solution before finding it.
    pub fn has_asked(&self, exercise: &Exercise) -> bool {
        self.of(exercise).any(|(word, _)| word == "asked")
    }

    /// Returns whether there is a line with this word and this name.
    pub fn knows(&self, word: &str, name: &str) -> bool {
        self.text.lines().any(|line| line.split_whitespace().take(2).eq([word, name]))
    }

    /// Returns the task whose wrong answer is in the exercise's file; returns `None` if the exercise was
    /// reset later.
    pub fn mending<'a>(&'a self, exercise: &'a Exercise) -> Option<&'a str> {
        self.of(exercise).filter(|(word, _)| *word == "mending").last().map(|(_, task)| task)
    }

    /// Records that a wrong answer was put into the exercise's file, for the learner to mend.
    pub fn began_to_mend(&mut self, exercise: &Exercise, task: &str) -> anyhow::Result<()> {
        self.add(&format!("mending {} {task}", exercise.name))
    }

    /// Records that a task has been done.
    pub fn solve_task(&mut self, task: &str) -> anyhow::Result<()> {
        if self.knows("solved", task) { Ok(()) } else { self.add(&format!("solved {task}")) }
    }

    pub fn solved(&mut self, exercise: &Exercise) -> anyhow::Result<()> {
        if self.is_solved(exercise) && self.failed(exercise).is_none() {
            return Ok(());
        }
        self.add(&format!("solved {}", exercise.name))
    }

    /// Returns the way that the learner has asked for last.
    pub fn way(&self) -> Option<&str> {
        self.text.lines().rev().find_map(|line| line.strip_prefix("way ")).map(str::trim)
    }

    /// Records which way the learner follows from now on.
    pub fn chose(&mut self, way: &str) -> anyhow::Result<()> {
        if self.way() == Some(way) { Ok(()) } else { self.add(&format!("way {way}")) }
    }

    /// Records which failure was shown. If the same mistake is checked several times, only one line is
    /// added.
    pub fn has_failed(&mut self, exercise: &Exercise, property: &str) -> anyhow::Result<()> {
        if self.failed(exercise) == Some(property) {
            return Ok(());
        }
        self.add(&format!("failed {} {property}", exercise.name))
    }

    /// Records a hint, by its number or by the name of its property.
    pub fn gave_hint(&mut self, exercise: &Exercise, which: &str) -> anyhow::Result<()> {
        self.add(&format!("hint {} {which}", exercise.name))
    }

    /// Returns the state of the first stage according to the last check; returns `None` if the exercise has
    /// no stages.
    pub fn first_stage(&self, exercise: &Exercise) -> Option<Stage> {
        let begin = Stage::begin(exercise, 1)?;
        let last = self.of(exercise).filter(|(word, _)| *word == "stage").last();
        let holding = last.and_then(|(_, number)| number.parse().ok()).unwrap_or(begin.holding);
        Some(Stage { holding, ..begin })
    }

    /// Records what a check has found about the first stage.
    pub fn saw_first_stage(&mut self, exercise: &Exercise, seen: Stage) -> anyhow::Result<()> {
        if self.first_stage(exercise) == Some(seen) {
            return Ok(());
        }
        self.add(&format!("stage {} {}", exercise.name, seen.holding))
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
            added.push('\n'); // an editor has left the last line without a line end
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
        progress.gave_hint(&exercises[1], "2").unwrap();
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
    #[test]
    fn the_failure_that_was_shown_last_is_known_until_the_exercise_is_solved() {
        let (_dir, mut progress, exercises) = with("");
        let (first, second) = (&exercises[0], &exercises[1]);
        progress.has_failed(first, "it_flies").unwrap();
        progress.has_failed(first, "it_flies").unwrap();
        progress.has_failed(second, "it_lands").unwrap();
        assert_eq!((progress.failed(first), progress.failed(second)), (Some("it_flies"), Some("it_lands")));
        assert!(!progress.has_hinted(first, "it_flies"));
        progress.gave_hint(first, "it_flies").unwrap();
        assert!(progress.has_hinted(first, "it_flies") && !progress.has_hinted(second, "it_flies"));
        assert_eq!(progress.hints(first), 0, "it is none of the three");
        for _ in 0..2 {
            progress.solved(first).unwrap();
            assert_eq!(progress.failed(first), None);
        }
        progress.has_failed(first, "it_lands").unwrap();
        assert_eq!((progress.failed(first), progress.is_solved(first)), (Some("it_lands"), true));
        progress.reset(first).unwrap();
        assert_eq!(progress.failed(first), None);
        let name = &first.name;
        let lines = fs::read_to_string(&progress.path).unwrap();
        let lines: Vec<&str> = lines.lines().filter(|line| line.contains(name.as_str())).collect();
        let words: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(words, ["failed", "hint", "solved", "failed", "reset"]);
    }
}
