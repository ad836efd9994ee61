//! The peers of `java.util.concurrent`: one source file, which the JDK compiles and runs as it is.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use crate::load::{Load, Measured};

/// A Java process for one mode of `Peers.java`. It ends when this is dropped.
pub(crate) struct Java {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Java {
    /// Starts the peer of a row.
    ///
    /// # Errors
    /// If there is no JDK: a Java without a compiler runs no source file.
    pub(crate) fn start(mode: &str) -> anyhow::Result<Java> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/pools/Peers.java");
        let mut command = Command::new(java());
        command.arg(source).arg(mode).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
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

    /// Has the peer run a load once.
    pub(crate) fn run(&mut self, load: &Load) -> anyhow::Result<Measured> {
        let before = cpu_time(&self.child);
        let Load { tasks, submitters, workers } = load;
        let input = self.input.as_mut().context("it was asked to be a pipe")?;
        writeln!(input, "{tasks} {submitters} {workers}")
            .and_then(|()| input.flush())
            .context("Java is gone")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let cpu = before.zip(cpu_time(&self.child)).map(|(before, after)| after.saturating_sub(before));
        ensure!(!line.is_empty(), "Java is gone: {}", self.first_complaint());
        let numbers = line.strip_prefix("ok ").with_context(|| format!("Java says: {}", line.trim_end()))?;
        let (wall, inline) = numbers.trim_end().split_once(' ').context("Java answers two numbers")?;
        Ok(Measured { wall: Duration::from_nanos(wall.parse()?), cpu, inline: inline.parse()? })
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

/// That of `JAVA_HOME`, or the one in the path.
fn java() -> OsString {
    match env::var_os("JAVA_HOME") {
        Some(home) => PathBuf::from(home).join("bin/java").into_os_string(),
        None => "java".into(),
    }
}

/// All processor time that the process has used, in nanoseconds. (`/proc` tells hundredths of a second, and of threads that
/// have ended nothing else; Java itself tells no more.)
#[cfg(target_os = "linux")]
fn cpu_time(child: &Child) -> Option<Duration> {
    let process = nix::unistd::Pid::from_raw(child.id().try_into().ok()?);
    nix::time::clock_getcpuclockid(process).and_then(nix::time::ClockId::now).ok().map(Duration::from)
}

#[cfg(not(target_os = "linux"))]
fn cpu_time(_: &Child) -> Option<Duration> {
    None
}
