//! Builds an exercise's tests with Cargo, and runs them with a deadline.
//!
//! If a property hangs, the tests themselves end the property and report the reason. The deadline in this
//! module is for a case that the tests cannot detect: the whole test program is stuck. The deadline counts
//! from the last output, and only while tests run, so slow builds and slow machines cannot cause a time-out.

use crate::workspace::Workspace;
use anyhow::{Context, bail, ensure};
use exercises_protocol::{Exercise, Mode, TRACE};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use std::{env, fs};

/// The time for which a test program may be silent. If a property hangs, the tests end it much earlier than
/// this; the rest of the time is a reserve for a busy machine.
const SILENCE: Duration = Duration::from_mins(1);

/// The destination of the compiler's messages: the terminal, or the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Messages {
    Shown,
    Kept,
}

/// The result of building a test program of an exercise.
pub(super) enum Built {
    /// The path of the test program.
    Test(PathBuf),
    /// The learner's file does not compile. The compiler's messages, if they were not shown already.
    Not(String),
}

/// Returns a command that runs Cargo in the project's root.
pub(crate) fn cargo(workspace: &Workspace) -> Command {
    // Each program that Cargo runs gets the path of Cargo in its environment.
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    command.current_dir(workspace.root());
    if env::var_os("CARGO_TARGET_DIR").is_some() {
        command.env("CARGO_TARGET_DIR", workspace.target()); // resolves a relative path from this program's directory
    }
    command
}

/// Builds one test program of an exercise, `model` or `real`.
///
/// Cargo compiles the library first and then finds a mistake in the learner's file, so the mistake is
/// reported only once.
///
/// # Errors
/// Returns an error if the test program cannot be built for a reason outside the learner's file: Cargo cannot
/// be run or cannot write, a dependency is missing, or the tests themselves do not compile.
pub(super) fn build(
    workspace: &Workspace,
    exercise: &Exercise,
    mode: Mode,
    messages: Messages,
) -> anyhow::Result<Built> {
    let test = mode.program();
    ensure!(
        exercise.folder().join(format!("tests/{test}.rs")).is_file(),
        "{} has no test `{test}`; `git checkout` brings it back",
        exercise.name
    );
    let mut command = cargo(workspace);
    command.args(["test", "--no-run", "--package", &exercise.name, "--test", test]);
    let colours = messages == Messages::Shown && io::stderr().is_terminal();
    command.arg(if colours {
        "--message-format=json-diagnostic-rendered-ansi"
    } else {
        "--message-format=json"
    });
    if messages == Messages::Shown {
        command.stderr(Stdio::inherit()); // Cargo's progress goes to the terminal as it comes
    }
    let output = command
        .stdin(Stdio::null())
        .output()
        .context("cannot run cargo. Is it on your PATH? https://rustup.rs installs it")?;
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let said: Vec<Said> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let diagnostics: String =
        said.iter().filter_map(|said| said.message.as_ref()?.rendered.as_deref()).collect();
    if messages == Messages::Shown {
        eprint!("{diagnostics}");
    }
    if output.status.success() {
        let _ = note_built(workspace, exercise); // otherwise the next check warns again that it takes a while
        let program = said.into_iter().find_map(Said::test_program);
        return Ok(Built::Test(program.context("cargo does not say where it put the test program")?));
    }
    let kept = |text: String| if messages == Messages::Kept { text } else { String::new() };
    if said.iter().any(|said| said.is_an_error_in(exercise)) {
        return Ok(Built::Not(kept(diagnostics)));
    }
    let cause = kept(diagnostics + &String::from_utf8_lossy(&output.stderr));
    bail!("cargo cannot build the tests of {}\n{cause}", exercise.name);
}

/// Returns whether this target directory has a build of the tests of a similar exercise. All exercises
/// share the parts that take long to build; all exercises that use the library under the model share that
/// library.
pub(super) fn has_built(workspace: &Workspace, exercise: &Exercise) -> bool {
    built_note(workspace, exercise).exists()
}

fn note_built(workspace: &Workspace, exercise: &Exercise) -> io::Result<()> {
    let note = built_note(workspace, exercise);
    fs::create_dir_all(note.parent().unwrap_or(&note))?;
    fs::write(note, "The tests of an exercise have been built here.\n")
}

/// Returns the path of a note that the tests of a similar exercise have been built; `cargo clean` removes the
/// note together with the build.
fn built_note(workspace: &Workspace, exercise: &Exercise) -> PathBuf {
    let name = if exercise.uses_the_library() { "built-with-the-library.txt" } else { "built.txt" };
    workspace.target().join("exercises").join(name)
}

/// One line of Cargo's JSON output.
#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    manifest_path: PathBuf,
    target: Option<Target>,
    executable: Option<PathBuf>,
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
    spans: Vec<IgnoredAny>,
}

impl Said {
    /// Returns whether the message is an error in a line of the exercise. An error without a line is a fault
    /// of the machine: for example, the disk is full, there is no linker, or memory is short.
    fn is_an_error_in(&self, exercise: &Exercise) -> bool {
        self.message.as_ref().is_some_and(|message| message.level == "error" && !message.spans.is_empty())
            && self.manifest_path.parent().is_some_and(|folder| folder.ends_with(&exercise.name))
    }

    fn test_program(self) -> Option<PathBuf> {
        self.executable.filter(|_| self.target.is_some_and(|target| target.kind.contains(&"test".to_owned())))
    }
}

/// Runs a test program, which writes the result of each property to `trace`. Returns whether the test
/// program ended by itself.
///
/// # Errors
/// Returns an error if the test program cannot be started.
pub(super) fn run_tests(program: &Path, exercise: &Exercise, trace: &Path) -> anyhow::Result<bool> {
    let mut command = Command::new(program);
    command.current_dir(exercise.folder()).env(TRACE, trace);
    run_until_silent(command, SILENCE)
}

/// Runs a test program, and kills the program if it is silent for the time `silence`. Returns whether the
/// test program ended by itself.
fn run_until_silent(mut command: Command, silence: Duration) -> anyhow::Result<bool> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start the test program {}", command.get_program().display()))?;
    let lines = lines(&mut child);
    let ended = loop {
        match lines.recv_timeout(silence) {
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => break true,
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill(); // perhaps the test program has just ended
                break false;
            }
        }
    };
    child.wait().context("cannot wait for the test program")?;
    Ok(ended)
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
    use crate::exercises::catalogue;
    use std::time::Instant;

    fn said(json: &str) -> Said {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn test_programs_are_told_from_what_else_is_built() {
        let artifact = |kind: &str, executable: &str| {
            said(&format!(
                r#"{{"reason":"compiler-artifact","target":{{"name":"model","kind":["{kind}"]}},"executable":{executable}}}"#
            ))
        };
        assert_eq!(artifact("test", "\"/a/model\"").test_program(), Some("/a/model".into()));
        assert_eq!(artifact("lib", "\"/a/lib\"").test_program(), None);
        assert_eq!(artifact("test", "null").test_program(), None);
        assert_eq!(said(r#"{"reason":"build-finished","success":true}"#).test_program(), None);
    }

    #[test]
    fn only_an_error_at_a_line_of_the_exercise_is_the_learners() {
        let exercise = &catalogue::all(&Workspace::find().unwrap()).unwrap()[0];
        let message = |package: &str, level: &str, spans: &str| {
            said(&format!(
                r#"{{"manifest_path":"/a/exercises/{package}/Cargo.toml","message":{{"level":"{level}","spans":{spans}}}}}"#
            ))
        };
        let line = r#"[{"file_name":"src/exercise.rs"}]"#;
        assert!(message(&exercise.name, "error", line).is_an_error_in(exercise));
        for (package, level, spans) in [
            (exercise.name.as_str(), "error", "[]"), // "failed to write …: No space left on device"
            (&exercise.name, "warning", line),
            ("harness", "error", line),
        ] {
            assert!(!message(package, level, spans).is_an_error_in(exercise), "{package} {level} {spans}");
        }
    }

    #[test]
    #[ignore = "another test starts it, and ends it"]
    fn will_not_end() {
        thread::sleep(Duration::from_secs(90)); // otherwise the other test could only hang
    }

    #[test]
    fn a_test_program_that_is_stuck_is_ended() {
        let run = |test: &str, silence| {
            let mut command = Command::new(env::current_exe().unwrap());
            command.args([&format!("exercises::cargo::tests::{test}"), "--exact", "--include-ignored"]);
            run_until_silent(command, Duration::from_secs(silence)).unwrap()
        };
        let started = Instant::now();
        assert!(!run("will_not_end", 5));
        assert!(started.elapsed() < Duration::from_mins(1), "{:?}", started.elapsed());
        assert!(run("test_programs_are_told_from_what_else_is_built", 60));
    }
}
