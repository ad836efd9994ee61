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
/// It serves `folder` and keeps its own files there. What bounds a connection by number or by time is out of the way, and so is
/// the access log, as on the other side.
pub(crate) fn start(
    folder: &Path,
    workers: usize,
    connections: usize,
    wrapper: impl Fn() -> Option<Command>,
) -> anyhow::Result<Server> {
    for _ in 0..ATTEMPTS {
        // It does not tell on which port it listens, so it is given one that has just been free. Another program may take it
        // meanwhile.
        let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let own = folder.join(format!("nginx-{}", addr.port()));
        if own.exists() {
            fs::remove_dir_all(&own)?; // of one that has ended, or its port would not be free
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

/// Waits until it has written the number of its process, which it does once it listens; or has ended.
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
