//! Starts a command of the book under its [guard](super::guard), and reads what it prints.

use super::run::Run;
use crate::book::shell::{SHOWN, address};
use anyhow::Context;
use executor::{ExecutorExt, JoinError, Promise, TaskHandle, ThreadPoolExecutor};
use std::io::Read;
use std::mem;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{self, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A line that is too long is shown as several lines.
const LONGEST_LINE: usize = 64 << 10;

/// What is needed to start commands and to read their output.
pub(super) struct Starter {
    /// This program, which is also the guard. The path is determined when the course starts: it names the
    /// program even if the learner rebuilds the program later.
    pub(super) guard: PathBuf,
    /// The time limit for a command.
    pub(super) patience: Duration,
    /// The pool of the live course. This pool is not the pool that serves the book: a command keeps its
    /// threads for as long as the command runs, and the reader watches how many threads are busy with
    /// requests.
    pub(super) pool: ThreadPoolExecutor,
}

/// The part of a run to which a command's output belongs.
pub(super) enum Output {
    /// A build: only its standard error is shown, as progress.
    Progress,
    Part(usize),
    /// A server. The promise gets the server's address when the server reports it.
    Server(usize, Promise<String>),
}

/// A command that runs under its guard. Dropping this value kills the command, and waits until the command
/// has ended.
pub(super) struct Child {
    guard: process::Child,
    run: Arc<Run>,
    readers: Vec<TaskHandle<()>>,
    until: Instant,
}

impl Starter {
    /// Starts a shell command as a part of a run. The function `settle` sets the directory and the
    /// environment of the command. `typing` says whether the command's standard input stays open, as at a
    /// terminal.
    ///
    /// # Errors
    /// Returns an error if the guard cannot be started.
    pub(super) fn start(
        &self,
        run: &Arc<Run>,
        command: &str,
        typing: bool,
        settle: impl FnOnce(&mut Command),
        to: Output,
    ) -> anyhow::Result<Child> {
        let mut started = Command::new(&self.guard);
        settle(&mut started);
        started.arg("guard").args(typing.then_some("--typing")).args(["--", command]);
        // If the user presses Ctrl-C at the terminal of the course, only the course gets the signal; the
        // course then ends the commands.
        started.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut guard = started.spawn().with_context(|| format!("cannot start {}", self.guard.display()))?;
        let missing = "a pipe that was asked for";
        run.guard(guard.id(), guard.stdin.take().expect(missing));
        let (stdout, stderr) = (guard.stdout.take().expect(missing), guard.stderr.take().expect(missing));
        let (out, err) = (Arc::clone(run), Arc::clone(run));
        let readers = vec![
            self.pool.submit(move || read(stdout, b"\n", printer(&out, to)))?,
            self.pool.submit(move || read(stderr, b"\n\r", |line, end| err.complain(line, end == b'\n')))?,
        ];
        Ok(Child { guard, run: Arc::clone(run), readers, until: Instant::now() + self.patience })
    }
}

impl Child {
    /// Waits until the command has ended, and returns its status. Interrupts the whole run if the command
    /// takes too long.
    ///
    /// # Errors
    /// Returns an error if the command or its output was lost.
    pub(super) fn end(mut self) -> anyhow::Result<i32> {
        // Before the guard ends itself, it ends every process that holds the pipes.
        for reader in mem::take(&mut self.readers) {
            let left = self.until.saturating_duration_since(Instant::now());
            match reader.join_timeout(left) {
                Err(JoinError::TimedOut(reader)) => {
                    self.run.interrupt("it took too long");
                    reader.join()?;
                }
                other => other?,
            }
        }
        let status = self.guard.wait()?;
        status.code().context("the guard of the command was killed")
    }

    /// Kills the command, and waits for the last of its output.
    ///
    /// # Errors
    /// As [`end`](Self::end).
    pub(super) fn kill(self) -> anyhow::Result<i32> {
        self.run.release(self.guard.id());
        self.end()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.run.release(self.guard.id());
        let _ = self.guard.wait(); // it may have been waited for
    }
}

/// Returns the function that handles each line of output.
fn printer(run: &Arc<Run>, to: Output) -> impl FnMut(&str, u8) {
    let (part, mut address_of) = match to {
        Output::Progress => (None, None),
        Output::Part(part) => (Some(part), None),
        Output::Server(part, promise) => (Some(part), Some(promise)),
    };
    let run = Arc::clone(run);
    move |line, _| {
        let found = address_of.as_ref().and_then(|_| address(line));
        found.inspect(|found| run.rename(found, SHOWN));
        if let Some(part) = part {
            run.print(part, line);
        }
        if let Some((found, promise)) = found.and_then(|found| Some((found, address_of.take()?))) {
            let _ = promise.complete(found.to_owned()); // nobody waits any more
        }
    }
}

/// Calls `line` for each line, and passes the line and the byte that ends the line. The last line may lack
/// this byte.
fn read(mut output: impl Read, ends: &[u8], mut line: impl FnMut(&str, u8)) {
    let mut give = |bytes: &[u8], end| line(&String::from_utf8_lossy(bytes), end);
    let (mut open, mut buffer) = (Vec::new(), [0; 8192]);
    while let Ok(read @ 1..) = output.read(&mut buffer) {
        for part in buffer[..read].split_inclusive(|byte| ends.contains(byte)) {
            open.extend_from_slice(part);
            if let Some(end) = open.pop_if(|last| ends.contains(last)) {
                give(&open, end);
                open.clear();
            } else if open.len() > LONGEST_LINE {
                give(&open, b'\n');
                open.clear();
            }
        }
    }
    if !open.is_empty() {
        give(&open, b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use executor::ExecutorService;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn lines_end_where_they_should_and_long_ones_are_cut() {
        let lines_of = |text: &[u8]| {
            let mut lines = Vec::new();
            read(text, b"\n\r", |line, end| lines.push((line.to_owned(), end)));
            lines
        };
        let lines = |text: &str| lines_of(text.as_bytes());
        let expected = [("a".to_owned(), b'\n'), ("1/2".to_owned(), b'\r'), ("end".to_owned(), b'\n')];
        assert_eq!(lines("a\n1/2\rend"), expected);
        assert_eq!(lines_of(b"\xff\n"), [("\u{fffd}".to_owned(), b'\n')]);
        let long = lines(&"x".repeat(3 * LONGEST_LINE));
        assert!(long.len() > 1 && long.iter().all(|(line, _)| line.len() <= LONGEST_LINE + 8192));
    }

    /// The stand-in for the guard ends when it is asked to interrupt its command.
    #[test]
    fn a_command_that_takes_too_long_is_interrupted() {
        let folder = tempfile::tempdir().unwrap();
        let guard = folder.path().join("guard");
        fs::write(&guard, "#!/bin/sh\nhead -c 1 >/dev/null\nexit 130\n").unwrap();
        fs::set_permissions(&guard, fs::Permissions::from_mode(0o755)).unwrap();
        let pool = ThreadPoolExecutor::cached();
        let starter = Starter { guard, patience: Duration::from_millis(20), pool };
        let run = Arc::new(Run::new());
        let part = run.begin_part("sleep 600");
        let child = starter.start(&run, "sleep 600", false, |_| {}, Output::Part(part)).unwrap();
        assert_eq!(child.end().unwrap(), 130);
        assert_eq!(run.since(0)["cutShort"], "it took too long");
        starter.pool.shutdown();
    }
}
