//! Runs nginx with its own configuration in a temporary folder.

use std::env;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

/// The time that nginx may take to begin to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// The number of ports that the function tries.
const ATTEMPTS: u32 = 5;

/// Returns the nginx program in the path. If there is none, returns the program in `/usr/sbin`, because not
/// every path contains this folder.
fn program() -> &'static str {
    let elsewhere = "/usr/sbin/nginx";
    let is_in_path = env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join("nginx").is_file()));
    if !is_in_path && Path::new(elsewhere).is_file() { elsewhere } else { "nginx" }
}

/// Returns whether nginx is installed.
pub fn is_there() -> anyhow::Result<()> {
    let version = Command::new(program()).arg("-v").output();
    version.map(drop).context("nginx has to be installed, in the path or in /usr/sbin")
}

/// The number of connections that nginx needs in addition to the connections of the clients: nginx also
/// counts its listener and its files. In addition, nginx closes idle connections if only a sixteenth of its
/// connections is free.
const OTHER_CONNECTIONS: usize = 200;

/// The process of a server. Dropping this value ends the process.
pub struct Running {
    pub child: Child,
    /// A command that asks the process to end; it is needed if the child processes would survive a kill of
    /// the process.
    pub stop: Option<Command>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let asked = self.stop.as_mut().is_some_and(|stop| stop.status().is_ok_and(|status| status.success()));
        if !asked {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// Starts nginx in the foreground (through `wrapper` if a wrapper is given), and waits until nginx listens.
///
/// The server serves `folder`; this function gives all users access to the folder, because nginx drops its
/// privileges. nginx keeps its own files in the same folder. A connection has no limit of requests or time,
/// and nginx writes no access log.
///
/// # Errors
/// Returns an error if nginx is not installed, or cannot be started.
pub fn start(
    folder: &Path,
    workers: usize,
    connections: usize,
    wrapper: impl Fn() -> Option<Command>,
) -> anyhow::Result<(SocketAddr, Running)> {
    open_to_all(folder)?;
    for _ in 0..ATTEMPTS {
        // The server does not report its port, so the function gives it a port that was free just before. In
        // the meantime, another program may take this port.
        let addr = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let own = folder.join(format!("nginx-{}", addr.port()));
        if own.exists() {
            fs::remove_dir_all(&own)?; // a stale file, since its port is free
        }
        fs::create_dir(&own)?;
        fs::write(own.join("nginx.conf"), configuration(addr, folder, &own, workers, connections))?;
        let child =
            command(&own, wrapper()).stdin(Stdio::null()).spawn().context("nginx cannot be started")?;
        let mut running = Running { child, stop: None };
        if listens(&mut running.child, &own)? {
            let mut stop = command(&own, None);
            stop.args(["-s", "stop"]).stderr(Stdio::null());
            running.stop = Some(stop);
            return Ok((addr, running));
        }
        eprintln!("nginx says: {}", fs::read_to_string(own.join("error.log"))?.trim_end());
    }
    bail!("nginx cannot be started")
}

/// Returns the command that starts nginx with the configuration in the folder `own`.
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

/// Waits until nginx has written its process ID, which nginx does when it listens. Returns false if nginx has
/// ended.
fn listens(child: &mut Child, own: &Path) -> anyhow::Result<bool> {
    let began = Instant::now();
    while fs::read_to_string(own.join("nginx.pid")).unwrap_or_default().is_empty() {
        if child.try_wait()?.is_some() {
            return Ok(false);
        }
        ensure!(began.elapsed() < PATIENCE, "nginx does not listen");
        thread::sleep(Duration::from_millis(5));
    }
    Ok(true)
}

fn open_to_all(folder: &Path) -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
    }
    let _ = folder;
    Ok(())
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
