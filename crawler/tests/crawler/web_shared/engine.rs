//! A Redis server for one test.

use crate::child::WATCHDOG;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
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
        until_it_starts(|| Engine::unless_a_port_is_taken(flags))
    }

    /// Returns an engine, or `None` if another process has taken one of its ports meanwhile.
    pub(super) fn unless_a_port_is_taken(flags: &[&str]) -> Option<Engine> {
        let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
        let flags: Vec<_> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let server = Engine::server(&folder, port, &flags)?;
        Some(Engine { folder, port, flags, server })
    }

    /// Starts the server. Tests kill the server but not the machine of the server, so the server loses no
    /// data that it has written, although it does not wait for the disk. If the server waited for the disk, a
    /// lease could expire while the disk is busy, although the worker is healthy.
    ///
    /// Returns `None` if the server ends at once, because another process has taken the port meanwhile.
    fn server(folder: &TempDir, port: u16, flags: &[String]) -> Option<Child> {
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
        let mut server =
            command.args(flags).stdout(Stdio::null()).spawn().expect("redis-server is installed");
        let begun = Instant::now();
        // The engine of another test may answer at this port; only this engine has the folder. An engine that still
        // loads its data knows its folder, but answers no PING.
        while !(is_engine_of(port, folder) && say(port, &["PING"]).as_deref() == Some("+PONG")) {
            if server.try_wait().unwrap().is_some() {
                return None;
            }
            assert!(begun.elapsed() < WATCHDOG, "the engine does not answer");
            thread::sleep(Duration::from_millis(5));
        }
        Some(server)
    }

    pub(super) fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    pub(super) fn restart(&mut self) {
        self.server = until_it_starts(|| Engine::server(&self.folder, self.port, &self.flags));
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

/// Starts a server again until it has its ports.
pub(super) fn until_it_starts<T>(mut start: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(started) = start() {
            return started;
        }
        assert!(begun.elapsed() < WATCHDOG, "the engine does not start");
        thread::sleep(Duration::from_millis(20));
    }
}

fn is_engine_of(port: u16, folder: &TempDir) -> bool {
    // A process that has taken the port may never answer.
    let answer = answer(port, &["CONFIG", "GET", "dir"], 5, Some(Duration::from_secs(1)));
    answer.is_some_and(|lines| lines.last().map(Path::new) == Some(&*folder.path().canonicalize().unwrap()))
}

fn say(port: u16, words: &[&str]) -> Option<String> {
    answer(port, words, 1, None)?.pop()
}

/// Returns the first lines of the answer to a command; returns `None` if there are fewer.
fn answer(port: u16, words: &[&str], lines: usize, within: Option<Duration>) -> Option<Vec<String>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(within).ok()?;
    let parts = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
    stream.write_all(format!("*{}\r\n{}", words.len(), parts.collect::<String>()).as_bytes()).ok()?;
    let mut answer: Vec<String> = Vec::new();
    for line in BufReader::new(stream).lines().take(lines) {
        answer.push(line.ok()?);
        if answer[0].starts_with('-') {
            break; // an error has one line
        }
    }
    Some(answer).filter(|answer| answer.len() == lines && answer.iter().all(|line| !line.is_empty()))
}
