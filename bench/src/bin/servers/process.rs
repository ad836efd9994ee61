//! A server in a process of its own, so that its processor time can be told from the load's.

use anyhow::Context;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    child: Child,
}

impl Server {
    /// Starts `binary`, which has to say as its first line where it listens.
    pub(crate) fn start<A: AsRef<OsStr>>(binary: &Path, args: &[A]) -> anyhow::Result<Server> {
        let named = || binary.display().to_string();
        let mut child = Command::new(binary).args(args).stdout(Stdio::piped()).spawn().with_context(named)?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("it was asked to be a pipe")?).read_line(&mut line)?;
        let announced = line.trim_end().strip_prefix("listening on http://");
        let addr = announced.and_then(|rest| rest.strip_suffix('/')?.parse().ok());
        let addr = addr.with_context(|| format!("{} does not say where it listens, but: {line}", named()))?;
        Ok(Server { addr, child })
    }

    /// The processor time it has used so far, where the system tells.
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        cpu_time(self.child.id())
    }
}

/// The processor time that the load has used so far, where the system tells.
pub(crate) fn own_cpu_time() -> Option<Duration> {
    cpu_time(std::process::id())
}

#[cfg(target_os = "linux")]
fn cpu_time(process: u32) -> Option<Duration> {
    /// What the kernel counts in for programs, on every architecture: hundredths of a second.
    const TICK: Duration = Duration::from_millis(10);
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in brackets, may hold anything. User and system time are fields 14 and 15.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let (user, system): (u32, u32) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(TICK * (user + system))
}

#[cfg(not(target_os = "linux"))]
fn cpu_time(_: u32) -> Option<Duration> {
    None
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}
