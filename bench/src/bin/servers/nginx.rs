//! nginx as a peer, with a configuration of its own in a temporary folder.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use bench::nginx;
pub(crate) use bench::nginx::is_there;

use crate::process::Server;

/// How long nginx may take until it listens.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many ports are tried.
const ATTEMPTS: u32 = 5;

/// Starts nginx in the foreground, run by `wrapper` if there is one.
///
/// It serves `folder` and keeps its own files there. No limit in number or time applies to a connection, and
/// there is no access log, as on our side.
pub(crate) fn start(
    folder: &Path,
    workers: usize,
    connections: usize,
    wrapper: impl Fn() -> Option<Command>,
) -> anyhow::Result<Server> {
    for _ in 0..ATTEMPTS {
        // It does not report its port, so it gets one that was free just now. Another program may take that
        // port meanwhile.
        let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let own = folder.join(format!("nginx-{}", addr.port()));
        if own.exists() {
            fs::remove_dir_all(&own)?; // a stale file, since its port is free
        }
        fs::create_dir(&own)?;
        nginx::configure(addr, folder, &own, workers, connections)?;
        let server = Server::start_at(addr, nginx::command(&own, wrapper()));
        let mut server = server?;
        if listens(&mut server, &own)? {
            let mut stop = nginx::command(&own, None);
            stop.args(["-s", "stop"]).stderr(Stdio::null());
            server.stop = Some(stop);
            return Ok(server);
        }
        eprintln!("nginx says: {}", fs::read_to_string(own.join("error.log"))?.trim_end());
    }
    bail!("nginx cannot be started")
}

/// Waits until nginx has written its process id, which it does when it listens. Returns false if it has
/// ended.
fn listens(server: &mut Server, own: &Path) -> anyhow::Result<bool> {
    let began = Instant::now();
    while !nginx::listens(own) {
        if server.has_ended() {
            return Ok(false);
        }
        ensure!(began.elapsed() < PATIENCE, "nginx does not listen");
        thread::sleep(Duration::from_millis(5));
    }
    Ok(true)
}
