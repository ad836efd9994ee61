//! A process that runs one job of the proof after another.
//!
//! A learner's test starts a process for each property ([`isolate`](crate::isolate)). The proof runs tens of
//! thousands of properties. Nearly all properties hold and leave nothing behind, so the process can go on
//! with the next property. A process that has reported a failure ends, like the process of a learner's test;
//! the next job gets a new process. In both kinds of processes, the same code runs the property.
//!
//! If the process ends without a report, the cause is either the job that was running, or something that an
//! earlier job left behind. So the running job is run again, in a new process. If the job holds in the new
//! process, the message names the earlier job.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use exercises_protocol::{Failure, Verdict};

use crate::isolate::Running;
use crate::report::{self, new_nonce};

/// The parent's side of a worker process.
pub struct Worker {
    command: Command,
    /// The process, and the last job that this process has done.
    running: Option<(Running, Option<String>)>,
}

impl Worker {
    /// Makes a worker without a process. When `program` is started with these arguments, it must ask for its
    /// work with [`next_job`].
    pub fn new(program: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments);
        Self { command, running: None }
    }

    /// Runs the job; the job is a line of text without the line end. Uses the process of the last job if that
    /// process is still there, and otherwise a new process.
    ///
    /// # Panics
    /// Panics if a process is needed and cannot be started.
    pub fn run(&mut self, job: &str, round: u64, deadline: Duration) -> Verdict {
        let before = self.running.as_ref().and_then(|(_, last)| last.clone());
        let mut attempt = || self.attempt(job, round, deadline);
        let missing = match (attempt(), before) {
            (Ok(verdict), _) => return verdict,
            (Err(missing), None) => missing,
            (Err(missing), Some(before)) => match attempt() {
                Ok(Ok(_)) => {
                    let cause = format!(
                        "alone, {job} holds: so what ran in this process before it has left something behind, {before}"
                    );
                    Box::new(Failure { cause, ..*missing })
                }
                Ok(verdict) => return verdict,
                Err(missing) => missing,
            },
        };
        Err(missing)
    }

    /// Runs the job once, in a process. Returns an error if the process ended, or was ended, without a
    /// report.
    fn attempt(&mut self, job: &str, round: u64, deadline: Duration) -> Result<Verdict, Box<Failure>> {
        let running = self.running.take();
        let (mut running, _) = running.unwrap_or_else(|| (Running::start(&mut self.command), None));
        let nonce = new_nonce();
        running.forget();
        running.tell(&format!("{nonce} {round} {job}\n"));
        let mut failed = false;
        let in_time = loop {
            match running.hear(deadline) {
                Ok(()) if failed => {} // the process is about to end
                Ok(()) => match running.report(&nonce) {
                    Some(Ok(runs)) => {
                        self.running = Some((running, Some(job.to_owned())));
                        return Ok(Ok(runs));
                    }
                    report => failed = report.is_some(),
                },
                Err(silence) => break silence == RecvTimeoutError::Disconnected,
            }
        };
        running.verdict(&nonce, job, in_time)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some((running, _)) = self.running.take() {
            running.dismiss();
        }
    }
}

/// Reports how many times the previous job has held, and waits for the next job. The worker process calls
/// this function. Returns `None` if there are no more jobs.
pub fn next_job(held: Option<usize>) -> Option<String> {
    if let Some(runs) = held {
        report::report(&Ok(runs)).ok()?;
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).ok()?;
    let mut words = line.trim_end().splitn(3, ' ');
    let (nonce, round, job) = (words.next()?, words.next()?, words.next()?);
    report::is_asked(nonce.to_owned(), round.parse().ok()?);
    Some(job.to_owned())
}
