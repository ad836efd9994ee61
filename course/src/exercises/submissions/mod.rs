//! `check --submissions DIR`: judges the answers of many students.
//!
//! The module [`found`] finds the student, the exercise and the file of each answer. Each answer is put into
//! a copy of the project; the copy contains no solution that the answer could include. A separate process
//! judges the answer; when its time is over, the module [`apart`] ends that process and every process that it
//! has started. So an answer cannot change the teacher's own answers, progress and tests, and cannot prevent
//! the next answer from being judged.
//!
//! A separate process is not a sandbox. An answer is a program, and runs with the rights of the
//! teacher who starts the check.

mod apart;
mod found;

use crate::cli::WrongUsage;
use crate::copy::Copy;
use crate::exercises::{catalogue, say, say_json};
use crate::workspace::Workspace;
use anyhow::{Context, ensure};
use exercises_protocol::{Exercise, counted};
use found::{Answer, Student};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The result for an answer, or the reason why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Solved,
    Failed,
    DoesNotCompile,
    /// The student has sent no answer to this exercise.
    Missing,
    /// The answer is the unchanged stub.
    NotBegun,
    /// Judging the answer took longer than the time for one answer.
    OutOfTime,
    /// The machine, Cargo or the files of the submission prevented a verdict. This verdict does not say
    /// whether the answer is right.
    CouldNotCheck,
}

/// The JSON report on all submissions.
#[derive(Serialize)]
struct Report<'a> {
    /// The version number of this format. The version increases when a field is removed or gets another
    /// meaning.
    format: u32,
    /// The version of this program.
    version: &'static str,
    /// The number of seconds that an answer may take, including the build.
    time_limit: u64,
    submissions: Vec<Submission<'a>>,
}

#[derive(Serialize)]
struct Submission<'a> {
    student: &'a str,
    /// The number of properties that hold, in all exercises together.
    passed: usize,
    of: usize,
    exercises: Vec<Judged>,
}

/// The result of judging one answer.
#[derive(Serialize)]
struct Judged {
    name: String,
    /// The path of the answer's file, relative to the folder with the submissions.
    file: Option<String>,
    verdict: Verdict,
    /// How many properties hold.
    passed: usize,
    /// The number of properties of the exercise.
    of: usize,
    properties: Vec<Point>,
    milliseconds: u128,
    /// The messages of the compiler, if the answer does not compile.
    compiler: String,
    /// Why there is no verdict.
    reason: String,
    /// The content of this field is the same as in the report on a single exercise.
    notes: Value,
    sha256: Value,
}

/// A property of the exercise, and whether it holds.
#[derive(Serialize)]
struct Point {
    name: String,
    /// The stage of the exercise: 2 if the property belongs to the second stage.
    stage: u8,
    passed: bool,
    /// What the test observed when the property failed. The text is empty if the property holds, or was not
    /// checked.
    seen: String,
}

/// Judges the answers in the folder `dir` to the exercises with these names. If no names are given, judges
/// all exercises for which at least one student has sent an answer.
///
/// # Errors
/// Returns an error if a name is wrong, or if the folder cannot be read. Also returns an error if an
/// answer could not be judged for a reason that is not the student's fault.
pub fn judge(
    workspace: &Workspace,
    dir: &Path,
    names: &[String],
    every: bool,
    json: bool,
    time_limit: Duration,
) -> anyhow::Result<bool> {
    let all = catalogue::all(workspace)?;
    let asked: Option<Vec<&Exercise>> = match (every, names) {
        (true, _) => Some(all.iter().collect()),
        (false, []) => None,
        (false, names) => {
            Some(names.iter().map(|name| catalogue::named(&all, name)).collect::<anyhow::Result<_>>()?)
        }
    };
    let students = found::students(dir, &all, asked.as_deref())
        .map_err(|error| anyhow::Error::from(WrongUsage::of(error)))?;
    let begun = |exercise: &&Exercise| students.iter().any(|student| student.has_begun(exercise));
    let mut chosen = asked.unwrap_or_else(|| all.iter().filter(begun).collect());
    // The copy must not contain the solution of the exercise that is being judged. So the exercises that need
    // the solution of another exercise are judged first.
    chosen.sort_by_key(|exercise| exercise.judges.is_none());
    let mut submissions: Vec<Submission<'_>> = students.iter().map(Submission::of).collect();
    let scratch = Copy::of(workspace, "submissions")?;
    for exercise in chosen {
        without_answers(scratch.workspace(), &all, exercise)?;
        for (student, submission) in students.iter().zip(&mut submissions) {
            let judged = of_student(workspace, scratch.workspace(), student, exercise, time_limit);
            eprintln!("{}: {}", student.name, judged.line());
            submission.add(judged);
        }
    }
    finish(submissions, json, time_limit)
}

/// Prints the report on the submissions. Returns whether every answer in the report is right.
fn finish(submissions: Vec<Submission<'_>>, json: bool, time_limit: Duration) -> anyhow::Result<bool> {
    let verdicts: Vec<Verdict> = submissions
        .iter()
        .flat_map(|submission| &submission.exercises)
        .map(|judged| judged.verdict)
        .collect();
    if json {
        let (version, time_limit) = (env!("CARGO_PKG_VERSION"), time_limit.as_secs());
        say_json(&Report { format: 1, version, time_limit, submissions })?;
    } else {
        let mut text = String::new();
        for Submission { student, passed, of, exercises } in &submissions {
            let _ = writeln!(text, "{student}: {passed} of {of}");
            for judged in exercises {
                let _ = writeln!(text, "  {}", judged.line());
            }
        }
        say(&text);
    }
    let unchecked = verdicts.iter().filter(|verdict| **verdict == Verdict::CouldNotCheck).count();
    ensure!(unchecked == 0, "could not be checked: {unchecked} of {}", counted(verdicts.len(), "answer"));
    Ok(verdicts.iter().all(|verdict| *verdict == Verdict::Solved))
}

/// Removes from the copy all files that an answer to `exercise` could include instead of solving the
/// exercise.
fn without_answers(scratch: &Workspace, all: &[Exercise], exercise: &Exercise) -> anyhow::Result<()> {
    for other in all.iter().filter(|other| exercise.judges.as_ref() != Some(&other.name)) {
        for part in ["solution", "right", "wrong", "wrong.diff"] {
            let path = scratch.exercises().join(&other.name).join(part);
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            if let Err(error) = removed
                && path.exists()
            {
                return Err(error).with_context(|| format!("cannot remove {}", path.display()));
            }
        }
    }
    Ok(())
}

/// Judges one answer, or returns the reason why there is nothing to judge.
fn of_student(
    workspace: &Workspace,
    scratch: &Workspace,
    student: &Student,
    exercise: &Exercise,
    time_limit: Duration,
) -> Judged {
    let mut judged = Judged::nothing(exercise);
    let Answer { file, path } = match student.answer(exercise) {
        Ok(None) => return judged,
        Ok(Some(answer)) => answer,
        Err(error) => return judged.could_not(&error),
    };
    judged.file = Some(file.clone());
    if found::is_stub(path, exercise) {
        judged.verdict = Verdict::NotBegun;
        return judged;
    }
    let started = Instant::now();
    let answer = scratch.exercises().join(&exercise.name).join("src/exercise.rs");
    // The copied file does not keep its time, because Cargo would consider an old file as already built.
    let written = fs::read(path).and_then(|text| fs::write(&answer, text));
    let told = written
        .with_context(|| format!("cannot put {} into the copy", path.display()))
        .and_then(|()| apart::check(workspace, scratch, exercise, time_limit));
    match told {
        Ok(Some(report)) => judged.read(&report),
        Ok(None) => {
            judged.verdict = Verdict::OutOfTime;
            judged.reason = format!("not judged within {} seconds; it was ended", time_limit.as_secs());
        }
        Err(error) => judged = judged.could_not(&error),
    }
    judged.milliseconds = started.elapsed().as_millis();
    judged
}

impl<'a> Submission<'a> {
    fn of(student: &'a Student) -> Self {
        Self { student: &student.name, passed: 0, of: 0, exercises: Vec::new() }
    }

    fn add(&mut self, judged: Judged) {
        self.passed += judged.passed;
        self.of += judged.of;
        self.exercises.push(judged);
    }
}

impl Judged {
    fn nothing(exercise: &Exercise) -> Self {
        let point = |property: &exercises_protocol::Property| Point {
            name: property.name.clone(),
            stage: property.stage,
            passed: false,
            seen: String::new(),
        };
        Self {
            name: exercise.name.clone(),
            file: None,
            verdict: Verdict::Missing,
            passed: 0,
            of: exercise.properties.len(),
            properties: exercise.properties.iter().map(point).collect(),
            milliseconds: 0,
            compiler: String::new(),
            reason: String::new(),
            notes: Value::Array(Vec::new()),
            sha256: Value::Null,
        }
    }

    fn could_not(mut self, why: &anyhow::Error) -> Self {
        self.verdict = Verdict::CouldNotCheck;
        self.reason = format!("{why:#}");
        self
    }

    /// Takes the values from the report that `check --json` has made on this exercise.
    fn read(&mut self, report: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.verdict = match report["verdict"].as_str() {
            Some("solved") => Verdict::Solved,
            Some("failed") => Verdict::Failed,
            Some("does_not_compile") => Verdict::DoesNotCompile,
            _ => Verdict::CouldNotCheck,
        };
        (self.compiler, self.reason) = (text(&report["compiler"]), text(&report["reason"]));
        self.sha256 = report["sha256"].clone();
        if !report["notes"].is_null() {
            self.notes = report["notes"].clone();
        }
        for point in &mut self.properties {
            let of_it = |property: &&Value| property["name"] == point.name.as_str();
            let Some(property) = report["properties"].as_array().and_then(|all| all.iter().find(of_it))
            else {
                continue;
            };
            let modes = [&property["model"], &property["real"]];
            point.passed = modes[0]["verdict"] == "held" && modes[1]["verdict"] != "failed";
            let failed = modes.into_iter().find(|mode| mode["verdict"] == "failed");
            point.seen = failed.map(|mode| text(&mode["seen"])).unwrap_or_default();
        }
        self.passed = self.properties.iter().filter(|point| point.passed).count();
    }

    /// Returns the result as one line.
    fn line(&self) -> String {
        let Self { name, passed, of, .. } = self;
        let verdict = match self.verdict {
            Verdict::Solved => "solved",
            Verdict::Failed => "failed",
            Verdict::DoesNotCompile => "does not compile",
            Verdict::Missing => "missing",
            Verdict::NotBegun => "not begun",
            Verdict::OutOfTime => "out of time",
            Verdict::CouldNotCheck => return format!("{name}: could not be checked: {}", self.reason.trim()),
        };
        format!("{name}: {passed} of {of}, {verdict}")
    }
}
