//! nginx with a configuration of its own in a temporary folder.

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// The program in the path, or else in `/usr/sbin`, which is not in every path.
fn program() -> &'static str {
    let elsewhere = "/usr/sbin/nginx";
    let is_in_path = env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join("nginx").is_file()));
    if !is_in_path && Path::new(elsewhere).is_file() { elsewhere } else { "nginx" }
}

/// Whether it is installed.
pub fn is_there() -> anyhow::Result<()> {
    let version = Command::new(program()).arg("-v").output();
    version.map(drop).context("nginx has to be installed, in the path or in /usr/sbin")
}

/// Connections that nginx needs beside the clients': it counts its listener and its files, too. And it closes
/// idle connections when only a sixteenth is left.
const OTHER_CONNECTIONS: usize = 200;

/// Writes a configuration for `addr` into the folder `own`: the files of `folder` are served. No limit in
/// number or time applies to a connection, and there is no access log.
pub fn configure(
    addr: SocketAddr,
    folder: &Path,
    own: &Path,
    workers: usize,
    connections: usize,
) -> anyhow::Result<()> {
    Ok(fs::write(own.join("nginx.conf"), configuration(addr, folder, own, workers, connections))?)
}

/// nginx with the configuration in the folder `own`, in the foreground, run by `wrapper` if there is one.
pub fn command(own: &Path, wrapper: Option<Command>) -> Command {
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

/// Whether nginx listens: then it has written its process id.
pub fn listens(own: &Path) -> bool {
    !fs::read_to_string(own.join("nginx.pid")).unwrap_or_default().is_empty()
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
