//! The job of one process of the proof.

use std::convert::Infallible;
use std::fmt;

use anyhow::Context;
use exercises_harness::{Answer, memory, model, next_job, real, report_and_exit};
use exercises_protocol::Mode;

/// Properties of an answer that one process must run one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job<'a> {
    /// The mode: under the model, or on real threads.
    pub mode: Mode,
    /// The name of the exercise.
    pub exercise: &'a str,
    /// The name of the answer.
    pub answer: &'a str,
    /// The names of the properties, separated by commas.
    pub properties: &'a str,
    /// The number of schedules under the model, or the number of runs on real threads. `None` means all
    /// schedules under the model, or as many runs on real threads as in a learner's test.
    pub runs: Option<usize>,
}

/// Writes the job as a line for a process that reads jobs from its standard input.
impl fmt::Display for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mode, exercise, answer, properties, runs } = self;
        write!(f, "{} {exercise} {answer} {properties}", mode.program())?;
        runs.map_or(Ok(()), |runs| write!(f, " {runs}"))
    }
}

impl<'a> Job<'a> {
    fn of_line(line: &'a str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let (runs, [mode, exercise, answer, properties]) = match *words {
            [mode, exercise, answer, properties] => (None, [mode, exercise, answer, properties]),
            [mode, exercise, answer, properties, runs] => {
                (Some(runs.parse().ok()?), [mode, exercise, answer, properties])
            }
            _ => return None,
        };
        Some(Self { mode: Mode::named(mode)?, exercise, answer, properties, runs })
    }

    /// Returns the job as the arguments of a process that runs only this job.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let names = [self.mode.program(), self.exercise, self.answer, self.properties].map(str::to_owned);
        let runs = self.runs.map(|runs| format!("--runs={runs}"));
        ["--run".to_owned()].into_iter().chain(names).chain(runs).collect()
    }

    /// Runs the job. The first property that fails ends the process with its report. Returns how many times
    /// each property was run.
    pub fn run(&self) -> anyhow::Result<usize> {
        let (run_here, all, answer) = self.find()?;
        let runs = self.runs.unwrap_or(all);
        for property in self.properties.split(',') {
            let (_, promise, check) = answer
                .properties
                .iter()
                .find(|(name, ..)| *name == property)
                .with_context(|| format!("{} has no property {property}", self.exercise))?;
            run_here(answer.source, promise, runs, *check);
        }
        Ok(runs)
    }

    /// Runs the job, and ends the process with the report.
    pub fn run_and_exit(&self) -> anyhow::Result<Infallible> {
        report_and_exit(&Ok(self.run()?))
    }

    /// Finds the answer, the function that checks the answer, and the number of all schedules or runs.
    fn find(&self) -> anyhow::Result<(RunHere, usize, &'static Answer)> {
        let places: &[(RunHere, usize, &'static [Answer])] = match self.mode {
            Mode::Model => &[
                (model::run_here, model::SCHEDULES, exercises_proof_model::ANSWERS),
                (model::run_here, model::SCHEDULES, exercises_proof_solutions::ANSWERS),
                (memory::run_here, usize::MAX, exercises_proof_memory::ANSWERS),
            ],
            Mode::Real => &[(real::run_here, real::RUNS, exercises_proof_real::ANSWERS)],
        };
        let is_meant = |found: &&Answer| (found.exercise, found.name) == (self.exercise, self.answer);
        places
            .iter()
            .find_map(|(run, all, answers)| Some((*run, *all, answers.iter().find(is_meant)?)))
            .with_context(|| format!("{} has no answer {}", self.exercise, self.answer))
    }
}

/// Checks one property of an answer's text in this process, and repeats the check the given number of times.
type RunHere = fn(&str, &str, usize, fn());

/// Runs one job after another, until there are no more jobs. A job that fails ends the process.
pub fn work() -> anyhow::Result<()> {
    let mut held = None;
    while let Some(line) = next_job(held) {
        let job = Job::of_line(&line).with_context(|| format!("no job: {line}"))?;
        held = Some(job.run()?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_the_same_when_it_arrives() {
        for runs in [None, Some(250)] {
            let job = Job { mode: Mode::Model, exercise: "ex01", answer: "stub", properties: "a,b", runs };
            assert_eq!(Job::of_line(&job.to_string()), Some(job));
        }
        assert_eq!(Job::of_line("real ex01 stub"), None);
    }
}
