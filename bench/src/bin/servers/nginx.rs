//! nginx as a peer: the one of the path, with a configuration of its own in a temporary folder.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::process::Server;

/// How long nginx may take until it listens.
const PATIENCE: Duration = Duration::from_secs(5);

/// It counts its listener and its files, too; and one by which it is asked whether it listens.
const OTHER_CONNECTIONS: usize = 200;

/// Starts nginx in the foreground, run by `wrapper` if there is one.
///
/// It serves `folder` and keeps its own files there. What bounds a connection by number or by time is out of the way, and so is
/// the access log, as on the other side.
pub(crate) fn start(
    folder: &Path,
    workers: usize,
    connections: usize,
    wrapper: Option<Command>,
) -> anyhow::Result<Server> {
    // It does not tell on which port it listens, so it is given one that has just been free.
    let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let own = folder.join(format!("nginx-{}", addr.port()));
    fs::create_dir(&own)?;
    fs::write(own.join("nginx.conf"), configuration(addr, folder, &own, workers, connections))?;
    let ask = |program: Option<Command>| {
        let mut command = match program {
            Some(mut wrapper) => {
                wrapper.arg("nginx");
                wrapper
            }
            None => Command::new("nginx"),
        };
        command.arg("-p").arg(&own).arg("-c").arg(own.join("nginx.conf"));
        command.arg("-e").arg(own.join("error.log"));
        command
    };
    let mut server =
        Server::start_at(addr, ask(wrapper)).context("nginx has to be installed and in the path")?;
    let mut stop = ask(None);
    stop.args(["-s", "stop"]).stderr(Stdio::null());
    let began = Instant::now();
    while TcpStream::connect(addr).is_err() {
        let said = || fs::read_to_string(own.join("error.log")).unwrap_or_default();
        ensure!(!server.has_ended(), "nginx has ended: {}", said());
        ensure!(began.elapsed() < PATIENCE, "nginx does not listen: {}", said());
        thread::sleep(Duration::from_millis(5));
    }
    server.stop = Some(stop);
    Ok(server)
}

fn configuration(addr: SocketAddr, folder: &Path, own: &Path, workers: usize, connections: usize) -> String {
    let connections = connections + OTHER_CONNECTIONS;
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
