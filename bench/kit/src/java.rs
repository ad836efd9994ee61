//! Peers that are written in Java: one source file for a comparison, which the JDK compiles and runs as it is.
//!
//! Each line of input is a load, each line of output `ok` and numbers, of which the first is the time in nanoseconds; or what is
//! wrong.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use crate::processor_time;

/// A Java process for one mode of a source file. It ends when this is dropped.
pub struct Java {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Java {
    /// Starts a peer. `source` is a path below the folder of the comparisons.
    ///
    /// # Errors
    /// If there is no JDK: a Java without a compiler runs no source file.
    pub fn start(source: &str, mode: &str) -> anyhow::Result<Java> {
        let mut command = command(source);
        command.arg(mode).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("cannot run `java`")?;
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().context("it was asked to be a pipe")?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let mut java = Java { child, input, output };
        if line.trim_end() != "ready" {
            bail!("`java` says: {}", java.first_complaint());
        }
        Ok(java)
    }

    /// Has the peer run a load once. The numbers that it answers, and the processor time that it has used, with that of its
    /// compiler and its garbage collector.
    ///
    /// # Errors
    /// If it has ended, or says that something is wrong.
    pub fn run(&mut self, load: &str) -> anyhow::Result<(Vec<u64>, Option<Duration>)> {
        let before = processor_time::of(self.child.id());
        let input = self.input.as_mut().context("it was asked to be a pipe")?;
        writeln!(input, "{load}").and_then(|()| input.flush()).context("Java is gone")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let cpu = before
            .zip(processor_time::of(self.child.id()))
            .map(|(before, after)| after.saturating_sub(before));
        ensure!(!line.is_empty(), "Java is gone: {}", self.first_complaint());
        let numbers = line.strip_prefix("ok ").with_context(|| format!("Java says: {}", line.trim_end()))?;
        let numbers: Result<Vec<_>, _> = numbers.split_whitespace().map(str::parse).collect();
        Ok((numbers.context("Java answers numbers")?, cpu))
    }

    /// The first line of what a process that has ended, or does not do what it should, said about it.
    fn first_complaint(&mut self) -> String {
        let _ = self.child.kill();
        let mut said = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_string(&mut said);
        }
        said.lines().next().unwrap_or("nothing").to_owned()
    }
}

impl Drop for Java {
    fn drop(&mut self) {
        drop(self.input.take()); // the end of its input is its end
        let _ = self.child.wait();
    }
}

/// Runs a source file, whose path is below the folder of the comparisons.
pub fn command(source: &str) -> Command {
    let mut command = Command::new(program("java"));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source));
    command
}

/// Whether there is a JDK, and not only what runs compiled programs.
pub fn has_compiler() -> bool {
    let version =
        Command::new(program("javac")).arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// That of `JAVA_HOME`, or the one in the path.
fn program(name: &str) -> OsString {
    match env::var_os("JAVA_HOME") {
        Some(home) => PathBuf::from(home).join("bin").join(name).into_os_string(),
        None => name.into(),
    }
}
