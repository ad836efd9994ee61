//! Runs a server in separate processes, so that the costs of the server are separate from the costs of the
//! load.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use bench::nginx::Running;
use bench::processor_time;

/// A server that runs until this value is dropped.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    pub(crate) running: Running,
}

impl Server {
    /// Starts a server that prints its address in its first line of output.
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Server> {
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
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        self.processes().into_iter().map(processor_time::of).sum()
    }

    /// Returns the server's memory in bytes, if the system reports it: this is the resident memory, including
    /// a share of the pages that other processes use, too. The kernel's buffers are not a part of this
    /// number.
    pub(crate) fn memory(&self) -> Option<f64> {
        self.processes().into_iter().map(proportional).sum()
    }

    /// Returns how many descriptors the server has open, if the system reports this.
    pub(crate) fn descriptors(&self) -> Option<usize> {
        let count = |process| Some(fs::read_dir(format!("/proc/{process}/fd")).ok()?.count());
        self.processes().into_iter().map(count).sum()
    }
}

/// Returns the processor time that the load has used so far, if the system reports it.
pub(crate) fn own_cpu_time() -> Option<Duration> {
    processor_time::of(std::process::id())
}

fn proportional(process: u32) -> Option<f64> {
    let rollup = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}
