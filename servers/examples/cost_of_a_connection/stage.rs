//! Runs a stage as a process, and connects clients to it.

use anyhow::{Context, ensure};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::{env, fs, io};

const REQUEST: &[u8] = b"GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A stage that is running. Dropping this value ends the stage.
pub(crate) struct Stage {
    child: Child,
    pub(crate) addr: SocketAddr,
}

/// Returns the path of a stage's binary. Cargo puts the binary beside the directory of the
/// examples.
pub(crate) fn binary(name: &str) -> anyhow::Result<PathBuf> {
    let example = env::current_exe()?;
    let directory = example.ancestors().nth(2).context("this is no example")?;
    let binary = directory.join(name);
    ensure!(
        binary.is_file(),
        "there is no {}; `cargo build --release -p servers` builds it",
        binary.display()
    );
    Ok(binary)
}

impl Stage {
    pub(crate) fn start(mut command: Command) -> anyhow::Result<Stage> {
        command.args(["--quiet", "--addr", "127.0.0.1:0", "--idle-timeout", "10m"]);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("cannot start a stage")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("it has an output")?).read_line(&mut line)?;
        let addr = line.trim().trim_start_matches("listening on http://").trim_end_matches('/');
        let addr = addr.parse().with_context(|| format!("it says {line:?}, and not where it listens"))?;
        Ok(Stage { child, addr })
    }

    pub(crate) fn count(&self, directory: &str) -> io::Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/{directory}", self.child.id()))?.count())
    }

    /// Returns the memory of the stage, in KiB.
    pub(crate) fn memory(&self) -> anyhow::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no memory?")?;
        Ok(line.split_whitespace().next().context("no number?")?.parse()?)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Client {
    stream: TcpStream,
    is_over: bool,
}

impl Client {
    pub(crate) fn connect(addr: SocketAddr) -> io::Result<Client> {
        let stream = TcpStream::connect(addr)?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, is_over: false })
    }

    pub(crate) fn send(&mut self) -> io::Result<()> {
        self.stream.write_all(REQUEST)
    }

    /// Reads one answer from the connection.
    pub(crate) fn receive(&mut self) -> io::Result<()> {
        let (mut answer, mut buffer) = (Vec::new(), [0; 1024]);
        loop {
            match self.stream.read(&mut buffer)? {
                0 => return Err(ErrorKind::UnexpectedEof.into()),
                count => answer.extend_from_slice(&buffer[..count]),
            }
            let text = String::from_utf8_lossy(&answer);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
            let length = field("Content-Length: ").and_then(|length| length.parse().ok());
            if length.is_some_and(|length: usize| body.len() >= length) {
                self.is_over = field("Connection: ") == Some("close");
                return Ok(());
            }
        }
    }

    /// Returns whether the last answer has said that no other answer follows.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns whether the connection is still open.
    pub(crate) fn is_open(&self) -> io::Result<bool> {
        self.stream.set_nonblocking(true)?;
        let open = match self.stream.peek(&mut [0]) {
            Ok(count) => count > 0,
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        };
        self.stream.set_nonblocking(false)?;
        Ok(open)
    }
}
