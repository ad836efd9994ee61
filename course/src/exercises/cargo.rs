//! Has Cargo build an exercise's tests, and runs them with an eye on the clock.
//!
//! The tests end a property that hangs by themselves, and say why. The deadline here is for what they cannot see: a
//! test program that is stuck as a whole. It counts from the last sign of life, and only while tests run, so neither a
//! slow build nor a slow machine uses it up.

use crate::workspace::Workspace;
use anyhow::{Context, ensure};
use exercises_protocol::{Exercise, TRACE};
use serde::Deserialize;
use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How long a test program may be silent. A property that hangs is ended by the tests after much less; what takes longer
/// may also be a machine with too much to do.
const SILENCE: Duration = Duration::from_mins(1);

/// The compiler's messages go to the terminal, or are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Messages {
    Shown,
    Kept,
}

/// What came of building a test program of an exercise.
pub(super) enum Built {
    /// Where it is.
    Test(PathBuf),
    /// The learner's file does not compile. What the compiler said, if it was not shown already.
    Not(String),
}

/// How a run of a test program ended: which tests passed, and which failed.
#[derive(Default)]
pub(super) struct Ran {
    pub(super) passed: Vec<String>,
    pub(super) failed: Vec<String>,
    /// It was ended because nothing happened any more.
    pub(super) stuck: bool,
}

/// Cargo, about to run in the project's root.
pub(super) fn cargo(workspace: &Workspace) -> Command {
    // Cargo says where it is to whatever it runs.
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(workspace.root());
    if env::var_os("CARGO_TARGET_DIR").is_some() {
        command.env("CARGO_TARGET_DIR", workspace.target()); // a relative one was meant from where we were started
    }
    command
}

/// Builds one test program of an exercise, `model` or `real`.
///
/// A mistake in the learner's file is found in the library, which Cargo compiles first; so it is told once.
///
/// # Errors
/// If Cargo cannot be run or does not say what it built.
pub(super) fn build(
    workspace: &Workspace,
    exercise: &Exercise,
    test: &str,
    messages: Messages,
) -> anyhow::Result<Built> {
    ensure!(
        exercise.folder().join(format!("tests/{test}.rs")).is_file(),
        "{} has no test `{test}`; `git checkout` brings it back",
        exercise.name
    );
    let mut command = cargo(workspace);
    command.args(["test", "--no-run", "--package", &exercise.name, "--test", test]);
    command.arg("--message-format=json-render-diagnostics");
    let (built, artifacts, said) = run(command, messages)?;
    if !built {
        return Ok(Built::Not(said));
    }
    let program = artifacts.lines().find_map(test_program);
    Ok(Built::Test(program.context("cargo does not say where it put the test program")?))
}

/// Whether it succeeded, what it wrote to standard output, and what to standard error, if that was kept.
fn run(mut command: Command, messages: Messages) -> anyhow::Result<(bool, String, String)> {
    if messages == Messages::Shown {
        command.stderr(Stdio::inherit());
    }
    let output = command
        .stdin(Stdio::null())
        .output()
        .context("cannot run cargo. Is it on your PATH? https://rustup.rs installs it")?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((output.status.success(), text(&output.stdout), text(&output.stderr)))
}

/// The test program that a line of Cargo's JSON tells of.
fn test_program(line: &str) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Artifact {
        target: Target,
        executable: PathBuf,
    }
    #[derive(Deserialize)]
    struct Target {
        kind: Vec<String>,
    }
    let artifact: Artifact = serde_json::from_str(line).ok()?; // other lines tell of other things
    artifact.target.kind.contains(&"test".to_owned()).then_some(artifact.executable)
}

/// Runs a test program. Failures are written to `trace`.
///
/// # Errors
/// If it cannot be started.
pub(super) fn run_tests(program: &Path, exercise: &Exercise, trace: &Path) -> anyhow::Result<Ran> {
    let mut command = Command::new(program);
    command.current_dir(exercise.folder()).env(TRACE, trace);
    run_until_silent(command, SILENCE)
}

/// Runs a test program, and ends it when nothing has come from it for so long.
fn run_until_silent(mut command: Command, silence: Duration) -> anyhow::Result<Ran> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start the test program {}", command.get_program().display()))?;
    let lines = lines(&mut child);
    let mut ran = Ran::default();
    loop {
        match lines.recv_timeout(silence) {
            Ok(line) => match line.strip_prefix("test ").and_then(|line| line.split_once(" ... ")) {
                Some((name, "ok")) => ran.passed.push(name.to_owned()),
                Some((name, "FAILED")) => ran.failed.push(name.to_owned()),
                _ => {}
            },
            Err(RecvTimeoutError::Timeout) => {
                ran.stuck = true;
                let _ = child.kill(); // it may have ended just now
                break;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    child.wait().context("cannot wait for the test program")?;
    Ok(ran)
}

fn lines(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    let stdout = child.stdout.take();
    thread::spawn(move || {
        let stdout = stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines());
        for line in stdout.map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn test_programs_are_told_from_what_else_is_built() {
        let line = |kind: &str, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"name":"model","kind":["{kind}"]}},"executable":{executable}}}"#
            )
        };
        assert_eq!(test_program(&line("test", "\"/a/model\"")), Some("/a/model".into()));
        assert_eq!(test_program(&line("lib", "\"/a/lib\"")), None);
        assert_eq!(test_program(&line("test", "null")), None);
        assert_eq!(test_program(r#"{"reason":"build-finished","success":true}"#), None);
    }
    #[test]
    #[ignore = "another test starts it, and ends it"]
    fn will_not_end() {
        thread::sleep(Duration::from_secs(90)); // or the other test could only hang if it does not
    }

    #[test]
    fn a_test_program_that_is_stuck_is_ended_and_what_it_had_said_counts() {
        const HERE: &str = "exercises::cargo::tests::";
        let passes = format!("{HERE}test_programs_are_told_from_what_else_is_built");
        let mut command = Command::new(env::current_exe().unwrap());
        command.args([&passes, &format!("{HERE}will_not_end"), "--exact", "--include-ignored"]);
        let started = Instant::now();
        let ran = run_until_silent(command, Duration::from_secs(5)).unwrap();
        assert!(ran.stuck && started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
        assert_eq!((ran.passed, ran.failed), (vec![passes], Vec::new()));
    }
}
