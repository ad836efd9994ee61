#![doc = include_str!("../README.md")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use exercises_harness::isolate;
use exercises_protocol::{Exercise, Failure, Mode, ROUND, Verdict};

mod complete;
mod through_cargo;

pub use complete::{exercises, pristine, table, write_table};
pub use through_cargo::through_cargo;

/// How long one property of one answer may take. The harness' own deadlines are shorter.
const DEADLINE: Duration = Duration::from_secs(25);

/// In the child: runs one property of one answer. Returns only if there is no such thing.
pub fn run_property(mode: Mode, exercise: &str, answer: &str, property: &str) -> anyhow::Result<()> {
    let (some, others) = match mode {
        Mode::Model => (exercises_proof_model::ANSWERS, exercises_proof_solutions::ANSWERS),
        Mode::Real => (exercises_proof_real::ANSWERS, [].as_slice()),
    };
    for (of, name, run) in some.iter().chain(others) {
        if (*of, *name) == (exercise, answer) {
            run(property);
        }
    }
    bail!("{exercise} has no answer {answer} with a property {property}")
}

/// One run of one property of one answer.
struct Run<'a> {
    mode: Mode,
    answer: &'a str,
    property: &'a str,
    round: u64,
    verdict: Verdict,
}

/// What came out of an exercise.
#[derive(Default)]
pub struct Proof {
    /// Answer and property, for each that was rejected in the first round.
    pub caught: Vec<(String, String)>,
    /// What is not as it should be.
    pub mistakes: Vec<String>,
}

impl Proof {
    /// Runs `rounds` rounds. In the first, every property of every answer; after that the solution's, and of each wrong
    /// answer the one that is to catch it. `exe` is the program whose `--run` runs one.
    pub fn of(exercise: &Exercise, exe: &Path, rounds: u64) -> anyhow::Result<Self> {
        let mut proof = Self { mistakes: complete::incomplete(exercise)?, ..Self::default() };
        for run in run_all(exercise, exe, plan(exercise, rounds)) {
            if run.round == 0 && run.mode == Mode::Model && run.verdict.is_err() {
                proof.caught.push((run.answer.into(), run.property.into()));
            }
            if let Err(mistake) = judge(exercise, &run) {
                let Run { mode, answer, property, round, .. } = &run;
                let mode = mode.program();
                proof.mistakes.push(format!(
                    "{} {answer}, {property} ({mode}, round {round}): {mistake}",
                    exercise.name
                ));
            }
        }
        for property in &exercise.properties {
            let catches = |(answer, caught): &(String, String)| answer != "stub" && *caught == property.name;
            if !proof.caught.iter().any(catches) {
                proof.mistakes.push(format!("{}: {} catches no wrong answer", exercise.name, property.name));
            }
        }
        Ok(proof)
    }
}

fn plan(exercise: &Exercise, rounds: u64) -> Vec<(Mode, &str, &str, u64)> {
    let mut plan = Vec::new();
    for round in 0..rounds {
        for property in exercise.properties.iter().map(|property| property.name.as_str()) {
            for mode in Mode::ALL {
                plan.push((mode, "solution", property, round));
                if round == 0 {
                    plan.push((mode, "stub", property, round)); // it says what is to do, whatever the schedule
                }
            }
            for wrong in &exercise.wrong {
                if round == 0 || wrong.property == property {
                    plan.push((Mode::Model, wrong.file.as_str(), property, round));
                }
            }
        }
    }
    plan
}

fn run_all<'a>(exercise: &Exercise, exe: &Path, plan: Vec<(Mode, &'a str, &'a str, u64)>) -> Vec<Run<'a>> {
    let plan = Mutex::new(plan.into_iter());
    let runs = Mutex::new(Vec::new());
    let next = || plan.lock().expect("nobody panics with it").next();
    let work = || {
        while let Some((mode, answer, property, round)) = next() {
            let mut command = Command::new(exe);
            command.args(["--run", mode.program(), &exercise.name, answer, property]);
            command.env(ROUND, round.to_string());
            let verdict = isolate::in_child(command, property, DEADLINE);
            runs.lock().expect("nobody panics with it").push(Run { mode, answer, property, round, verdict });
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    runs.into_inner().expect("nobody panics with it")
}

/// Whether a verdict is the right one.
fn judge(exercise: &Exercise, run: &Run<'_>) -> anyhow::Result<()> {
    let failure = run.verdict.as_ref().err();
    match run.answer {
        "solution" => failure.map_or(Ok(()), |failure| Err(anyhow!("is rejected: {}", whole(failure)))),
        "stub" => {
            let failure = failure.context("passes")?;
            expect_words(failure, "still to do")
        }
        answer => {
            let wrong = exercise.wrong(answer)?;
            if wrong.property != run.property {
                return Ok(()); // others may catch it, too
            }
            let failure = failure.context("passes")?;
            expect_words(failure, &wrong.message)
        }
    }
}

fn expect_words(failure: &Failure, words: &str) -> anyhow::Result<()> {
    if failure.hung {
        bail!("is rejected by the deadline only: {}", whole(failure));
    }
    if !whole(failure).contains(words) {
        bail!("is rejected, but the message does not say {words:?}: {}", whole(failure));
    }
    Ok(())
}

fn whole(failure: &Failure) -> String {
    format!("{} – {}", failure.seen, failure.cause)
}

/// Which property catches which mistake, as a table.
pub fn matrix(exercise: &Exercise, proof: &Proof) -> String {
    let mut text = format!("{}\n", exercise.name);
    for (n, property) in exercise.properties.iter().enumerate() {
        let _ = writeln!(text, "  {:2}  {}", n + 1, property.name);
    }
    let _ = write!(text, "\n  {:40}", "");
    for n in 1..=exercise.properties.len() {
        let _ = write!(text, "{n:4}");
    }
    text.push('\n');
    let answers =
        ["solution", "stub"].into_iter().chain(exercise.wrong.iter().map(|wrong| wrong.file.as_str()));
    for answer in answers {
        let _ = write!(text, "  {answer:40}");
        for property in &exercise.properties {
            let caught = proof.caught.iter().any(|(a, p)| (a.as_str(), p) == (answer, &property.name));
            let expected = exercise.wrong(answer).is_ok_and(|wrong| wrong.property == property.name);
            text.push_str(match (caught, expected) {
                (true, true) => "   X",
                (true, false) => "   x",
                (false, true) => "   !",
                (false, false) => "   ·",
            });
        }
        text.push('\n');
    }
    text.push_str("\n  X caught by the property that is to catch it, x also caught, ! not caught\n");
    text
}

/// The folder of the exercises.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
