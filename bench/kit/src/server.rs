//! Runs a server in separate processes, so that the costs of the server are separate from the costs of the
//! load.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::nginx::Running;
use crate::processor_time;
use anyhow::Context;

/// A server that runs until this value is dropped.
pub struct Server {
    pub addr: SocketAddr,
    pub running: Running,
}

impl Server {
    /// Starts a server whose first line of output contains its address.
    ///
    /// # Errors
    /// Returns an error if the server cannot be started, or if its first line is another one.
    pub fn start(mut command: Command) -> anyhow::Result<Server> {
        let child = command.stdout(Stdio::piped()).spawn();
        let child = child.with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let mut running = Running { child, stop: None };
        let mut line = String::new();
        BufReader::new(running.child.stdout.take().context("it was asked to be a pipe")?)
            .read_line(&mut line)?;
        let announced = line.trim_end().strip_prefix("listening on http://");
        let addr = announced.and_then(|rest| rest.strip_suffix('/')?.parse().ok());
        let Some(addr) = addr else {
            anyhow::bail!("{command:?} does not say where it listens, but: {line}");
        };
        Ok(Server { addr, running })
    }

    /// Returns the server's process and its child processes, if the system reports them.
    fn processes(&self) -> Vec<u32> {
        let mut processes = vec![self.running.child.id()];
        let mut next = 0;
        while let Some(process) = processes.get(next) {
            let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
            let children = children.unwrap_or_default();
            processes.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
            next += 1;
        }
        processes
    }

    /// Returns the processor time that the server has used so far, if the system reports it.
    pub fn cpu_time(&self) -> Option<Duration> {
        self.processes().into_iter().map(processor_time::of).sum()
    }

    /// Returns the server's memory in bytes, if the system reports it: resident memory, including its
    /// share of pages that other processes also use. The kernel's buffers are not included.
    pub fn memory(&self) -> Option<f64> {
        self.processes().into_iter().map(proportional).sum()
    }

    /// Returns how many descriptors the server has open, if the system reports this.
    pub fn descriptors(&self) -> Option<usize> {
        let count = |process| Some(fs::read_dir(format!("/proc/{process}/fd")).ok()?.count());
        self.processes().into_iter().map(count).sum()
    }
}

/// Returns the processor time that the load has used so far, if the system reports it.
pub fn own_cpu_time() -> Option<Duration> {
    processor_time::of(std::process::id())
}

fn proportional(process: u32) -> Option<f64> {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}

/// Raises the limit of descriptors to `wanted`, or as far as the system allows, for this process and its children.
/// Returns the new limit.
#[cfg(target_os = "linux")]
pub fn descriptors(wanted: usize) -> usize {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return 1024 };
    let wanted = hard.min(wanted as u64).max(soft);
    let is_raised = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).is_ok();
    usize::try_from(if is_raised { wanted } else { soft }).unwrap_or(usize::MAX)
}

#[cfg(not(target_os = "linux"))]
pub fn descriptors(_: usize) -> usize {
    1024
}
