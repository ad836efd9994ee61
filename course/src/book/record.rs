//! `book record`: runs the commands whose output the book shows, and writes their output to files.
//!
//! A transcript whose [core](super::equal) has not changed is kept. So recording changes no file without need,
//! and `--check` compares only cores.
//!
//! The command `book record` is a tool for authors of the book, on Unix.

use crate::book::equal::{core, lacks};
use crate::book::recipes::{Equal, Picture, Recipes, Run, Server, Step};
use crate::book::shell::{SHOWN, address, build_command, in_shell, server_command, settle};
use crate::copy::Copy;
use crate::workspace::Workspace;
use anyhow::{Context, bail, ensure};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::iter;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// The time that a command may take; this includes compilation.
const DEADLINE: Duration = Duration::from_mins(10);

/// If a server logs no line for this time, the recorder stops it. A server logs a line after it has sent
/// the answer, so a client may have the answer before the line is written.
const QUIET: Duration = Duration::from_secs(1);

/// Records the named transcripts, or all transcripts. Returns whether all recordings succeeded;
/// with `check`, returns whether no transcript would change. Measurements are checked only if they
/// are named.
///
/// # Errors
/// Returns an error if a command cannot be run or fails, or if a file cannot be written.
pub fn record(workspace: &Workspace, files: &[String], check: bool) -> anyhow::Result<bool> {
    let sources = workspace.book().join("src");
    let recipes = Recipes::read(&sources)?;
    let pictures = recipes.run.iter().filter_map(|run| Some(run.picture.as_ref()?.to.as_str()));
    let known: Vec<&str> = recipes.files().into_iter().map(|(file, _)| file).chain(pictures).collect();
    for file in files {
        ensure!(known.contains(&file.as_str()), "record.toml names no transcript `{file}`");
    }
    let wanted = |file: &str| files.is_empty() || files.iter().any(|wanted| wanted == file);
    let due = |measured: bool| !(measured && check && files.is_empty());
    let mut recorder = Recorder { workspace, folder: sources.join("transcripts"), check, all_well: true };
    for run in recipes.run.iter().filter(|run| due(run.measured) && run.products().any(wanted)) {
        recorder.record_run(run).with_context(|| run.command.clone())?;
    }
    for server in recipes.server.iter().filter(|server| due(server.measured)) {
        let own = server
            .file
            .iter()
            .chain(&server.log)
            .chain(server.step.iter().filter_map(|step| step.file.as_ref()));
        if own.into_iter().any(|file| wanted(file)) {
            recorder.record_server(server, &wanted).with_context(|| server.command.clone())?;
        }
    }
    Ok(recorder.all_well)
}

struct Recorder<'a> {
    workspace: &'a Workspace,
    folder: PathBuf,
    check: bool,
    all_well: bool,
}

impl Recorder<'_> {
    fn record_run(&mut self, run: &Run) -> anyhow::Result<()> {
        let copy = run.copy(self.workspace, "record")?;
        let place = copy.as_ref().map_or(self.workspace, Copy::workspace);
        build_for(place, &run.command)?;
        let target = format!("{}/", place.target().display());
        let command = run.command.replace(" target/", &format!(" {target}"));
        let output = shell(place, &command).stderr(Stdio::null()).output_within(DEADLINE)?;
        let output = output.replace(&target, "target/");
        let output = output.replace(&format!("{}/", place.root().display()), "");
        let too_fast = run.speed_up.as_ref().map(|speed_up| speed_up.faults(&output)).unwrap_or_default();
        let kept = match &run.file {
            Some(file) if !too_fast.is_empty() => {
                self.all_well = false;
                println!("{file}: not kept. {}. It was printed:\n{output}", too_fast.join("; "));
                Some(Kept::Before)
            }
            Some(file) => Some(self.keep(file, &output, &run.equal)?),
            None => None,
        };
        if let Some(picture) = &run.picture {
            self.keep_picture(place, picture, kept)?;
        }
        Ok(())
    }

    /// Starts the server on a free port, carries out the steps, and stops the server.
    fn record_server(&mut self, server: &Server, wanted: &dyn Fn(&str) -> bool) -> anyhow::Result<()> {
        for command in iter::once(&server.command).chain(server.step.iter().filter_map(Step::command)) {
            build_for(self.workspace, command)?;
        }
        let mut running = Running(shell(self.workspace, &server_command(server)).spawn()?);
        let lines = lines_of(running.0.stdout.take().context("it has an output")?);
        let first = lines.recv_timeout(DEADLINE).context("the server does not say where it listens")?;
        let address = address(&first).context("the server's first line has no address")?.to_owned();
        let as_shown = |text: &str| text.replace(&address, SHOWN);
        let mut recordings = Vec::new();
        let mut background = Vec::new();
        for step in &server.step {
            if let Some(seconds) = step.wait {
                thread::sleep(Duration::from_secs_f64(seconds));
            }
            if let Some(command) = &step.start {
                let mut command = shell(self.workspace, &command.replace(SHOWN, &address));
                // A standard input that stays open, as at a terminal.
                background
                    .push((Running(command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn()?), step));
            }
            if let Some(command) = &step.run {
                let mut command = shell(self.workspace, &command.replace(SHOWN, &address));
                let output = command.stderr(Stdio::null()).output_within(DEADLINE)?;
                recordings.extend(step.file.as_ref().map(|file| (file, as_shown(&output), &step.equal)));
            }
        }
        for (mut started, step) in background {
            if let Some(file) = &step.file {
                let stdout = started.0.stdout.take().context("it has an output")?;
                let output: Vec<String> = within(DEADLINE, &lines_of(stdout))?;
                recordings.push((file, as_shown(&output.concat()), &step.equal));
            }
        }
        let logged = if server.log.is_some() { until_quiet(&lines) } else { Vec::new() };
        drop(running);
        recordings.extend(server.file.as_ref().map(|file| (file, as_shown(&first), &server.equal)));
        if let Some(log) = &server.log {
            let rest = within(DEADLINE, &lines)?;
            recordings.push((log, as_shown(&[logged, rest].concat().concat()), &server.equal));
        }
        for (file, text, equal) in recordings.into_iter().filter(|(file, _, _)| wanted(file)) {
            self.keep(file, &text, equal)?;
        }
        Ok(())
    }

    /// Writes a recording if its core differs from the core of the old recording. With `check`, the
    /// function only reports the difference.
    fn keep(&mut self, file: &str, text: &str, equal: &Equal) -> anyhow::Result<Kept> {
        ensure!(!text.trim().is_empty(), "{file}: nothing was printed; does the command work?");
        let text = format!("{}\n", text.trim_end());
        if let Some(expected) = lacks(&text, equal)?.first() {
            self.all_well = false;
            println!("{file}: what is printed does not match `{expected}`:\n{text}");
            return Ok(Kept::Before);
        }
        let path = self.folder.join(file);
        let before = fs::read_to_string(&path).unwrap_or_default();
        let (old, new) = (core(&before, equal)?, core(&text, equal)?);
        if old == new {
            println!("{file}: unchanged");
        } else if self.check {
            self.all_well = false;
            println!("{file}: differs from what is printed now.\n--- recorded\n{old}\n--- now\n{new}");
        } else {
            fs::write(&path, &text).with_context(|| format!("cannot write {}", path.display()))?;
            println!("{file}: recorded");
            return Ok(Kept::Now);
        }
        Ok(Kept::Before)
    }

    /// Keeps or replaces a picture of the book. A picture and its transcript show the same measurement, so
    /// the picture is kept if the transcript is kept.
    fn keep_picture(
        &mut self,
        place: &Workspace,
        picture: &Picture,
        transcript: Option<Kept>,
    ) -> anyhow::Result<()> {
        let from = place.target().join(&picture.from);
        let to = self.workspace.book().join("src").join(&picture.to);
        let drawn = fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
        let is_equal = |before| before == drawn || matches!(transcript, Some(Kept::Before));
        if fs::read(&to).is_ok_and(is_equal) {
            println!("{}: unchanged", picture.to);
        } else if self.check {
            self.all_well = false;
            println!("{}: differs from what is drawn now", picture.to);
        } else {
            fs::write(&to, drawn).with_context(|| format!("cannot write {}", to.display()))?;
            println!("{}: recorded", picture.to);
        }
        Ok(())
    }
}

/// Which recording is kept, the old or the new one.
enum Kept {
    /// The old recording is kept, if there is one.
    Before,
    Now,
}

// ----- running things -----

/// A child process; dropping this value ends it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill(); // the child may have ended by itself
        let _ = self.0.wait();
    }
}

/// Returns a command as the pages show it, ready to run in the project's root.
fn shell(workspace: &Workspace, command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &in_shell(workspace, command)]).stdin(Stdio::null()).stdout(Stdio::piped());
    settle(&mut shell, workspace);
    shell
}

/// Builds the program that `command` runs.
fn build_for(workspace: &Workspace, command: &str) -> anyhow::Result<()> {
    let Some(command) = build_command(command) else { return Ok(()) };
    let command = command.replace("cargo build", "cargo build --quiet");
    let mut running = Running(shell(workspace, &command).spawn().context("cannot start a shell")?);
    let stdout = running.0.stdout.take().context("it has an output")?;
    within(DEADLINE, &lines_of(stdout))?;
    ensure!(running.0.wait()?.success(), "`{command}` failed");
    Ok(())
}

trait OutputWithin {
    /// Runs the command to its end and returns its standard output.
    fn output_within(&mut self, deadline: Duration) -> anyhow::Result<String>;
}

impl OutputWithin for Command {
    fn output_within(&mut self, deadline: Duration) -> anyhow::Result<String> {
        let mut running = Running(self.spawn().context("cannot start a shell")?);
        let stdout = running.0.stdout.take().context("it has an output")?;
        let lines: Vec<String> = within(deadline, &lines_of(stdout))?;
        Ok(lines.concat())
    }
}

/// Sends the lines of an output, with their line ends, as soon as they arrive.
fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
    receiver
}

/// Returns all lines up to the end of an output. Fails if the deadline passes before a line arrives.
fn within(deadline: Duration, lines: &Receiver<String>) -> anyhow::Result<Vec<String>> {
    let mut all = Vec::new();
    loop {
        match lines.recv_timeout(deadline) {
            Ok(line) => all.push(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(all),
            Err(mpsc::RecvTimeoutError::Timeout) => bail!("it did not end within {deadline:?}"),
        }
    }
}

/// Collects lines until none has arrived for [`QUIET`], or until the output ends.
fn until_quiet(lines: &Receiver<String>) -> Vec<String> {
    iter::from_fn(|| lines.recv_timeout(QUIET).ok()).collect()
}
