//! Runs a stage of the course as a child process: builds it, starts it on a free port, and ends it when
//! this value is dropped.

use super::Interrupt;
use super::said::{STAGE, Said};
use crate::workspace::Workspace;
use anyhow::{Context, bail, ensure};
use executor::Registration;
use std::convert::Infallible;
use std::env;
use std::fmt::{self, Display};
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::Duration;
use tracing::{info, warn};

/// The time limit for a stage to print its address.
const START: Duration = Duration::from_secs(10);

pub(crate) struct Stage {
    pub(crate) addr: SocketAddr,
    child: Running,
    said: Said,
    name: String,
    _killed_by_second_signal: Registration,
}

/// A stage to start, with the flags for this stage alone; they are added to the flags that all stages get.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    name: String,
    flags: Vec<String>,
}

impl FromStr for Wanted {
    type Err = Infallible;

    /// `NAME:FLAG:FLAG…`
    fn from_str(text: &str) -> Result<Wanted, Infallible> {
        let mut words = text.split(':').map(str::to_owned);
        Ok(Wanted { name: words.next().unwrap_or_default(), flags: words.collect() })
    }
}

impl Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.flags.iter().try_for_each(|flag| write!(f, " {flag}"))
    }
}

/// Builds the stages that are missing or out of date; Cargo decides which ones. Cargo builds them with the
/// same options as for `cargo run --release --bin pooled`, so that each of the two commands can use the
/// builds of the other.
pub(crate) fn build(workspace: &Workspace, stages: &[Wanted]) -> anyhow::Result<()> {
    let mut names: Vec<_> = stages.iter().map(|stage| &stage.name).collect();
    names.dedup();
    for &name in &names {
        let known = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        ensure!(
            known && sources(workspace).join(format!("{name}.rs")).is_file(),
            "there is no stage {name:?}; there are: {}",
            all(workspace).join(", ")
        );
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&cargo);
    command.args(["build", "--release", "--manifest-path"]);
    command.arg(workspace.root().join("Cargo.toml")).stdout(Stdio::null());
    for name in names {
        command.args(["--bin", name]);
    }
    let status = command.status().with_context(|| format!("cannot run {}", cargo.display()))?;
    ensure!(status.success(), "the stages could not be built; Cargo's messages above say why");
    Ok(())
}

fn sources(workspace: &Workspace) -> PathBuf {
    workspace.root().join("servers/src/bin")
}

fn all(workspace: &Workspace) -> Vec<String> {
    let found = sources(workspace).read_dir().into_iter().flatten().flatten();
    let names =
        found.filter_map(|file| file.path().file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

impl Stage {
    /// Starts the stage and waits until it listens.
    pub(crate) fn start(
        workspace: &Workspace,
        Wanted { name, flags }: &Wanted,
        threads: Option<NonZeroUsize>,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Stage> {
        let binary = workspace.target().join("release").join(format!("{name}{}", env::consts::EXE_SUFFIX));
        let mut command = Command::new(&binary);
        command.args(["--addr", "127.0.0.1:0", "--quiet"]);
        if let Some(threads) = threads {
            command.arg("--threads").arg(threads.to_string());
        }
        command.args(flags);
        Self::start_command(name, &mut command, &binary, interrupt)
            .with_context(|| format!("cannot start the stage {name}"))
    }

    fn start_command(
        name: &str,
        command: &mut Command,
        binary: &Path,
        interrupt: &Interrupt,
    ) -> anyhow::Result<Stage> {
        own_group(command);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| binary.display().to_string())?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let child = Running(Arc::new(Mutex::new(child)));
        let killed = child.clone();
        let killed_by_second_signal = interrupt.at_once.on_cancel(move || killed.kill());

        let said = Said::by(name, stderr.expect("it was asked to be a pipe"));
        let (tell, told) = mpsc::channel();
        thread::spawn(move || first_line(stdout, &tell));
        let Ok(line) = told.recv_timeout(START) else {
            child.kill();
            bail!("it did not say where it listens within {START:?}; it said: {}", said.beginning().trim());
        };
        let Some(addr) = announced(&line) else {
            child.kill();
            said.beginning(); // waits until the last lines are in the log
            bail!("it did not say where it listens, but: {}", line.trim_end());
        };
        info!(target: STAGE, stage = name, process = child.lock().id(), "listens on {addr}");
        let name = name.to_owned();
        Ok(Stage { addr, child, said, name, _killed_by_second_signal: killed_by_second_signal })
    }

    /// Returns how the stage ended, if it has ended by itself.
    pub(crate) fn died(&self) -> Option<String> {
        let status = self.child.lock().try_wait().ok().flatten()?;
        warn!(target: STAGE, stage = self.name, "ended by itself: {status}");
        Some(format!("the stage ended by itself ({status})"))
    }

    /// Returns the processor time that the stage has used, if the system reports it.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        cpu_time(self.child.lock().id())
    }

    /// Returns the largest amount of memory that the stage has used, if the system reports it.
    pub(crate) fn most_memory_kib(&self) -> Option<u64> {
        most_memory_kib(self.child.lock().id())
    }
}

impl Drop for Stage {
    /// Ends the stage process. The last lines of the stage still go to the log.
    fn drop(&mut self) {
        self.child.kill();
        self.said.beginning();
    }
}

/// The process of a stage. The owner of the process and the handler of a second signal both hold this value,
/// so each of them can end the process.
#[derive(Clone)]
struct Running(Arc<Mutex<Child>>);

impl Running {
    fn lock(&self) -> MutexGuard<'_, Child> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills the process and waits for its end, which follows soon.
    fn kill(&self) {
        let mut child = self.lock();
        let _ = child.kill().and_then(|()| child.wait());
    }
}

/// At a terminal, Ctrl-C goes to a whole process group. The user wants to end the load; the load ends
/// gracefully and then ends the stage. If the stage ended first, this would look like a failure.
#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

fn announced(line: &str) -> Option<SocketAddr> {
    line.trim_end().strip_prefix("listening on http://")?.strip_suffix('/')?.parse().ok()
}

fn first_line(stdout: Option<impl Read>, tell: &mpsc::Sender<String>) {
    let mut stdout = BufReader::new(stdout.expect("it was asked to be a pipe"));
    let mut line = String::new();
    if stdout.read_line(&mut line).is_ok_and(|length| length > 0) {
        let _ = tell.send(line);
    }
    drain(stdout);
}

fn drain(mut from: impl Read) {
    let _ = std::io::copy(&mut from, &mut std::io::sink());
}

#[cfg(target_os = "linux")]
fn cpu_time(process: u32) -> Option<Duration> {
    /// The unit of processor time that the kernel uses in `/proc`, on every architecture: a
    /// hundredth of a second.
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in parentheses, may contain any character. The user time and the system
    // time are fields 14 and 15.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let (user, system): (u32, u32) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(TICK * (user + system))
}

#[cfg(not(target_os = "linux"))]
fn cpu_time(_: u32) -> Option<Duration> {
    None
}

#[cfg(target_os = "linux")]
fn most_memory_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    most.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn most_memory_kib(_: u32) -> Option<u64> {
    None
}
