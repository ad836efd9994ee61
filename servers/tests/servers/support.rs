//! Runs a stage as a process, and clients that send exactly the bytes that a test gives them.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a test waits for an event that must happen. If nothing fails, a test does not wait this long.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

pub(crate) const SINGLE_THREADED: &str = env!("CARGO_BIN_EXE_single_threaded");
pub(crate) const POOLED: &str = env!("CARGO_BIN_EXE_pooled");
pub(crate) const THREAD_PER_TASK: &str = env!("CARGO_BIN_EXE_thread_per_task");
pub(crate) const SHARED_ACCEPT: &str = env!("CARGO_BIN_EXE_shared_accept");
pub(crate) const LIFECYCLE: &str = env!("CARGO_BIN_EXE_lifecycle");
pub(crate) const BOUNDED: &str = env!("CARGO_BIN_EXE_bounded");
pub(crate) const REACTOR: &str = env!("CARGO_BIN_EXE_reactor");
pub(crate) const MULTI_REACTOR: &str = env!("CARGO_BIN_EXE_multi_reactor");

/// A path whose answer takes longer than any test runs.
pub(crate) const ENDLESS: &str = "/block?ms=60000";

/// The stages with event loops.
pub(crate) const EVENT_LOOPS: [&str; 2] = [REACTOR, MULTI_REACTOR];

/// All stages, in the order in which the course presents them.
pub(crate) const STAGES: [&str; 8] =
    [SINGLE_THREADED, THREAD_PER_TASK, SHARED_ACCEPT, POOLED, LIFECYCLE, BOUNDED, REACTOR, MULTI_REACTOR];

/// The stages whose connections stay open between requests.
pub(crate) const KEEPING_STAGES: [&str; 6] =
    [THREAD_PER_TASK, POOLED, LIFECYCLE, BOUNDED, REACTOR, MULTI_REACTOR];

/// The stages that can be stopped gracefully.
pub(crate) const STOPPING_STAGES: [&str; 4] = [LIFECYCLE, BOUNDED, REACTOR, MULTI_REACTOR];

/// Flags that are added to each command. In these tests the host of a request may have many names; only the
/// tests of `hosts.rs` start a server that checks the name.
const USUAL: [&str; 4] = ["--addr", "127.0.0.1:0", "--host", "*"];

/// Returns flags with which a stage always has room for one more client, however many clients a test starts.
pub(crate) fn room(binary: &str) -> &'static [&'static str] {
    if binary == BOUNDED { &["--queue", "10000"] } else { &[] }
}

/// Runs a test against each stage, with `flags`; each stage has room for any number of clients. The stages
/// run at the same time, because a test mostly waits.
pub(crate) fn every_stage(flags: &[&str], test: impl Fn(&mut Stage) + Sync) {
    each_of(&STAGES, flags, test);
}

/// Runs a test against some of the stages.
pub(crate) fn each_of(stages: &[&'static str], flags: &[&str], test: impl Fn(&mut Stage) + Sync) {
    let test = &test;
    thread::scope(|scope| {
        for &binary in stages {
            let name = Path::new(binary).file_name().unwrap().to_string_lossy().into_owned();
            let run = move || test(&mut Stage::start_with_room(binary, flags));
            // If the test fails, the message contains the name of this thread.
            thread::Builder::new().name(name).spawn_scoped(scope, run).unwrap();
        }
    });
}

/// Returns a shell command that first runs `before`, and then becomes a stage with these flags.
#[cfg(unix)]
pub(crate) fn shell(before: &str, binary: &str, flags: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{before}; exec \"$0\" \"$@\""), binary]).args(flags);
    command
}

/// Returns a stage with a limited address space: it has room for about twenty threads with a stack of 64
/// MiB each, and for everything else. The test does not limit the number of threads, because such a limit
/// does not apply to a superuser, who may run the tests. The stacks are so large that the first
/// allocation that fails is a stack, and not one of the small allocations of a thread.
#[cfg(target_os = "linux")]
pub(crate) fn with_few_threads(binary: &str, flags: &[&str]) -> Command {
    let mut command = shell(&format!("ulimit -v {}", 20 * 64 * 1024 + 40 * 1024), binary, flags);
    // The allocator has only one arena: otherwise glibc reserves address space for each thread that
    // allocates.
    command.env("RUST_MIN_STACK", "67108864").env("MALLOC_ARENA_MAX", "1").env("RUST_BACKTRACE", "0"); // no memory for a backtrace
    command
}

/// A running stage; the end of the test ends it.
pub(crate) struct Stage {
    pub(crate) binary: &'static str,
    child: Child,
    pub(crate) addr: SocketAddr,
    output: mpsc::Receiver<String>,
    log: mpsc::Receiver<String>,
}

impl Stage {
    pub(crate) fn start(binary: &'static str, flags: &[&str]) -> Stage {
        Stage::start_command(binary, Command::new(binary).args(flags).env_remove("RUST_LOG"))
    }

    /// Starts a stage that always has room for one more client.
    pub(crate) fn start_with_room(binary: &'static str, flags: &[&str]) -> Stage {
        Stage::start(binary, &[flags, room(binary)].concat())
    }

    /// Starts a command that becomes a stage. A shell must `exec` the stage, because otherwise the end of the
    /// test would end only the shell.
    pub(crate) fn start_command(binary: &'static str, command: &mut Command) -> Stage {
        // On every machine, a stage runs the same number of loops, unless the test sets another number.
        if binary == MULTI_REACTOR && !command.get_args().any(|arg| arg == "--loops") {
            command.args(["--loops", "2"]);
        }
        Stage::start_as_it_is(binary, command.args(USUAL))
    }

    /// Starts a stage with only these flags.
    pub(crate) fn start_with_only(binary: &'static str, flags: &[&str]) -> Stage {
        Stage::start_as_it_is(binary, Command::new(binary).args(flags).env_remove("RUST_LOG"))
    }

    fn start_as_it_is(binary: &'static str, command: &mut Command) -> Stage {
        let (log, stderr) = std::io::pipe().unwrap();
        let mut stage = Stage::start_logging_to(stderr, Some(&log), binary, command);
        stage.log = lines(log);
        stage
    }

    /// Starts a stage whose log is closed, so that the stage cannot write a line to it.
    pub(crate) fn start_with_closed_log(binary: &'static str) -> Stage {
        let (log, stderr) = std::io::pipe().unwrap();
        drop(log);
        let mut command = Command::new(binary);
        let command = command.args(USUAL).env("RUST_LOG", "executor=debug"); // the access log is not the only writer
        Stage::start_logging_to(stderr, None, binary, command)
    }

    /// Starts a stage whose log the test can read.
    pub(crate) fn start_with_unread_log(binary: &'static str, flags: &[&str]) -> (Stage, PipeReader) {
        let (log, stderr) = std::io::pipe().unwrap();
        let mut command = Command::new(binary);
        let command = command.args(USUAL).args(flags).env_remove("RUST_LOG").env("RUST_BACKTRACE", "0");
        (Stage::start_logging_to(stderr, Some(&log), binary, command), log)
    }

    /// If the stage printed no address, its log explains why, so the log is read here.
    fn start_logging_to(
        stderr: PipeWriter,
        log: Option<&PipeReader>,
        binary: &'static str,
        command: &mut Command,
    ) -> Stage {
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        command.stderr(Stdio::null()); // drops our copy of the writing end; otherwise the log would never end
        let output = lines(child.stdout.take().unwrap());
        let first_line = output.recv_timeout(DEADLINE);
        let Some(addr) = first_line
            .iter()
            .find_map(|line| line.strip_prefix("listening on http://")?.strip_suffix('/')?.parse().ok())
        else {
            let _ = child.kill(); // otherwise its log might not end
            let (status, mut said) = (child.wait().unwrap(), String::new());
            let _ = log.map(|mut log| log.read_to_string(&mut said));
            panic!("no address of {binary} but {first_line:?}, {status}, and on standard error: {said}");
        };
        Stage { binary, child, addr, output, log: mpsc::channel().1 }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.addr)
    }

    /// Connects a client and sends the client's request; the client may have to wait for the answer.
    pub(crate) fn ask(&self, target: &str) -> Client {
        let mut client = self.connect();
        client.send(get(target));
        client
    }

    /// Returns the answer to `/stats`.
    pub(crate) fn stats(&self) -> serde_json::Value {
        serde_json::from_slice(&self.get("/stats").body).unwrap()
    }

    /// Sends one request on a new connection.
    pub(crate) fn get(&self, target: &str) -> Reply {
        self.connect().get(target)
    }

    /// Checks that the stage still serves clients.
    pub(crate) fn assert_alive(&self) {
        assert_eq!(self.get("/hello").body, b"Hello, world!");
    }

    /// Returns the next line on stdout, after the line with the address.
    #[cfg(unix)]
    pub(crate) fn output_line(&self) -> String {
        self.output.recv_timeout(DEADLINE).expect("a line of output")
    }

    /// Returns the next line on stderr, as `log_line_or_end` does.
    pub(crate) fn log_line(&self) -> String {
        self.log_line_or_end().expect("a line in the log")
    }

    /// Returns the next line on stderr, or `None` if the process has ended. Skips the report that a flag has
    /// no effect.
    pub(crate) fn log_line_or_end(&self) -> Option<String> {
        match self.log.recv_timeout(DEADLINE) {
            Ok(line) if line.starts_with("--threads has no effect") => self.log_line_or_end(),
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("neither a line in the log nor the end"),
        }
    }

    /// Ends the stage and returns the unread lines of its stderr.
    pub(crate) fn stop(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        self.log.iter().collect()
    }

    /// Sends a signal, such as `TERM`, to the stage.
    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: &str) {
        let script = format!("kill -{signal} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    }

    /// Waits until the process ends by itself; returns `None` if a signal has ended it.
    pub(crate) fn exit_status(&mut self) -> Option<i32> {
        let mut status = None;
        eventually("the process does not end", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap().code()
    }

    /// Returns how many threads the process has.
    #[cfg(target_os = "linux")]
    pub(crate) fn threads(&self) -> usize {
        self.tasks().count()
    }

    /// Returns how often the process's threads have waited, in total.
    #[cfg(target_os = "linux")]
    pub(crate) fn voluntary_context_switches(&self) -> usize {
        let of_thread = |path: std::path::PathBuf| {
            let status = std::fs::read_to_string(path.join("status")).unwrap();
            let switches = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            switches.unwrap().trim().parse::<usize>().unwrap()
        };
        self.tasks().map(of_thread).sum()
    }

    /// Returns the amount of memory that the process has.
    #[cfg(target_os = "linux")]
    pub(crate) fn resident_kib(&self) -> usize {
        self.status_kib("VmRSS:")
    }

    /// Returns the largest amount of memory that the process has had at any time.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_kib(&self) -> usize {
        self.status_kib("VmHWM:")
    }

    #[cfg(target_os = "linux")]
    fn status_kib(&self, name: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        size.trim().trim_end_matches(" kB").parse().unwrap()
    }

    /// Returns how many connections wait to be accepted, according to the system's table.
    #[cfg(target_os = "linux")]
    pub(crate) fn backlog(&self) -> usize {
        // The number is the second number in the fifth column of the line of a listening socket (state 0A).
        let listens = format!(":{:04X} 00000000:0000 0A ", self.addr.port());
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let (_, queues) = table.lines().find_map(|line| line.split_once(&listens)).unwrap();
        usize::from_str_radix(&queues[9..17], 16).unwrap()
    }

    #[cfg(target_os = "linux")]
    fn tasks(&self) -> impl Iterator<Item = std::path::PathBuf> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        tasks.map(|entry| entry.unwrap().path())
    }

    /// Returns the number of descriptors that the process has open.
    #[cfg(target_os = "linux")]
    pub(crate) fn open_descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a request for `target`.
pub(crate) fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n")
}

/// Makes a directory with a file `large.bin` that does not fit into the buffers between a server and its
/// client; also returns the path of the directory.
pub(crate) fn root_with_a_large_file() -> (TempDir, String) {
    let root = tempfile::tempdir().unwrap();
    File::create(root.path().join("large.bin")).unwrap().set_len(1 << 30).unwrap();
    let path = root.path().to_str().unwrap().to_owned();
    (root, path)
}

/// Returns the output of a command that must end by itself. If the command does not end in time, the function
/// kills it, and the test fails.
pub(crate) fn output_of(command: &mut Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + DEADLINE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() >= deadline {
            child.kill().and_then(|()| child.wait()).unwrap();
            panic!("it goes on: {command:?}");
        }
        thread::sleep(Duration::from_millis(10)); // no event reports that a process has ended
    }
    child.wait_with_output().unwrap()
}

pub(crate) fn lines(from: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            // The reader continues even without a receiver, because otherwise the process would wait for room
            // in the pipe.
            let _ = tell.send(line);
        }
    });
    told
}

/// Waits until `holds` returns true, and fails if this takes too long.
pub(crate) fn eventually(otherwise: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < deadline, "{otherwise}");
        thread::sleep(Duration::from_millis(10)); // only the interval of the checks; no event reports the change
    }
}

/// Fails unless one of five calls of `attempt` returns a time below `bound`. A wait that the code causes
/// occurs in each attempt, but a delay that other work of the machine causes occurs only in some attempts.
pub(crate) fn once_of_five(bound: Duration, mut attempt: impl FnMut() -> Duration) {
    let times: Vec<_> = (0..5).map(|_| attempt()).take_while(|&took| took >= bound).collect();
    assert!(times.len() < 5, "never less than {bound:?}: {times:?}");
}

/// A connection to a stage.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    arrived: Vec<u8>,
}

/// The answer of a stage.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Client {
    pub(crate) fn connect(addr: SocketAddr) -> Client {
        Client::over(TcpStream::connect_timeout(&addr, DEADLINE).unwrap())
    }

    /// Makes a client from a connection that the test has opened.
    pub(crate) fn over(stream: TcpStream) -> Client {
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.set_write_timeout(Some(DEADLINE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, arrived: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Client {
        self.stream.write_all(bytes.as_ref()).unwrap();
        self
    }

    pub(crate) fn get(&mut self, target: &str) -> Reply {
        self.send(get(target)).reply()
    }

    /// Reads one response from the connection. The response ends where `Content-Length` says, so a wrong
    /// length makes the test fail.
    pub(crate) fn reply(&mut self) -> Reply {
        self.read_reply(true)
    }

    /// Reads the response to a HEAD request.
    pub(crate) fn reply_without_body(&mut self) -> Reply {
        self.read_reply(false)
    }

    fn read_reply(&mut self, has_body: bool) -> Reply {
        let end = loop {
            if let Some(end) = self.arrived.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            assert!(self.read_some(), "closed within a head: {:?}", String::from_utf8_lossy(&self.arrived));
        };
        let head = String::from_utf8(self.arrived.drain(..end).collect()).unwrap();
        let status = head.strip_prefix("HTTP/1.1 ").unwrap()[..3].parse().unwrap();
        let mut reply = Reply { status, head, body: Vec::new() };
        let length = reply.header("Content-Length").map_or(0, |length| length.parse().unwrap());
        if has_body && status != 304 {
            while self.arrived.len() < length {
                assert!(self.read_some(), "closed within a body: {}", reply.head);
            }
            reply.body = self.arrived.drain(..length).collect();
        }
        reply
    }

    /// Fails unless the server closes the connection normally now, without another answer and without a
    /// reset.
    pub(crate) fn assert_closed(&mut self) {
        while self.read_some() {}
        assert_eq!(String::from_utf8_lossy(&self.arrived), "");
    }

    fn read_some(&mut self) -> bool {
        let mut bytes = vec![0; 64 * 1024];
        let count = loop {
            match self.stream.read(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result.expect("bytes or an orderly end"),
            }
        };
        self.arrived.extend_from_slice(&bytes[..count]);
        count > 0
    }
}
