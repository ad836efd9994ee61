//! Finds the answers in the folder of submissions: the student, the exercise and the file of each answer.
//!
//! Each entry of the folder belongs to one student: a folder with the student's name, or, if only one
//! exercise is judged, a file such as `alice.rs`. In a student's folder, an answer is a file `ex01.rs`,
//! `ex01-worker-pool.rs`, or the file that a learner edits, `ex01-worker-pool/src/exercise.rs`. The file
//! may be in any subfolder. So the folder may contain a student's whole copy of the course. The search
//! follows no links, and skips hidden files and build output.

use crate::workspace::was_built;
use anyhow::{Context, bail, ensure};
use exercises_protocol::Exercise;
use std::fs;
use std::path::{Path, PathBuf};

/// A student, and the answers that the student has sent.
pub(super) struct Student {
    pub(super) name: String,
    /// The answers, each with the name of the exercise.
    answers: Vec<(String, Answer)>,
}

/// An answer in the folder with the submissions.
pub(super) struct Answer {
    /// The path of the answer relative to the folder with the submissions, with `/` between the names.
    pub(super) file: String,
    pub(super) path: PathBuf,
}

/// Finds all students, sorted by name.
///
/// # Errors
/// Returns an error if the folder cannot be read or has no student. Also returns an error if the folder
/// contains a student's file, unless exactly one exercise was asked for.
pub(super) fn students(
    dir: &Path,
    all: &[Exercise],
    asked: Option<&[&Exercise]>,
) -> anyhow::Result<Vec<Student>> {
    let mut students = Vec::new();
    for (path, is_folder) in entries(dir)? {
        let name = |name: Option<&std::ffi::OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
        if is_folder {
            let mut answers = Vec::new();
            collect(dir, &path, all, &mut answers)?;
            students.push(Student { name: name(path.file_name()), answers });
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let Some([exercise]) = asked else {
                bail!(
                    "{} is a file, so it must be an answer to one exercise. Name it: \
                     cargo course check EXERCISE --submissions {}",
                    path.display(),
                    dir.display()
                )
            };
            let answer = Answer { file: below(dir, &path), path: path.clone() };
            students.push(Student {
                name: name(path.file_stem()),
                answers: vec![(exercise.name.clone(), answer)],
            });
        }
    }
    ensure!(!students.is_empty(), "there is no submission in {}", dir.display());
    Ok(students)
}

impl Student {
    /// Returns the student's answer to an exercise.
    ///
    /// # Errors
    /// Returns an error if there are several answers.
    pub(super) fn answer(&self, exercise: &Exercise) -> anyhow::Result<Option<&Answer>> {
        let of_it: Vec<&Answer> = self.all(exercise).collect();
        let files: Vec<&str> = of_it.iter().map(|answer| answer.file.as_str()).collect();
        ensure!(of_it.len() < 2, "there are several answers: {}", files.join(", "));
        Ok(of_it.first().copied())
    }

    /// Returns whether the student has changed the stub.
    pub(super) fn has_begun(&self, exercise: &Exercise) -> bool {
        self.all(exercise).any(|answer| !is_stub(&answer.path, exercise))
    }

    fn all(&self, exercise: &Exercise) -> impl Iterator<Item = &Answer> {
        self.answers.iter().filter(|(name, _)| *name == exercise.name).map(|(_, answer)| answer)
    }
}

/// Returns whether a file is the stub of an exercise; line ends do not matter.
pub(super) fn is_stub(path: &Path, exercise: &Exercise) -> bool {
    let text = |path: &Path| fs::read_to_string(path).map(|text| text.replace('\r', ""));
    matches!((text(path), text(&exercise.stub())), (Ok(answer), Ok(stub)) if answer == stub)
}

/// Adds the answers below a student's folder.
fn collect(
    dir: &Path,
    folder: &Path,
    all: &[Exercise],
    answers: &mut Vec<(String, Answer)>,
) -> anyhow::Result<()> {
    for (path, is_folder) in entries(folder)? {
        if is_folder {
            collect(dir, &path, all, answers)?;
        } else if let Some(exercise) = all.iter().find(|exercise| answers_it(&path, exercise)) {
            answers.push((exercise.name.clone(), Answer { file: below(dir, &path), path }));
        }
    }
    Ok(())
}

/// Returns whether a file is an answer to an exercise, judged by its name and the names of its folders.
fn answers_it(path: &Path, exercise: &Exercise) -> bool {
    let is_named = |name: &str| name == exercise.name || name == exercise.short();
    let mut names = path.iter().rev().map(|name| name.to_string_lossy());
    let mut next = || names.next().unwrap_or_default();
    let file = next();
    if file != "exercise.rs" {
        return file.strip_suffix(".rs").is_some_and(is_named);
    }
    let folder = next();
    is_named(&folder) || folder == "src" && is_named(&next())
}

/// Returns the entries of a folder, sorted by name; for each entry, also returns whether it is a folder.
fn entries(folder: &Path) -> anyhow::Result<Vec<(PathBuf, bool)>> {
    let mut found = Vec::new();
    let cannot = || format!("cannot read {}", folder.display());
    for entry in fs::read_dir(folder).with_context(cannot)? {
        let entry = entry.with_context(cannot)?;
        let (path, kind) = (entry.path(), entry.file_type().with_context(cannot)?);
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && !was_built(&path) && (kind.is_dir() || kind.is_file()) {
            found.push((path, kind.is_dir()));
        }
    }
    found.sort();
    Ok(found)
}

fn below(dir: &Path, path: &Path) -> String {
    path.strip_prefix(dir).unwrap_or(path).display().to_string().replace('\\', "/")
}
