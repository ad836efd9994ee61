#![doc = include_str!("../README.md")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use exercises_harness::model::SCHEDULES;
use exercises_harness::{Worker, isolate};
use exercises_protocol::{Exercise, Failure, Mode, Model, ROUND, SOON, Verdict, Wrong};

mod complete;
pub mod edits;
mod graphs;
mod job;
pub mod ledger;
mod predicted;
mod through_cargo;

pub use complete::{built, exercises, pristine, table, write_list, write_table};
pub use graphs::{graph_mistakes, write_graphs};
pub use job::{Job, work};
pub use predicted::predicted;
pub use through_cargo::through_cargo;

/// The number of schedules on which right answers other than the solution are run in each round after the
/// first.
const AGAIN: usize = 250;

/// The number of schedules that must be enough to catch a wrong answer: half of the schedules of a learner's
/// test. The limit shows whether a wrong answer nearly passes. A run on other schedules does not show this.
/// If an answer is caught only by a later schedule, its property must be changed so that it leads to the
/// mistake with fewer threads or steps.
const IN_TIME: usize = SCHEDULES / 2;

/// The rounds for which an exercise is proven before it is merged: see [`ledger`].
pub const ROUNDS: u64 = 20;

/// The time limit for one property of one answer. The harness' own deadlines are shorter.
const DEADLINE: Duration = Duration::from_secs(25);

/// The exit code of a child that has nothing to run. The exit code for a property that fails is 1.
pub const NO_VERDICT: u8 = 2;

/// The argument with which a process runs one job after another.
pub const WORK: &str = "--work";

/// The result of the proof of an exercise.
#[derive(Default)]
pub struct Proof {
    /// The answer and the property of each rejection in the first round.
    pub caught: BTreeSet<(String, String)>,
    /// For each wrong answer, by name: the property and the message that a learner with this answer sees
    /// first, in the first round.
    pub shown: BTreeMap<String, String>,
    /// The mistakes that were found.
    pub mistakes: Vec<String>,
}

/// A check in one round of the proof: what is run, and what the outcome must be.
struct Trial<'a> {
    round: u64,
    answer: &'a str,
    of: Of<'a>,
}

enum Of<'a> {
    /// A single property in one mode.
    Property(Mode, &'a str),
    /// All properties of a right answer in one mode.
    Right(Mode),
    /// The failure that a learner with this wrong answer is shown first.
    Shown(&'a Wrong),
}

impl Proof {
    /// Runs the given number of rounds. In each round, the right answers must keep every property. The
    /// solution must keep every property on all schedules; after the first round, the other right answers
    /// must keep every property only on the first schedules. Each wrong answer must be rejected by its
    /// property, and the message that a learner is shown first must have the expected words. In the first
    /// round, the stub must report what is still to do, and each wrong answer must be caught on one of the
    /// first [`IN_TIME`] schedules. If the number of rounds is `None`, only the first round is run, with
    /// every property of every answer, for the table. `exe` is the program that runs one job if it is called
    /// with `--run`.
    pub fn of(exercise: &Exercise, exe: &Path, rounds: Option<u64>) -> anyhow::Result<Self> {
        let mut proof = Self { mistakes: complete::incomplete(exercise)?, ..Self::default() };
        let trials = Mutex::new(plan(exercise, rounds).into_iter());
        let done = Mutex::new(&mut proof);
        let next = || trials.lock().expect("no thread panics with it").next();
        let work = || {
            let mut bench = Bench { exercise, exe, worker: Worker::new(exe, &[WORK]) };
            while let Some(trial) = next() {
                let outcome = bench.try_out(&trial);
                let mut proof = done.lock().expect("no thread panics with it");
                match outcome {
                    Ok(seen) if trial.round == 0 => {
                        let answer = || trial.answer.to_owned();
                        proof.caught.extend(seen.caught_by.map(|property| (answer(), property)));
                        proof.shown.extend(seen.shown.map(|text| (answer(), text)));
                    }
                    Ok(_) => {}
                    Err(mistake) => proof.mistakes.push(format!(
                        "{} {}, {}round {}: {mistake:#}",
                        exercise.name,
                        trial.answer,
                        match trial.of {
                            Of::Property(mode, property) => format!("{property}, {}, ", mode.place()),
                            Of::Right(mode) => format!("{}, ", mode.place()),
                            Of::Shown(_) => String::new(),
                        },
                        trial.round
                    )),
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(work);
            }
        });
        proof.mistakes.extend(stages_that_are_one(exercise, exe));
        for property in &exercise.properties {
            let catches = |(answer, caught): &(String, String)| answer != "stub" && *caught == property.name;
            if !proof.caught.iter().any(catches) {
                proof.mistakes.push(format!("{}: {} catches no wrong answer", exercise.name, property.name));
            }
        }
        Ok(proof)
    }
}

/// Returns a mistake if the two stages of an exercise cannot be separated. The stages are separate if some
/// wrong answer keeps all properties of the first stage and breaks a property of the second stage. If no
/// wrong answer does this, the first stage cannot be done alone.
pub fn stages_that_are_one(exercise: &Exercise, exe: &Path) -> Option<String> {
    exercise.second_stage.as_ref()?;
    let of_stage = |stage| exercise.properties.iter().filter(move |property| property.stage == stage);
    let first: Vec<&str> = of_stage(1).map(|property| property.name.as_str()).collect();
    let is_later = |wrong: &&Wrong| of_stage(2).any(|property| property.name == wrong.property);
    let mut bench = Bench { exercise, exe, worker: Worker::new(exe, &[WORK]) };
    let keeps_the_first = exercise.wrong.iter().filter(is_later).any(|wrong| {
        let trial = Trial { round: 0, answer: &wrong.name, of: Of::Right(Mode::Model) };
        bench.run(&trial, Mode::Model, &first, None).is_ok()
    });
    let what = "no answer keeps all properties of the first stage and breaks one of the second";
    (!keeps_the_first).then(|| format!("{}: {what}", exercise.name))
}

fn plan(exercise: &Exercise, rounds: Option<u64>) -> Vec<Trial<'_>> {
    let mut plan = Vec::new();
    let for_the_table = rounds.is_none();
    let rounds = match exercise.model {
        Model::Threads => rounds.unwrap_or(1),
        Model::Single | Model::Memory => 1, // each has all schedules
    };
    for round in 0..rounds {
        for property in &exercise.properties {
            let name = property.name.as_str();
            for mode in Mode::ALL {
                let of = |answer| Trial { round, answer, of: Of::Property(mode, name) };
                if round == 0 {
                    plan.extend(["stub", "solution"].map(of));
                    plan.extend(exercise.right.iter().map(|right| of(right)));
                }
            }
            let made_for_none = exercise.wrong.iter().all(|wrong| wrong.property != name);
            if round == 0 && (for_the_table || made_for_none) {
                let others = exercise.wrong.iter().filter(|wrong| wrong.property != name);
                let of = |wrong| Trial { round, answer: wrong, of: Of::Property(Mode::Model, name) };
                plan.extend(others.map(|wrong| of(wrong.name.as_str())));
            }
        }
        if round > 0 {
            let of = |answer, mode| Trial { round, answer, of: Of::Right(mode) };
            plan.extend(Mode::ALL.map(|mode| of("solution", mode)));
            plan.extend(exercise.right.iter().map(|right| of(right, Mode::Model)));
        }
        plan.extend(exercise.wrong.iter().map(|wrong| Trial {
            round,
            answer: &wrong.name,
            of: Of::Shown(wrong),
        }));
    }
    plan
}

/// What was found out about an answer that has passed the check.
#[derive(Default)]
struct Seen {
    /// The property that has caught the answer.
    caught_by: Option<String>,
    /// The text that a learner is shown first.
    shown: Option<String>,
}

/// The worker process that tries answers, and the exercise of these answers.
struct Bench<'a> {
    exercise: &'a Exercise,
    exe: &'a Path,
    worker: Worker,
}

impl Bench<'_> {
    /// Runs the properties one after another in a process; in the first round this is a new process, as in a
    /// learner's test.
    fn run(&mut self, trial: &Trial<'_>, mode: Mode, properties: &[&str], runs: Option<usize>) -> Verdict {
        if self.exercise.judges.is_some() && properties.len() > 1 {
            // If the test rejects the answer as it must, the test's process ends and the property holds.
            return properties.iter().map(|property| self.run(trial, mode, &[property], runs)).sum();
        }
        let properties = properties.join(",");
        let job =
            Job { mode, exercise: &self.exercise.name, answer: trial.answer, properties: &properties, runs };
        if trial.round == 0 || self.exercise.judges.is_some() {
            let mut command = Command::new(self.exe);
            command.args(job.arguments()).env(ROUND, trial.round.to_string());
            isolate::in_child(command, &properties, DEADLINE)
        } else {
            self.worker.run(&job.to_string(), trial.round, DEADLINE)
        }
    }

    /// Makes a check, and returns a failed check as an error.
    fn try_out(&mut self, trial: &Trial<'_>) -> anyhow::Result<Seen> {
        let (mode, property) = match trial.of {
            Of::Property(mode, property) => (mode, property),
            Of::Right(mode) => return self.try_right(trial, mode).map(|()| Seen::default()),
            Of::Shown(wrong) => return self.try_shown(trial, wrong),
        };
        let failure = self.run(trial, mode, &[property], None).err();
        let is_right =
            |answer| answer == "solution" || self.exercise.right.iter().any(|right| right == answer);
        match (trial.answer, &failure) {
            ("stub", None) => bail!("passes"),
            ("stub", Some(failure)) => expect_words(failure, "still to do")?,
            (answer, Some(failure)) if is_right(answer) => bail!("is rejected: {}", whole(failure)),
            _ => {}
        }
        let caught_by = failure.filter(|failure| !failure.aside).map(|_| property.to_owned());
        Ok(Seen { caught_by, shown: None })
    }

    fn try_right(&mut self, trial: &Trial<'_>, mode: Mode) -> anyhow::Result<()> {
        let names: Vec<&str> =
            self.exercise.properties.iter().map(|property| property.name.as_str()).collect();
        let schedules = (trial.answer != "solution").then_some(AGAIN);
        match self.run(trial, mode, &names, schedules) {
            Ok(_) => Ok(()),
            Err(failure) => bail!("is rejected: {} – {}", failure.promise, whole(&failure)),
        }
    }

    fn try_shown(&mut self, trial: &Trial<'_>, wrong: &Wrong) -> anyhow::Result<Seen> {
        let (property, shown) = self.shown(trial).context("passes")?;
        let text = format!("{property}: {}", whole(&shown));
        expect_words(&shown, &wrong.message).with_context(|| format!("{property} is shown first"))?;
        let mut caught = shown;
        if property != wrong.property {
            let failure = self.run(trial, Mode::Model, &[&wrong.property], None).err();
            caught = *failure.with_context(|| format!("is not caught by {}", wrong.property))?;
            ensure!(!caught.aside, "{} fails aside: {}", wrong.property, whole(&caught));
        }
        let in_time = self.exercise.model != Model::Threads || caught.found <= IN_TIME;
        ensure!(trial.round > 0 || in_time, "is caught late, on schedule {}: see IN_TIME", caught.found);
        Ok(Seen { caught_by: Some(wrong.property.clone()), shown: Some(text) })
    }

    /// Returns the failure that a learner is shown first, and its property: the failure with the least
    /// [`Place`](exercises_protocol::Place). To find this failure, the properties are tried in the order of
    /// their ranks, first on a few schedules and then on all.
    fn shown(&mut self, trial: &Trial<'_>) -> Option<(String, Failure)> {
        let properties = self.exercise.by_rank();
        let mut aside = None;
        for schedules in [Some(SOON), None] {
            let mut rest = properties.as_slice();
            while !rest.is_empty() {
                let names: Vec<&str> = rest.iter().map(|property| property.name.as_str()).collect();
                let Err(failure) = self.run(trial, Mode::Model, &names, schedules) else { break };
                // No two properties have the same promise: `complete` has checked that.
                let place = rest.iter().position(|property| property.promise == failure.promise).unwrap_or(0);
                let shown = (rest[place].name.clone(), *failure);
                if !shown.1.aside {
                    return Some(shown);
                }
                aside.get_or_insert(shown);
                rest = &rest[place + 1..];
            }
        }
        aside
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

/// Returns a table that shows, for each mistake, which property catches it and which message a learner with
/// this mistake is shown first.
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
        ["solution", "stub"].into_iter().chain(exercise.wrong.iter().map(|wrong| wrong.name.as_str()));
    for answer in answers {
        let _ = write!(text, "  {answer:40}");
        for property in &exercise.properties {
            let caught = proof.caught.contains(&(answer.to_owned(), property.name.clone()));
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
    text.push_str("\n  X caught by the property that must catch it, x also caught, ! not caught\n\n");
    for (answer, shown) in &proof.shown {
        let _ = writeln!(text, "  {answer}: {}", shown.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    text
}

/// Returns the folder of the exercises.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
