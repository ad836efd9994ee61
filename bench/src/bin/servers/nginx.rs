//! nginx as a peer, with a configuration of its own in a temporary folder.

use std::env;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use crate::process::Server;

/// The one in the path, or where a path without the tools of administrators does not lead.
fn program() -> &'static str {
    let elsewhere = "/usr/sbin/nginx";
    let is_in_path = env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join("nginx").is_file()));
    if !is_in_path && Path::new(elsewhere).is_file() { elsewhere } else { "nginx" }
}

/// Whether it is installed.
pub(crate) fn is_there() -> anyhow::Result<()> {
    let version = Command::new(program()).arg("-v").output();
    version.map(drop).context("nginx has to be installed, in the path or in /usr/sbin")
}

/// How long nginx may take until it listens.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many ports are tried.
const ATTEMPTS: u32 = 5;

/// It counts its listener and its files, too. And it begins to close idle connections when a sixteenth is left.
const OTHER_CONNECTIONS: usize = 200;

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
        fs::write(own.join("nginx.conf"), configuration(addr, folder, &own, workers, connections))?;
        let server = Server::start_at(addr, command(&own, wrapper()));
        let mut server = server?;
        if listens(&mut server, &own)? {
            let mut stop = command(&own, None);
            stop.args(["-s", "stop"]).stderr(Stdio::null());
            server.stop = Some(stop);
            return Ok(server);
        }
        eprintln!("nginx says: {}", fs::read_to_string(own.join("error.log"))?.trim_end());
    }
    bail!("nginx cannot be started")
}

fn command(own: &Path, wrapper: Option<Command>) -> Command {
    let mut command = match wrapper {
        Some(mut wrapper) => {
            wrapper.arg(program());
            wrapper
        }
        None => Command::new(program()),
    };
    command.arg("-p").arg(own).arg("-c").arg(own.join("nginx.conf")).arg("-e").arg(own.join("error.log"));
    command
}

/// Waits until it has written the number of its process, which it does once it listens; or has ended.
fn listens(server: &mut Server, own: &Path) -> anyhow::Result<bool> {
    let began = Instant::now();
    while fs::read_to_string(own.join("nginx.pid")).unwrap_or_default().is_empty() {
        if server.has_ended() {
            return Ok(false);
        }
        ensure!(began.elapsed() < PATIENCE, "nginx does not listen");
        thread::sleep(Duration::from_millis(5));
    }
    Ok(true)
}

fn configuration(addr: SocketAddr, folder: &Path, own: &Path, workers: usize, connections: usize) -> String {
    let connections = connections + connections / 8 + OTHER_CONNECTIONS;
    let (folder, own) = (folder.display(), own.display());
    format!(
        r#"daemon off;
worker_processes {workers};
pid "{own}/nginx.pid";
error_log "{own}/error.log" crit;
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    client_body_temp_path "{own}/body";
    proxy_temp_path "{own}/proxy";
    fastcgi_temp_path "{own}/fastcgi";
    uwsgi_temp_path "{own}/uwsgi";
    scgi_temp_path "{own}/scgi";
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    server {{
        listen {addr} backlog=4096;
        root "{folder}";
        location = /hello {{ default_type text/plain; return 200 "Hello, world!"; }}
        location = /echo {{ client_max_body_size 1m; return 200 ""; }}
    }}
}}
"#
    )
}
