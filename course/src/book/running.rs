//! Runs the commands of a recipe: a program that ends, or a server with its clients.
//!
//! A shell runs the commands in the form in which a reader would type them.

use crate::book::recipes::{Equal, Server, Step};
use crate::book::shell::{SHOWN, address, build_commands, in_shell, server_command, settle};
use crate::workspace::Workspace;
use anyhow::{Context, bail, ensure};
use std::io::{BufRead, BufReader, Read};
use std::iter;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// The time that a command may take; this includes compilation.
const DEADLINE: Duration = Duration::from_mins(10);

/// If a server logs no line for this time, the server is stopped. A server logs a line after it has sent the
/// answer, so a client may have the answer before the line is written.
const QUIET: Duration = Duration::from_secs(1);

/// The name of a transcript, the recorded output, and the rules for comparing two recordings of this
/// transcript.
pub(super) type Recording<'a> = (&'a String, String, &'a Equal);

/// Runs commands in a project.
pub(super) struct Runner<'a> {
    place: &'a Workspace,
    /// Receives each line that a command prints, as soon as the command prints the line.
    shown: &'a dyn Fn(&str),
}

impl<'a> Runner<'a> {
    /// Returns a `Runner` that shows nothing.
    pub(super) fn in_project(place: &'a Workspace) -> Self {
        Self { place, shown: &|_| () }
    }

    /// Shows each command, and the lines that it prints.
    pub(super) fn shown_by(self, shown: &'a dyn Fn(&str)) -> Self {
        Self { shown, ..self }
    }

    /// Builds the programs that the command runs, runs the command, and returns what the command has printed.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built or started, or if the command does not end in time.
    pub(super) fn run(&self, command: &str) -> anyhow::Result<String> {
        build_for(self.place, command)?;
        (self.shown)(&format!("$ {command}\n"));
        let target = format!("{}/", self.place.target().display());
        let root = format!("{}/", self.place.root().display());
        let as_shown = |line: &str| line.replace(&root, "").replace(&target, "target/");
        let mut command = shell(self.place, &command.replace(" target/", &format!(" {target}")));
        command
            .stderr(Stdio::null())
            .output_within(DEADLINE, &|line| (self.shown)(&as_shown(line)))
            .map(|output| as_shown(&output))
    }

    /// Starts the server on a free port, carries out the steps, stops the server, and returns the recordings.
    ///
    /// # Errors
    /// Returns an error if a program cannot be built or started, or if a client does not end in time.
    pub(super) fn serve<'r>(&self, server: &'r Server) -> anyhow::Result<Vec<Recording<'r>>> {
        for command in iter::once(&server.command).chain(server.step.iter().filter_map(Step::command)) {
            build_for(self.place, command)?;
        }
        (self.shown)(&format!("$ {}\n", server.command));
        let mut running = Running(shell(self.place, &server_command(server)).spawn()?);
        let lines = lines_of(running.0.stdout.take().context("it has an output")?);
        // Lines that come before the address are warnings of the compiler.
        let (first, address) = loop {
            let line = lines.recv_timeout(DEADLINE).context("the server does not say where it listens")?;
            if let Some(address) = address(&line).map(str::to_owned) {
                break (line, address);
            }
        };
        let as_shown = |text: &str| text.replace(&address, SHOWN);
        let show = |text: &str| (self.shown)(&as_shown(text));
        show(&first);
        let mut recordings = Vec::new();
        let mut background = Vec::new();
        for step in &server.step {
            if let Some(seconds) = step.wait {
                thread::sleep(Duration::from_secs_f64(seconds));
            }
            if let Some(command) = &step.start {
                show(&format!("$ {command} &\n"));
                let mut command = shell(self.place, &command.replace(SHOWN, &address));
                // A standard input that stays open, as it does at a terminal.
                background
                    .push((Running(command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn()?), step));
            }
            if let Some(command) = &step.run {
                show(&format!("$ {command}\n"));
                let mut command = shell(self.place, &command.replace(SHOWN, &address));
                let output = command.stderr(Stdio::null()).output_within(DEADLINE, &show)?;
                recordings.extend(step.file.as_ref().map(|file| (file, as_shown(&output), &step.equal)));
            }
        }
        for (mut started, step) in background {
            if let Some(file) = &step.file {
                let stdout = started.0.stdout.take().context("it has an output")?;
                show(&format!("[{}]\n", step.command().map_or("", String::as_str)));
                let output = within(DEADLINE, &lines_of(stdout), &show)?;
                recordings.push((file, as_shown(&output), &step.equal));
            }
        }
        let logged = if server.log.is_some() { until_quiet(&lines) } else { Vec::new() };
        drop(running);
        recordings.extend(server.file.as_ref().map(|file| (file, as_shown(&first), &server.equal)));
        if let Some(log) = &server.log {
            show("[the server's log]\n");
            for line in &logged {
                show(line);
            }
            let rest = within(DEADLINE, &lines, &show)?;
            recordings.push((log, as_shown(&(logged.concat() + &rest)), &server.equal));
        }
        Ok(recordings)
    }
}

/// A child process, which ends when this value is dropped.
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

/// Builds the programs and tests that `command` runs.
fn build_for(workspace: &Workspace, command: &str) -> anyhow::Result<()> {
    for command in build_commands(command) {
        let command =
            command.replace("cargo build", "cargo build --quiet").replace("--no-run", "--no-run --quiet");
        let mut running = Running(shell(workspace, &command).spawn().context("cannot start a shell")?);
        let stdout = running.0.stdout.take().context("it has an output")?;
        within(DEADLINE, &lines_of(stdout), &|_| ())?;
        ensure!(running.0.wait()?.success(), "`{command}` failed");
    }
    Ok(())
}

trait OutputWithin {
    /// Runs the command to its end, shows each line of its standard output, and returns the output.
    fn output_within(&mut self, deadline: Duration, shown: &dyn Fn(&str)) -> anyhow::Result<String>;
}

impl OutputWithin for Command {
    fn output_within(&mut self, deadline: Duration, shown: &dyn Fn(&str)) -> anyhow::Result<String> {
        let mut running = Running(self.spawn().context("cannot start a shell")?);
        let stdout = running.0.stdout.take().context("it has an output")?;
        within(deadline, &lines_of(stdout), shown)
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

/// Shows all lines up to the end of an output, and returns them. Fails if the deadline passes before a line
/// arrives.
fn within(deadline: Duration, lines: &Receiver<String>, shown: &dyn Fn(&str)) -> anyhow::Result<String> {
    let mut all = String::new();
    loop {
        match lines.recv_timeout(deadline) {
            Ok(line) => {
                shown(&line);
                all.push_str(&line);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(all),
            Err(mpsc::RecvTimeoutError::Timeout) => bail!("it did not end within {deadline:?}"),
        }
    }
}

/// Collects lines until none has arrived for [`QUIET`], or until the output ends.
fn until_quiet(lines: &Receiver<String>) -> Vec<String> {
    iter::from_fn(|| lines.recv_timeout(QUIET).ok()).collect()
}
