//! A Redis server for one test.

use crate::child::WATCHDOG;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// An engine with an append-only file. The engine is stopped when this value is dropped.
pub(super) struct Engine {
    folder: TempDir,
    pub(super) port: u16,
    flags: Vec<String>,
    server: Child,
}

impl Engine {
    pub(super) fn start() -> Engine {
        Engine::with(&[])
    }

    /// Returns an engine that is started with additional flags.
    pub(super) fn with(flags: &[&str]) -> Engine {
        let folder = tempfile::tempdir().unwrap();
        let flags: Vec<_> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let port = free_port();
        let server = Engine::server(&folder, port, &flags);
        Engine { folder, port, flags, server }
    }

    /// Starts the server. Tests kill the server but not the machine of the server, so the server loses no
    /// data that it has written, although it does not wait for the disk. If the server waited for the disk, a
    /// lease could expire while the disk is busy, although the worker is healthy.
    fn server(folder: &TempDir, port: u16, flags: &[String]) -> Child {
        let mut command = Command::new("redis-server");
        command.args([
            "--port",
            &port.to_string(),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "yes",
        ]);
        command
            .args(["--appendfsync", "no", "--enable-protected-configs", "local", "--dir"])
            .arg(folder.path());
        let server = command.args(flags).stdout(Stdio::null()).spawn().expect("redis-server is installed");
        let begun = Instant::now();
        while say(port, &["PING"]).as_deref() != Some("+PONG") {
            assert!(begun.elapsed() < WATCHDOG, "the engine does not answer");
            thread::sleep(Duration::from_millis(5));
        }
        server
    }

    pub(super) fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    pub(super) fn restart(&mut self) {
        self.server = Engine::server(&self.folder, self.port, &self.flags);
    }

    /// Returns the first line of the answer to a command.
    pub(super) fn say(&self, words: &[&str]) -> String {
        say(self.port, words).expect("the engine answers")
    }

    pub(super) fn folder(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/0", self.port)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Returns a port on which no process listens.
pub(super) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn say(port: u16, words: &[&str]) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let parts = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
    stream.write_all(format!("*{}\r\n{}", words.len(), parts.collect::<String>()).as_bytes()).ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    Some(line.trim_end().to_owned()).filter(|line| !line.is_empty())
}
