//! Judges each answer in a separate process, and ends that process when its time is over.

use crate::workspace::Workspace;
use anyhow::Context;
use exercises_protocol::Exercise;
use serde_json::Value;
use std::env;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Starts another process of this program, which checks the exercise in the project `scratch`. Returns the
/// report of that process, or `None` if the process did not finish in time.
///
/// # Errors
/// Returns an error if the process cannot be started, or reports nothing.
pub(super) fn check(
    workspace: &Workspace,
    scratch: &Workspace,
    exercise: &Exercise,
    time_limit: Duration,
) -> anyhow::Result<Option<Value>> {
    let mut command = Command::new(env::current_exe().context("this program does not know where it is")?);
    command.args(["check", exercise.name.as_str(), "--json", "--summary", "--workspace"]).arg(scratch.root());
    command.env("CARGO_TARGET_DIR", workspace.target()); // where most of it is built already
    let Some(said) = output(command, time_limit)? else { return Ok(None) };
    let report: Value = serde_json::from_slice(&said).context("the check has ended without a report")?;
    Ok(Some(report["exercises"][0].clone()))
}

/// Runs a command for at most `time_limit`, and returns its standard output; returns `None` if the command
/// did not finish in time. When the function returns, no process of the command's process group is left.
fn output(mut command: Command, time_limit: Duration) -> anyhow::Result<Option<Vec<u8>>> {
    own_group(&mut command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    let (sender, receiver) = mpsc::channel();
    let stdout = child.stdout.take();
    thread::spawn(move || {
        let mut said = Vec::new();
        let read = stdout.map(|mut stdout| stdout.read_to_end(&mut said));
        let _ = sender.send(read.transpose().map(|_| said)); // fails if the process's time is over
    });
    let said = receiver.recv_timeout(time_limit);
    end(&mut child);
    said.ok().transpose().context("cannot read what the check says")
}

/// Ends a child process and all processes that it has started. The function first ends the other processes
/// and only then waits for the child: before that wait, no other process can get the child's process ID.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL); // perhaps all have ended
    }
    let _ = child.kill(); // perhaps the child has just ended
    let _ = child.wait();
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::time::Instant;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_a_command_says_in_time_is_returned() {
        let said = output(shell("echo report"), Duration::from_mins(1)).unwrap();
        assert_eq!(said.as_deref(), Some(&b"report\n"[..]));
    }

    #[test]
    fn a_command_that_does_not_end_is_ended() {
        let started = Instant::now();
        assert!(output(shell("sleep 300"), Duration::from_millis(200)).unwrap().is_none());
        assert!(started.elapsed() < Duration::from_mins(2));
    }

    #[test]
    fn what_a_command_has_started_is_ended_with_it() {
        let mut command = shell("sleep 300 & echo started; wait");
        own_group(&mut command);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut String::new()).unwrap();
        end(&mut child);
        // The read of standard output ends only when the last process that has it open has ended.
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(stdout.read_to_end(&mut Vec::new()).unwrap()));
        assert_eq!(receiver.recv_timeout(Duration::from_mins(1)), Ok(0));
    }
}
