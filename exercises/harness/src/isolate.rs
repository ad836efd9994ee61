//! Runs each property in its own process, and reads the report of that process.
//!
//! The test starts its own binary again, with the name of the property in the environment. The child runs the
//! property. As soon as the child knows the verdict, it writes the verdict as one line, and ends. So the
//! things that a wrong answer leaves behind cannot hide the failure: for example, threads that wait for each
//! other, destructors that hang, or a panic during a panic. The parent ends a child that does not end by
//! itself.

use std::io::{Read, Write};
use std::panic;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use exercises_protocol::schedule::Schedule;
use exercises_protocol::{Failure, Mode, PROPERTY, State, TRACE, Terminal, Verdict};

use crate::{last_words, report};

/// The number of lines of the learner's own output that are shown.
const OUTPUT_LINES: usize = 20;
/// The largest number of bytes that are kept of a child's output. If there are more, the oldest bytes are
/// discarded.
const OUTPUT_BYTES: usize = 4 << 20;
/// The time that the parent waits for a silent child after the child's deadline; in this time the child can
/// still report what it was doing.
const GRACE: Duration = Duration::from_secs(5);
/// The environment variable with glibc's settings. Other C libraries ignore the variable.
const ALLOCATOR: &str = "GLIBC_TUNABLES";
/// Every run of a property allocates and frees the same few thousand small pieces of memory. So the setting
/// lets the allocator keep more free memory than usual, and not return memory to the system.
const AT_HAND: &str = "glibc.malloc.tcache_count=500:glibc.malloc.top_pad=8000000:\
                       glibc.malloc.trim_threshold=100000000:glibc.malloc.mmap_threshold=4000000";

/// The name of a property that did not end, if there is one. After a property that did not end, no later
/// property is tried. So the learner need not wait for one deadline after another.
static HUNG: Mutex<Option<String>> = Mutex::new(None);

pub(crate) fn check(name: &str, promise: &str, mode: Mode, deadline: Duration, run_here: impl FnOnce()) {
    if std::env::var(PROPERTY).is_ok_and(|asked| asked == name) {
        run_here();
    }
    let hung = HUNG.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(other) = hung {
        write(&State::NotRun, name);
        println!("\n{name} was not tried: {other} did not end. Mend that one first.");
        panic::resume_unwind(Box::new("not tried"));
    }
    let Err(mut failure) = in_child(this_test(name), name, deadline) else {
        return write(&State::Held, name);
    };
    if failure.promise.is_empty() {
        promise.clone_into(&mut failure.promise); // a process that ended early has not said it
    }
    if failure.hung {
        HUNG.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| name.to_owned());
    }
    let terminal = Terminal::of_stdout();
    print!("{}", terminal.show(&failure.message(name, mode, &terminal)));
    last_words::has_failed(name, &failure);
    write(&State::Failed(failure), name);
    panic::resume_unwind(Box::new("the property does not hold")); // the message is out; the hook would only add to it
}

/// Writes the verdict as JSON, for a caller that needs more than the text of the message.
fn write(state: &State, name: &str) {
    let Some(directory) = std::env::var_os(TRACE) else { return };
    let (directory, json) =
        (Path::new(&directory), serde_json::to_vec_pretty(state).expect("strings and numbers"));
    let path = directory.join(format!("{name}.json"));
    if let Err(error) = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&path, json)) {
        println!("{TRACE}: cannot write {}: {error}", path.display());
    }
}

fn this_test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a running test knows its own binary"));
    command.args([name, "--exact", "--include-ignored", "--nocapture", "--test-threads=1"]);
    command
}

/// Runs the property in the process that `command` starts, and waits for the report.
///
/// # Panics
/// Panics if the process cannot be started.
pub fn in_child(mut command: Command, property: &str, deadline: Duration) -> Verdict {
    let mut child = Running::start(command.env(PROPERTY, property));
    let nonce = report::new_nonce();
    child.tell(&nonce);
    child.stdin = None; // nothing more will be written
    let in_time = loop {
        match child.hear(deadline) {
            Ok(()) => {}
            Err(silence) => break silence == RecvTimeoutError::Disconnected,
        }
    };
    child.verdict(&nonce, property, in_time).unwrap_or_else(Err)
}

/// A child process, and its output so far.
pub(crate) struct Running {
    child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    stdout: Reader,
    stderr: Reader,
    signs: mpsc::Receiver<()>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        if std::env::var_os(ALLOCATOR).is_none() {
            command.env(ALLOCATOR, AT_HAND);
        }
        let mut child = command
            .env_remove(TRACE) // the verdict is ours to write
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process can be started");
        let (hears, signs) = mpsc::channel();
        let stdout = Reader::new(child.stdout.take().expect("piped"), Some(hears));
        let stderr = Reader::new(child.stderr.take().expect("piped"), None);
        Self { stdin: child.stdin.take(), child, stdout, stderr, signs }
    }

    pub(crate) fn tell(&mut self, text: &str) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(text.as_bytes()); // the child may be gone already; then it has no verdict
        }
    }

    /// Waits until the child has written something. The error shows whether the child has closed its output,
    /// or has been silent for too long.
    pub(crate) fn hear(&self, deadline: Duration) -> Result<(), RecvTimeoutError> {
        self.signs.recv_timeout(deadline + GRACE)
    }

    /// Discards the output that the child has written so far.
    pub(crate) fn forget(&self) {
        self.stdout.kept().clear();
        self.stderr.kept().clear();
    }

    /// Returns the report with this number, if the child has written such a report.
    pub(crate) fn report(&self, nonce: &str) -> Option<Verdict> {
        report::find(&String::from_utf8_lossy(&self.stdout.kept()), nonce)
    }

    /// Returns the child's verdict after the child has ended. A child that was not `in_time` is killed. If
    /// the child has reported nothing, returns an error that says how the child ended.
    pub(crate) fn verdict(
        mut self,
        nonce: &str,
        property: &str,
        in_time: bool,
    ) -> Result<Verdict, Box<Failure>> {
        let status = end(&mut self.child, in_time);
        let stdout = self.stdout.text(in_time);
        let stderr = self.stderr.text(in_time);
        let output = own_output(property, &stdout, &stderr);
        if let Some(verdict) = report::find(&stdout, nonce) {
            return Ok(verdict.map_err(|failure| Box::new(Failure { output, ..*failure })));
        }
        let seen = if in_time {
            format!("the test's process ended without a verdict ({status})")
        } else {
            "the test's process did not end and could not say why".to_owned()
        };
        let cause = cause_of_end(&status, &stderr, in_time);
        let mut failure = Failure::new("", &seen, cause, Schedule::default());
        (failure.hung, failure.output) = (!in_time, output);
        Err(Box::new(failure))
    }

    /// Waits for the end of a child that has nothing left to do.
    pub(crate) fn dismiss(mut self) {
        self.stdin = None;
        end(&mut self.child, true);
    }
}

/// Returns the likely reason why a process ended too early; `by_itself` is true if the parent did not end the
/// process.
fn cause_of_end(status: &str, stderr: &str, by_itself: bool) -> &'static str {
    if stderr.contains("has overflowed its stack") {
        "your code overflowed the stack: does something call itself without an end?"
    } else if stderr.contains("memory allocation of ") || by_itself && status.contains("SIGKILL") {
        "your code asked for more memory than there is: what does it reserve, or let grow, by a number that can be very large?"
    } else if status.contains("exit") {
        "your code ended the process (std::process::exit): nobody who submits a job expects that"
    } else if status.contains("SIGABRT") {
        "your code aborted the process: std::process::abort, or a panic in a destructor during a panic, or it is out of memory"
    } else {
        "your code ended the process, overflowed the stack, or panicked in a destructor during a panic"
    }
}

fn end(child: &mut Child, in_time: bool) -> String {
    if !in_time {
        let _ = child.kill(); // the child may have ended just now
    }
    child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
}

/// Reads the output of a child, to the end.
struct Reader {
    kept: Arc<Mutex<Vec<u8>>>,
    thread: Option<thread::JoinHandle<()>>, // until it has been waited for
}

impl Reader {
    /// `hears` gets a message whenever output has arrived; `hears` is dropped when the output ends.
    fn new(mut from: impl Read + Send + 'static, hears: Option<mpsc::Sender<()>>) -> Self {
        let kept: Arc<Mutex<Vec<u8>>> = Arc::default();
        let keep = Arc::clone(&kept);
        let thread = thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(n @ 1..) = from.read(&mut buffer) {
                let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&buffer[..n]);
                if kept.len() > OUTPUT_BYTES {
                    kept.drain(..OUTPUT_BYTES / 2); // the report is at the end
                }
                drop(kept);
                if let Some(hears) = &hears {
                    let _ = hears.send(()); // the parent may have given up
                }
            }
        });
        Self { kept, thread: Some(thread) }
    }

    /// Returns the output that was read. If `to_the_end` is false, returns only the output so far: a process
    /// that the child has started may keep the pipe open.
    fn text(&mut self, to_the_end: bool) -> String {
        if to_the_end && let Some(thread) = self.thread.take() {
            let _ = thread.join(); // it does not panic
        }
        String::from_utf8_lossy(&self.kept()).into_owned()
    }

    fn kept(&self) -> MutexGuard<'_, Vec<u8>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the output without the lines of the test runner, of shuttle and of this crate.
fn own_output(property: &str, stdout: &str, stderr: &str) -> String {
    let runner = format!("test {property} ... ");
    let own = |line| {
        let line: &str = str::split(line, '\u{1e}').next().unwrap_or(line);
        let line = line.strip_prefix(&runner).unwrap_or(line);
        let ours = line.is_empty() || line == "running 1 test" || line.starts_with("Test deadlocked, and ");
        (!ours).then_some(line)
    };
    let mut lines: Vec<&str> = stdout.lines().chain(stderr.lines()).filter_map(own).collect();
    lines.drain(..lines.len().saturating_sub(OUTPUT_LINES));
    lines.join("\n")
}
