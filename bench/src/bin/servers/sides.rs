//! The servers: our stages and the peers, and how each of them is started.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use bench::java;
use bench::nginx;
use bench::programs::{self, Workspace};

use crate::site::Site;
use bench::server::Server;

/// A server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Side {
    MultiReactor,
    Reactor,
    Bounded,
    Lifecycle,
    Pooled,
    #[value(skip)]
    Nginx,
    #[value(skip)]
    Hyper,
    #[value(skip)]
    MayMinihttp,
    #[value(skip)]
    TinyHttp,
    /// The JDK's own server, which is only in the row `overload`.
    #[value(skip)]
    Java,
}

impl Side {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MultiReactor => "multi_reactor",
            Self::Reactor => "reactor",
            Self::Bounded => "bounded",
            Self::Lifecycle => "lifecycle",
            Self::Pooled => "pooled",
            Self::Nginx => "nginx",
            Self::Hyper => "hyper",
            Self::MayMinihttp => "may_minihttp",
            Self::TinyHttp => "tiny_http",
            Self::Java => "java",
        }
    }

    /// Returns the numbers of workers with which the server is measured; the number that gives the better
    /// result counts.
    pub(crate) fn workers(self, connections: usize) -> Vec<usize> {
        match self {
            Self::MultiReactor | Self::Reactor | Self::Nginx | Self::Hyper | Self::MayMinihttp => vec![1, 2],
            // If each connection is a task, further connections wait for a thread until another connection is
            // closed.
            Self::Bounded | Self::Lifecycle | Self::Pooled | Self::Java => vec![connections],
            // The best of 1, 2, 4, 16 and 64 threads, with 64 clients on two processors: the system must also
            // wake each additional thread.
            Self::TinyHttp => vec![1],
        }
    }
}

/// One way in which a server can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setup {
    pub(crate) side: Side,
    pub(crate) workers: usize,
    /// The number of simultaneous clients; nginx needs this number, because it reserves memory for each
    /// client.
    pub(crate) connections: usize,
    /// The flags that a stage gets.
    pub(crate) more: &'static [&'static str],
}

impl Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setup { side, workers, .. } = *self;
        let what = match side {
            Side::MultiReactor => "loop",
            Side::Reactor | Side::Bounded | Side::Lifecycle | Side::Pooled | Side::Java => "thread",
            Side::TinyHttp => "handler",
            Side::Nginx | Side::Hyper | Side::MayMinihttp => "worker",
        };
        let plural = if workers == 1 { "" } else { "s" };
        write!(f, "{}, {workers} {what}{plural}", side.name())
    }
}

/// Starts servers, and remembers which servers are not installed on this machine.
pub(crate) struct Starter {
    pub(crate) site: Site,
    programs: RefCell<BTreeMap<&'static str, PathBuf>>,
    missing: RefCell<BTreeMap<&'static str, String>>,
}

impl Starter {
    pub(crate) fn new() -> anyhow::Result<Starter> {
        Ok(Starter { site: Site::new()?, programs: RefCell::default(), missing: RefCell::default() })
    }

    /// Returns whether the server can be started on this machine. If the server cannot be started, the first
    /// call prints a line about this.
    pub(crate) fn has(&self, side: Side) -> bool {
        if self.missing.borrow().contains_key(side.name()) {
            return false;
        }
        let Err(error) = self.look_for(side) else { return true };
        eprintln!("{} is missing: {error:#}", side.name());
        self.missing.borrow_mut().insert(side.name(), error.to_string());
        false
    }

    fn look_for(&self, side: Side) -> anyhow::Result<()> {
        if side == Side::Nginx {
            return nginx::is_there();
        }
        if side == Side::Java {
            return java::is_there();
        }
        self.program(side).map(drop)
    }

    pub(crate) fn start(&self, setup: &Setup) -> anyhow::Result<Server> {
        self.start_under(|| None, setup)
    }

    /// Starts one server. If there is a `wrapper`, it makes a command that runs the server's command line.
    pub(crate) fn start_under(
        &self,
        wrapper: impl Fn() -> Option<Command>,
        setup: &Setup,
    ) -> anyhow::Result<Server> {
        let Setup { side, workers, connections, more } = *setup;
        if side == Side::Nginx {
            let (addr, running) = nginx::start(self.site.folder(), workers, connections, wrapper)?;
            return Ok(Server { addr, running });
        }
        if side == Side::Java {
            let mut command = java::command("src/bin/servers/Overload.java")?;
            command.arg(workers.to_string()).args(more);
            return Server::start(command).context("java");
        }
        let program = self.program(side)?;
        let mut command = match wrapper() {
            Some(mut wrapper) => {
                wrapper.arg(program);
                wrapper
            }
            None => Command::new(program),
        };
        let folder = self.site.folder();
        match side {
            Side::TinyHttp => command.arg(workers.to_string()),
            Side::Hyper | Side::MayMinihttp => command.arg(workers.to_string()).arg(folder),
            stage => {
                let flag = if stage == Side::MultiReactor { "--loops" } else { "--threads" };
                command.args(["--quiet", "--addr", "127.0.0.1:0", flag, &workers.to_string()]);
                command.arg("--root").arg(folder)
            }
        };
        command.args(more);
        Server::start(command).with_context(|| setup.to_string())
    }

    /// Returns the path of the program; the first call builds the program.
    fn program(&self, side: Side) -> anyhow::Result<PathBuf> {
        let (workspace, package, name) = match side {
            Side::Hyper => (Workspace::Bench, "bench", "hyper_server"),
            Side::MayMinihttp => (Workspace::Bench, "bench", "may_server"),
            Side::TinyHttp => (Workspace::Bench, "bench", "tiny_http_server"),
            stage => (Workspace::Course, "servers", stage.name()),
        };
        if let Some(program) = self.programs.borrow().get(name) {
            return Ok(program.clone());
        }
        if matches!(workspace, Workspace::Course) {
            let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../servers/src/bin");
            let exists = sources.join(format!("{name}.rs")).exists() || sources.join(name).exists();
            ensure!(exists, "the course has no such stage yet");
        }
        let program = programs::binary(workspace, package, name)?;
        self.programs.borrow_mut().insert(name, program.clone());
        Ok(program)
    }
}
