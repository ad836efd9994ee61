//! A process that a test has started, and the output of this process.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A time limit so long that a wait in these tests reaches it only if the library has a fault or the machine
/// is very busy.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// Returns the number of attempts that a test makes if the result of an operation depends on its timing.
pub(crate) fn times() -> usize {
    env::var("EXECUTOR_SIGNALS").map_or(8, |times| times.parse().expect("EXECUTOR_SIGNALS is a number"))
}

pub(crate) struct Process {
    child: Child,
    said: Receiver<String>,
}

/// Returns the command that starts a test of the module `child`.
pub(crate) fn command(child: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(arguments(child)).env("RUST_BACKTRACE", "0");
    command
}

/// Returns the same command as [`command`], for a process without standard error.
pub(crate) fn without_stderr(child: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", r#"exec "$0" "$@" 2>&-"#]).arg(env::current_exe().unwrap());
    command.args(arguments(child));
    command
}

pub(crate) fn arguments(child: &str) -> [String; 5] {
    let name = format!("child::{child}");
    ["--exact".into(), "--ignored".into(), "--nocapture".into(), "--test-threads=1".into(), name]
}

impl Process {
    pub(crate) fn start(child: &str) -> Self {
        Self::start_with(command(child).stderr(Stdio::null()))
    }

    pub(crate) fn start_with(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        command.stderr(Stdio::null()); // otherwise our copy of a pipe would keep it open
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (tell, said) = mpsc::channel();
        thread::spawn(move || {
            // The test harness also writes lines to the output of the process.
            let lines = stdout.lines().map_while(Result::ok);
            for line in lines.filter_map(|line| line.strip_prefix('@').map(str::to_owned)) {
                let _ = tell.send(line);
            }
        });
        Self { child, said }
    }

    /// Starts a process, and returns its standard output before any code has read from this output.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_unheard(child: &str) -> (Self, std::process::ChildStdout) {
        let mut child = command(child).stderr(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        (Self { child, said: mpsc::channel().1 }, stdout)
    }

    /// Waits until the process writes the given line, and fails if the process writes another line first.
    pub(crate) fn until(&mut self, expected: &str) {
        assert_eq!(self.said.recv_timeout(LONG).expect("the process says something"), expected);
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Sends a signal. A child remains in the process table until its parent has waited for it; if the child
    /// has already ended, only its exit status is left.
    pub(crate) fn send_if_it_lives(&self, signal: Signal) {
        let _ = kill_process(self.pid(), signal);
    }

    /// Returns how many threads of the process have this name. Linux says it.
    pub(crate) fn threads_named(&self, name: &str) -> usize {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let names =
            threads.map(|thread| std::fs::read_to_string(thread.unwrap().path().join("comm")).unwrap());
        names.filter(|of_thread| of_thread.trim_end() == name).count()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Returns the exit status (`None` if a signal has ended the process), and the lines that the test has
    /// not read yet.
    pub(crate) fn end(mut self) -> (Option<i32>, Vec<String>) {
        let deadline = Instant::now() + LONG;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                panic!("the process does not end; it said {:?}", self.said.iter().collect::<Vec<_>>());
            }
            // The standard library has no wait with a deadline for the end of a process.
            thread::sleep(Duration::from_millis(2));
        };
        (status.code(), self.said.iter().collect())
    }

    pub(crate) fn assert_ends(self, status: i32, said: &[&str]) {
        let (ended, has_said) = self.end();
        assert_eq!((ended, has_said.iter().map(String::as_str).collect()), (Some(status), said.to_vec()));
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn voluntary_context_switches(&self) -> usize {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let of_thread = |path: std::path::PathBuf| {
            let status = std::fs::read_to_string(path.join("status")).unwrap();
            let switches = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            switches.unwrap().trim().parse::<usize>().unwrap()
        };
        tasks.map(|task| of_thread(task.unwrap().path())).sum()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
