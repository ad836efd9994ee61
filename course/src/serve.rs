//! Serves the book from the course's own thread pool.
//!
//! The accept loop is the same as in `servers/src/bin/pooled.rs`: a task for each connection, on a fixed
//! pool. Unlike `pooled`, this server can be stopped: a signal cancels the token `stop`, and this ends the
//! accept loop. Then the pool is shut down. The pool finishes the connections that it has accepted, and the
//! process waits until the pool has done so.

use crate::book;
use crate::exercises::replay;
#[cfg(unix)]
use crate::live::Live;
use crate::log::Log;
use crate::workspace::Workspace;
use anyhow::{Context, anyhow, bail};
use executor::{CancelToken, ExecutorExt, ExecutorService, ThreadPoolExecutor};
use servers::http::{Body, Response, Status};
use servers::{AccessLog, Files, HostArgs, Hosts, Limits, Listener, Server, Site, Stats};
use std::io::{self, ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, fs};

/// The ports that are tried if `--addr` is not given.
const PORTS: RangeInclusive<u16> = 8000..=8099;

/// The interval at which a server that waits for its last requests checks the number of these requests. The
/// server reports this number only if the number has changed.
const PATIENCE: Duration = Duration::from_secs(1);

/// Builds the book and serves it until the first Ctrl-C (or SIGTERM), then finishes the requests in
/// progress. A second signal ends the process at once.
///
/// Listens on `addr`, or else on the first free port from 8000; prints the address on standard output when
/// the server answers there.
///
/// # Errors
/// Returns an error if the book cannot be built, if the server cannot listen on the address, or if
/// the files cannot be read.
pub fn serve(
    workspace: &Workspace,
    addr: Option<SocketAddr>,
    hosts: &HostArgs,
    threads: NonZeroUsize,
) -> anyhow::Result<()> {
    let log = Log::begin(workspace, "course");
    let root = book::build(workspace)?;
    let listener = addr.map_or_else(listen_on_free_port, listen_on)?;
    let stop = CancelToken::new();
    command_line::stop_on_signals(&stop)?;
    let pool = Arc::new(ThreadPoolExecutor::fixed(threads.get()));
    let hosts = hosts.on(listener.local_addr().ip());
    let addr = listener.local_addr();
    let yours = addr.ip().is_loopback().then(|| replay::path(workspace));
    let site = site(&root, hosts, yours, &pool)?;
    #[cfg(unix)]
    let live = Live::on(workspace, addr)?;
    #[cfg(unix)]
    let site = live.iter().fold(site, |site, live| live.routes(site));
    let server = Arc::new(server(site, &pool, &stop, log.of_answers()));
    announce(addr);

    for connection in listener.incoming_until(&stop) {
        let server = Arc::clone(&server);
        let task = move || server.serve(connection);
        pool.execute(task).unwrap_or_else(servers::report);
    }

    drop(listener); // from here on, the system refuses clients
    #[cfg(unix)]
    live.inspect(|live| live.end());
    finish(&pool);
    Ok(())
}

fn site(
    root: &Path,
    hosts: Hosts,
    yours: Option<PathBuf>,
    pool: &Arc<ThreadPoolExecutor>,
) -> anyhow::Result<Site> {
    let files = Files::below(root).with_context(|| format!("cannot serve {}", root.display()))?;
    let stats = Arc::new(Stats::new().with_pool("pool", pool));
    let site = Site::new(Some(files)).answering_for(hosts).with_stats(&stats);
    Ok(match yours {
        None => site,
        Some(yours) => {
            let what = "on which schedule your answer failed";
            site.route("/your-schedule.json", &["GET"], what, move |_| your_schedule(&yours))
        }
    })
}

fn server(site: Site, pool: &Arc<ThreadPoolExecutor>, stop: &CancelToken, log: AccessLog) -> Server {
    let pool = Arc::clone(pool);
    // A browser keeps its connections open for a long time. Without this limit, idle connections of browsers
    // would occupy threads that other connections need, and the process would end later.
    let may_stay = move || pool.stats().backlog() == 0;
    Server::new(site, Limits::default(), log).keep_alive_while(may_stay).until(stop)
}

/// Sends the schedule on which the reader's answer last failed, or an empty object.
fn your_schedule(path: &Path) -> Response {
    match fs::read(path) {
        Ok(json) => Response::new(Status::Ok, "application/json", Body::Bytes(json.into())),
        Err(error) if error.kind() == ErrorKind::NotFound => Response::json(&serde_json::json!({})),
        Err(error) => {
            Response::error(Status::InternalServerError, &format!("the schedule cannot be read: {error}"))
        }
    }
}

fn listen_on(addr: SocketAddr) -> anyhow::Result<Listener> {
    Listener::bind(addr).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow!(
            "{addr} is taken by another program. Stop that one, choose another port with --addr, or leave --addr \
             away to get a free one."
        ),
        _ => anyhow!(
            "cannot listen on {addr} ({error}). Choose an address of this machine and a port above 1023 with --addr, \
             such as 127.0.0.1:9000."
        ),
    })
}

fn listen_on_free_port() -> anyhow::Result<Listener> {
    for port in PORTS {
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        match Listener::bind(addr) {
            // Windows denies access to reserved ports.
            Err(error) if matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied) => {
                tell(format_args!("port {port} is taken, trying the next one"));
            }
            result => return result.with_context(|| format!("cannot listen on {addr}")),
        }
    }
    bail!(
        "the ports {} to {} of 127.0.0.1 are all taken. Choose another with --addr; --addr 127.0.0.1:0 lets the \
         system choose.",
        PORTS.start(),
        PORTS.end()
    )
}

fn announce(addr: SocketAddr) {
    // The server must serve the book even if no process reads the server's output.
    let _ = writeln!(io::stdout(), "The course is at http://{addr}/").and_then(|()| io::stdout().flush());
    tell(format_args!("Ctrl-C stops it."));
}

// ANCHOR: finish
fn finish(pool: &ThreadPoolExecutor) {
    pool.shutdown();
    let mut told = 0;
    while !pool.await_termination(PATIENCE) {
        let stats = pool.stats();
        let left = stats.active + stats.queued;
        if left != told {
            tell(format_args!(
                "waiting for connections that are being answered: {left} (Ctrl-C again ends at once)"
            ));
            told = left;
        }
    }
}
// ANCHOR_END: finish

/// Writes a message about the run to standard error, so that standard output contains only the
/// address.
fn tell(what: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{what}");
}
