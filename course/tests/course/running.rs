//! A running course server, and a client that connects to it. Every wait in this module has a
//! deadline.

use crate::fixture::Project;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(30);

/// A `cargo course` process for a project; dropping this value ends the process.
pub(crate) struct Running {
    pub(crate) project: Project,
    child: Child,
    stderr: Receiver<String>,
    addr: SocketAddr,
}

impl Running {
    /// Starts the server and reads the address that it prints.
    pub(crate) fn start(project: Project, arguments: &[&str]) -> Self {
        let command = project.course(arguments);
        Self::start_as(project, command)
    }

    /// Starts the server with a command for this project.
    pub(crate) fn start_as(project: Project, mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = lines(child.stdout.take().unwrap());
        let stderr = lines(child.stderr.take().unwrap());
        let first = stdout.recv_timeout(DEADLINE);
        let Some(addr) = first
            .iter()
            .find_map(|line| line.strip_prefix("The course is at http://")?.strip_suffix('/')?.parse().ok())
        else {
            let _ = child.kill();
            let said: Vec<_> = stderr.iter().collect();
            panic!("no address but {first:?} and {said:?}");
        };
        Self { project, child, stderr, addr }
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn port(&self) -> u16 {
        self.addr.port()
    }

    /// Sends a request without reading its answer; [`answer`](Self::answer) reads the answer later.
    pub(crate) fn start_get(&self, path: &str) -> TcpStream {
        self.send(path, "Connection: close\r\n")
    }

    /// Sends a request as a browser does, reads the beginning of the answer, and leaves the connection open.
    #[cfg(unix)]
    pub(crate) fn get_and_stay(&self, path: &str) -> TcpStream {
        let mut stream = self.send(path, "");
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        assert_eq!(&status, b"HTTP/1.1 200");
        stream
    }

    fn send(&self, path: &str, fields: &str) -> TcpStream {
        self.send_for(&self.addr.to_string(), path, fields)
    }

    fn send_for(&self, host: &str, path: &str, fields: &str) -> TcpStream {
        self.start_request(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"))
    }

    /// Sends a request that consists of the given bytes.
    pub(crate) fn start_request(&self, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect_timeout(&self.addr, DEADLINE).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// Returns the whole answer: status line, head and body.
    pub(crate) fn answer(mut stream: TcpStream) -> String {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn get(&self, path: &str) -> String {
        Self::answer(self.start_get(path))
    }

    /// Returns the answer to a request with a foreign `Host`, as if the name of another host led to this
    /// machine.
    pub(crate) fn get_for(&self, host: &str, path: &str) -> String {
        Self::answer(self.send_for(host, path, "Connection: close\r\n"))
    }

    /// Waits until the server serves `connections` connections at the same time, including the connection
    /// that asks for the number.
    #[cfg(unix)]
    pub(crate) fn wait_until_active(&self, connections: u64) {
        let expected = format!("\"active\":{connections}");
        within_deadline(|| self.get("/stats").replace(' ', "").contains(&expected).then_some(()), "activity");
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: &str) {
        // The test uses the shell's built-in `kill`, because some machines have no program with that name.
        let command = format!("kill -{signal} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
    }

    #[cfg(unix)]
    pub(crate) fn wait_for_line(&self, start: &str) {
        let until = Instant::now() + DEADLINE;
        loop {
            let line = self.stderr.recv_timeout(until.saturating_duration_since(Instant::now()));
            if line.expect("a line before the deadline").starts_with(start) {
                return;
            }
        }
    }

    /// Waits until the file contains these words.
    pub(crate) fn wait_for_file(&self, path: &str, words: &str) {
        let path = self.project.path(path);
        let look = || std::fs::read_to_string(&path).is_ok_and(|text| text.contains(words)).then_some(());
        within_deadline(look, words);
    }

    /// Returns the lines that standard error has received so far.
    pub(crate) fn said(&self) -> impl Iterator<Item = String> {
        self.stderr.try_iter()
    }

    #[cfg(unix)]
    pub(crate) fn wait(&mut self) -> ExitStatus {
        within_deadline(|| self.child.try_wait().unwrap(), "the end of the process")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Calls `look` repeatedly until it returns a value, because another process cannot notify the test.
pub(crate) fn within_deadline<T>(mut look: impl FnMut() -> Option<T>, what: &str) -> T {
    let until = Instant::now() + DEADLINE;
    while Instant::now() < until {
        if let Some(seen) = look() {
            return seen;
        }
        thread::sleep(Duration::from_millis(5)); // only the interval of the polls
    }
    panic!("waited {DEADLINE:?} for {what}");
}
