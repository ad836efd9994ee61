//! The command line that all stages share, so that one stage can take the place of another.

use crate::access_log::AccessLog;
use crate::diagnostics::show_diagnostics;
use crate::files::Files;
use crate::hosts::HostArgs;
use crate::limits::Limits;
use crate::site::Site;
use anyhow::anyhow;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The largest number of threads that a stage may have: more than a user needs, and fewer than most systems
/// allow. Close to the system's own limit, the system may start a thread but have no memory left for the
/// thread's first steps; then the standard library ends the process.
const MOST_THREADS: usize = 10_000;

/// The flags of every stage.
#[derive(clap::Args, Debug)]
pub struct ServerArgs {
    /// Address to listen on; port 0 means any free port (the first line of output names it)
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8080", value_parser = address)]
    pub addr: SocketAddr,

    /// How many threads serve connections [default: a number that suits the stage]
    #[arg(long, value_name = "COUNT", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,

    /// Directory with the files to serve; without it, the stage serves only the endpoints
    #[arg(long, value_name = "DIRECTORY")]
    pub root: Option<PathBuf>,

    /// Serve files and directories whose names begin with a dot, too (`/.well-known` is always served)
    #[arg(long)]
    pub dot_files: bool,

    /// The hosts to answer for.
    #[command(flatten)]
    pub hosts: HostArgs,

    /// Address of a second listener with its own thread, for watching the stage: a live page, /stats and
    /// /metrics
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    pub watch: Option<SocketAddr>,

    /// Do not log a line on stderr for each answer
    #[arg(long)]
    pub quiet: bool,

    /// Bounds on the memory and the time that a client may take.
    #[command(flatten)]
    pub limits: Limits,
}

impl ServerArgs {
    pub(crate) fn cannot_listen(&self, error: &io::Error) -> anyhow::Error {
        match error.kind() {
            ErrorKind::AddrInUse if self.watch == Some(self.addr) => {
                anyhow!("{} cannot be both; give --watch another address than --addr", self.addr)
            }
            ErrorKind::AddrInUse => anyhow!(
                "{} is taken by another program; choose another address with --addr, or port 0 for any free port",
                self.addr
            ),
            ErrorKind::PermissionDenied => {
                anyhow!(
                    "{} may not be used without privileges; choose a port above 1023 with --addr",
                    self.addr
                )
            }
            _ => anyhow!("cannot listen on {}; choose another address with --addr ({error})", self.addr),
        }
    }

    /// Returns the number of threads that the flag asks for, or `usual` if the flag is not given.
    pub fn threads_or(&self, usual: usize) -> usize {
        self.threads.map_or(usual, NonZeroUsize::get)
    }

    /// Returns a site with the endpoints and the files of `--root`.
    ///
    /// # Errors
    ///
    /// If there is no such directory, returns a message that says what to do.
    pub fn site(&self) -> anyhow::Result<Site> {
        let below = |root: &PathBuf| {
            Files::below(root).map_err(|error| {
                anyhow!("cannot serve {} ({error}); give --root a directory that can be read", root.display())
            })
        };
        let files = self.root.as_ref().map(below).transpose()?;
        let site = Site::new(files.map(|files| files.with_dot_files(self.dot_files)));
        Ok(site.with_panic().answering_for(self.hosts.on(self.addr.ip())))
    }

    /// Returns whether answers are logged. [`show_diagnostics`] then writes to stderr the answers (if they
    /// are logged) and the events that `RUST_LOG` asks for.
    pub fn log(&self) -> AccessLog {
        show_diagnostics();
        if self.quiet { AccessLog::Quiet } else { AccessLog::Events }
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected HOST:PORT, such as 127.0.0.1:8080";
    let mut found = text.to_socket_addrs().map_err(|error| format!("{expected} ({error})"))?;
    found.next().ok_or_else(|| expected.to_owned())
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|&number: &NonZeroUsize| number.get() <= MOST_THREADS);
    number.ok_or_else(|| format!("expected a whole number from 1 to {MOST_THREADS}"))
}
