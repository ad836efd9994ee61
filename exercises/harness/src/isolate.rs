//! A process of its own for each property, and what it reports.
//!
//! The test starts its own binary again with the name of the one property in the environment. The child runs the
//! property and writes one line with the verdict, at the moment it is known, and ends. So nothing that a wrong answer
//! leaves behind (threads that wait for each other, destructors that would hang, a panic within a panic) can hide what
//! went wrong, and a child that does not end is ended.
//!
//! The learner's code can print such a line, too, and end the process. So the line contains a number that only parent and
//! child know.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{Read, Write};
use std::panic;
use std::path::Path;
use std::process::{Child, Command, Stdio, exit};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use cpu_time::ProcessTime;
use exercises_protocol::schedule::Schedule;
use exercises_protocol::{Failure, Mode, PROPERTY, ROUND, Source, State, TRACE, Terminal, Verdict, WHY};

use crate::recorder;

const REPORT: &str = "\u{1e}exercise-report ";
/// What a child writes from time to time, so that its parent knows that it watches over itself.
const ALIVE: &str = "\u{1e}alive";
/// What of the learner's own output is shown.
const OUTPUT_LINES: usize = 20;
/// Beyond this, a child's output is thrown away.
const OUTPUT_BYTES: usize = 4 << 20;
/// How often a child looks at itself.
const TICK: Duration = Duration::from_millis(500);
/// A process that has computed for so long since something happened last does not only wait.
const COMPUTES: Duration = Duration::from_millis(50);
/// What the parent grants a child that is silent on top of its deadline, to report what it was doing.
const GRACE: Duration = Duration::from_secs(5);

// ----- the parent -----

/// Set when a property did not end: those after it are not tried, or the learner waits for one deadline after the other.
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
        promise.clone_into(&mut failure.promise); // a process that ended has not said it
    }
    if failure.hung {
        HUNG.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| name.to_owned());
    }
    let terminal = Terminal::of_stdout();
    print!("{}", terminal.show(&failure.message(name, mode, &terminal)));
    write(&State::Failed(failure), name);
    panic::resume_unwind(Box::new("the property does not hold")); // the message is out; the hook would only add to it
}

/// For whoever has started the tests and asks for more than text.
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

/// Has `command` run the property and waits for its report.
///
/// # Panics
/// If the process cannot be started.
pub fn in_child(mut command: Command, property: &str, deadline: Duration) -> Verdict {
    let nonce = RandomState::new().build_hasher().finish().to_string();
    let mut child = command
        .env(PROPERTY, property)
        .env_remove(TRACE) // the verdict is ours to write
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process can be started");
    let mut stdin = child.stdin.take().expect("piped");
    let _ = stdin.write_all(nonce.as_bytes()); // it may be gone already; then it has no verdict
    drop(stdin);
    let (hears, signs) = mpsc::channel();
    let stdout = Reader::new(child.stdout.take().expect("piped"), Some(hears));
    let stderr = Reader::new(child.stderr.take().expect("piped"), None);
    let in_time = loop {
        match signs.recv_timeout(deadline + GRACE) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => break true,
            Err(RecvTimeoutError::Timeout) => break false,
        }
    };
    let status = end(&mut child, in_time);
    let stdout = stdout.text(in_time);
    let output = own_output(property, &stdout, &stderr.text(in_time));
    let report = format!("{REPORT}{nonce} ");
    let report = stdout.lines().find_map(|line| line.split_once(&report));
    let verdict = report.and_then(|(_, json)| serde_json::from_str::<Verdict>(json).ok());
    let missing = || {
        let seen = if in_time {
            format!("the test's process ended without a verdict ({status})")
        } else {
            "the test's process did not end and could not say why".to_owned()
        };
        let mut failure = Failure::new("", &seen, cause_of_end(&status, &output), Schedule::default());
        failure.hung = !in_time;
        Err(Box::new(failure))
    };
    verdict.unwrap_or_else(missing).map_err(|failure| Box::new(Failure { output, ..*failure }))
}

/// Why a process may have ended before its time.
fn cause_of_end(status: &str, output: &str) -> &'static str {
    if output.contains("has overflowed its stack") {
        "your code overflowed the stack: does something call itself without an end?"
    } else if status.contains("exit") {
        "your code ended the process (std::process::exit): nobody who submits a job expects that"
    } else if status.contains("SIGABRT") {
        "your code aborted the process: std::process::abort, or a panic in a destructor during a panic"
    } else {
        "your code ended the process, overflowed the stack, or panicked in a destructor during a panic"
    }
}

fn end(child: &mut Child, in_time: bool) -> String {
    if !in_time {
        let _ = child.kill(); // it may have ended just now
    }
    child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
}

/// Reads what a child writes, to the end.
struct Reader {
    kept: Arc<Mutex<Vec<u8>>>,
    thread: thread::JoinHandle<()>,
}

impl Reader {
    /// `hears` is told whenever something came, and dropped at the end.
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
        Self { kept, thread }
    }

    /// Without the end, only what is there now: a process that the child has started may hold the pipe open.
    fn text(self, to_the_end: bool) -> String {
        if to_the_end {
            let _ = self.thread.join(); // it does not panic
        }
        String::from_utf8_lossy(&self.kept.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// What is left when the lines of the test runner, of shuttle and of ourselves are taken away.
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

// ----- the child -----

/// What the parent has written to this process' standard input. A report without it is not ours: the learner's code can
/// print, too. It is read before any of that code runs.
static NONCE: OnceLock<String> = OnceLock::new();

pub(crate) fn round() -> u64 {
    std::env::var(ROUND).ok().and_then(|round| round.parse().ok()).unwrap_or(0)
}

/// The proof runs several properties in one process, which is watched once.
static WATCHED: Once = Once::new();

/// Runs the property once. The hook has reported every panic but those that are meant to be: they may not come out here.
pub(crate) fn run_once(property: &impl Fn()) {
    if panic::catch_unwind(panic::AssertUnwindSafe(property)).is_err() {
        recorder::fail_escaped();
    }
}

/// Prepares this process to run one property of the file whose text is `source`: whatever goes wrong from here on ends in
/// a report. A file that must not be run is reported at once.
pub(crate) fn begin(source: &str, deadline: Duration) {
    NONCE.get_or_init(|| std::io::read_to_string(std::io::stdin()).unwrap_or_default());
    if let Some(refusal) = refusal(source) {
        report_and_exit(&Err(Box::new(refusal)));
    }
    WATCHED.call_once(|| {
        install_hook(); // once: loom's coroutines put theirs in front of it, which keeps their own panics from it
        drop(thread::spawn(move || watch(deadline)));
    });
}

/// A learner's file that names what it must not does not even compile (its build script sees to it). The proof compiles
/// answers without it.
fn refusal(source: &str) -> Option<Failure> {
    let refused = Source::of(source).refused();
    let seen: Vec<String> = refused.iter().map(ToString::to_string).collect();
    let promise = "The answer takes its locks and threads from crate::sync.";
    (!seen.is_empty()).then(|| Failure::new(promise, &seen.join("\n"), WHY, Schedule::default()))
}

/// Ends the property when it has had its time: so much of the processor's, or so long in which nothing happened. A clock
/// on the wall would do on a machine with nothing else to do; on others, right answers would be late.
fn watch(deadline: Duration) {
    let (mut idle, mut in_all, mut seen) = (Duration::ZERO, Duration::ZERO, recorder::progress());
    let begun = ProcessTime::try_now().ok();
    let mut busy_before = Duration::ZERO; // when something happened last
    loop {
        thread::sleep(TICK);
        in_all += TICK;
        let now = recorder::progress();
        let busy = begun.and_then(|begun| begun.try_elapsed().ok()).unwrap_or_default();
        if now == seen {
            idle += TICK;
        } else {
            (idle, seen, busy_before) = (Duration::ZERO, now, busy);
        }
        if busy >= deadline || idle >= deadline || in_all >= 10 * deadline {
            // Threads that wait compute nothing; one that runs gets at least a little of a busy machine.
            recorder::fail_out_of_time(
                deadline,
                busy >= deadline || busy.saturating_sub(busy_before) >= COMPUTES,
            );
        }
        println!("{ALIVE}");
    }
}

/// A panic ends the property, where it happens.
pub(crate) fn install_hook() {
    panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or("(a panic whose payload is not text)");
        let begins = |words: [&str; 2]| words.iter().any(|words| message.starts_with(words));
        if begins(["deadlock! blocked tasks", "deadlock; threads = "]) {
            recorder::fail_hung("nobody can go on"); // what shuttle and loom say of it
        }
        if begins(["exceeded max_steps bound", "Model exceeded maximum number of branches"]) {
            recorder::fail_hung("somebody runs on and on");
        }
        #[cfg(feature = "memory")]
        if message.starts_with("Causality violation") {
            crate::memory::fail_raced();
        }
        recorder::fail_panicked(message, info.location());
    }));
}

/// Writes the report and ends the process. If two threads have something to report, the first one counts.
pub fn report_and_exit(verdict: &Verdict) -> ! {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if REPORTED.swap(true, Ordering::Relaxed) {
        loop {
            thread::park();
        }
    }
    let json = serde_json::to_string(verdict).expect("strings and numbers");
    let mut stdout = std::io::stdout().lock();
    let nonce = NONCE.get().map_or("", String::as_str);
    let written = writeln!(stdout, "{REPORT}{nonce} {json}").and_then(|()| stdout.flush());
    exit(i32::from(verdict.is_err() || written.is_err()))
}
