//! Tests processes that end while their sink accepts nothing: each process must end in time, and the message of
//! a panic must be on standard error.

use crate::place::{LONG, Place, wait_until};
use executor::shutdown_hooks::ShutdownHooks;
use logservice::facade::log_panics;
use logservice::sink::FileSink;
use logservice::{Durability, FlushError, Level, LogService, NotLogged, Overflow, Sink};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use signal_hook::consts::SIGTERM;
use signal_hook::low_level::raise;
use std::env;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

const SINKS: [&str; 4] =
    ["a full disk", "a pipe without a reader", "a write that hangs", "a sync that hangs"];

/// The ways to end a process, each with the number of times that the process's message must be on standard
/// error.
const ENDS: [(&str, usize); 9] = [
    ("main panics", 1),
    ("a worker panics", 1),
    ("a destructor logs while main panics", 1),
    ("a worker panics twice", 2),
    ("a value panics", 1),
    ("the sink panics", 1),
    ("stop", 0),
    ("drop", 0),
    ("a signal, with hooks", 0),
];

const POLICIES: [Overflow; 4] =
    [Overflow::Block, Overflow::BlockFor(LONG), Overflow::DropNewest, Overflow::DropOldest];

const STOP_WITHIN: Duration = Duration::from_millis(100);

/// The time limit for each process. The slowest process needs three seconds: its worker panics twice, and
/// waits for a second each time.
const IN_TIME: Duration = Duration::from_secs(20);

const MESSAGE: &str = "the thing that matters";

struct Process {
    what: String,
    child: Child,
    messages: usize,
    began: Instant,
    /// The reading end of a pipe.
    _reader: Option<File>,
    _place: Place,
}

impl Process {
    fn start(sink: &str, (end, messages): (&str, usize), policy: usize) -> Self {
        let place = Place::new();
        let reader = (sink == "a pipe without a reader").then(|| full_pipe(&place));
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "--ignored", "--nocapture", "ends::a_process_of_its_own"]);
        command.env("ENDS_LOG", &place.log).env("ENDS_SINK", sink).env("ENDS_BY", end);
        command.env("ENDS_POLICY", policy.to_string()).env("RUST_BACKTRACE", "0");
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let what = format!("{sink}, {end}, {:?}", POLICIES[policy]);
        Self { what, child, messages, began: Instant::now(), _reader: reader, _place: place }
    }

    /// Returns a description of what is wrong with the process's end, if anything is wrong.
    fn fault(mut self) -> Option<String> {
        while self.child.try_wait().unwrap().is_none() {
            if self.began.elapsed() > IN_TIME {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                return Some(format!("{}: it does not end", self.what));
            }
            thread::sleep(Duration::from_millis(5));
        }
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let (messages, losses) = (said.matches(MESSAGE).count(), said.matches("unwritten").count());
        let is_right = messages == self.messages && losses <= 1;
        (!is_right).then(|| format!("{}: {messages} messages, {losses} losses in:\n{said}", self.what))
    }
}

fn full_pipe(place: &Place) -> File {
    mkfifoat(CWD, &place.log, Mode::RUSR | Mode::WUSR).unwrap();
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut both = File::options().read(true).write(true).custom_flags(flags).open(&place.log).unwrap();
    while both.write(&[b'\n'; 4096]).is_ok() {}
    both
}

#[test]
fn no_end_of_a_process_waits_for_a_sink_and_what_it_panicked_with_is_told() {
    let all = SINKS.iter().flat_map(|sink| ENDS.map(|end| (*sink, end, 0)));
    let policies = SINKS.iter().flat_map(|sink| [1, 2, 3].map(|policy| (*sink, ENDS[1], policy)));
    let processes: Vec<_> =
        all.chain(policies).map(|(sink, end, policy)| Process::start(sink, end, policy)).collect();
    let faults: Vec<_> = processes.into_iter().filter_map(Process::fault).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

// ----- what the processes do -----

/// True if the writer is in a call that does not return.
static IS_STUCK: AtomicBool = AtomicBool::new(false);

/// A sink that never accepts a line.
struct Stuck {
    file: Option<FileSink>,
    takes_lines: bool,
    panics_first: bool,
}

impl Stuck {
    fn new(sink: &str, end: &str) -> Self {
        let file = match sink {
            "a full disk" => Some("/dev/full".into()),
            "a pipe without a reader" => Some(variable("ENDS_LOG")),
            _ => None,
        };
        let file = file.map(|path| FileSink::builder(path).open().unwrap());
        Self { file, takes_lines: sink == "a sync that hangs", panics_first: end == "the sink panics" }
    }
}

impl Sink for Stuck {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        assert!(!std::mem::take(&mut self.panics_first), "{MESSAGE}");
        IS_STUCK.store(!self.takes_lines, Relaxed);
        match &mut self.file {
            Some(file) => file.write(lines),
            None if self.takes_lines => Ok(lines.len()),
            None => hang(),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        IS_STUCK.store(true, Relaxed);
        hang()
    }

    fn name(&self) -> String {
        "what is stuck".into()
    }
}

fn hang() -> ! {
    loop {
        thread::park();
    }
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Logs until the writer is stuck and the buffer has no room.
fn fill(service: &LogService) {
    service.say(Level::Trace, "", format_args!("the first")).unwrap();
    assert_eq!(service.flush(Durability::Disk, Duration::from_millis(1)), Err(FlushError::TimedOut));
    wait_until("the writer is stuck", || IS_STUCK.load(Relaxed));
    while service.say(Level::Trace, "", format_args!("{:040}", 0)) != Err(NotLogged::Full) {}
}

struct Panics;

impl fmt::Display for Panics {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("{MESSAGE}")
    }
}

/// A value that calls a function when it is dropped.
struct Last<F: FnMut()>(F);

impl<F: FnMut()> Drop for Last<F> {
    fn drop(&mut self) {
        self.0();
    }
}

#[test]
#[ignore = "a process of its own"]
fn a_process_of_its_own() {
    let (sink, end) = (variable("ENDS_SINK"), variable("ENDS_BY"));
    let Ok(policy) = variable("ENDS_POLICY").parse::<usize>() else { return };
    let has_hooks = end == "a signal, with hooks";
    let hooks = has_hooks.then(|| ShutdownHooks::builder().deadline(5 * STOP_WITHIN).install().unwrap());
    let builder = LogService::builder().longest_line(128).capacity(4096).overflow_of_all(POLICIES[policy]);
    // After a stop has given up, a drop of the service does not wait again.
    let builder = builder.stop_within(if end == "stop" { LONG } else { STOP_WITHIN });
    let builder = builder.overflow(Level::Trace, Overflow::DropNewest);
    let service = builder.start(Stuck::new(&sink, &end)).unwrap();
    log_panics(service.handle());
    fill(&service);
    let log = service.handle();
    match end.as_str() {
        "main panics" => panic!("{MESSAGE}"),
        "a worker panics" => drop(thread::spawn(|| panic!("{MESSAGE}")).join()),
        "a destructor logs while main panics" => {
            let _last = Last(|| _ = log.say(Level::Info, "", format_args!("in a destructor")));
            panic!("{MESSAGE}");
        }
        "a worker panics twice" => {
            let twice = || {
                let _last = Last(|| panic!("{MESSAGE}"));
                panic!("{MESSAGE}");
            };
            drop(thread::spawn(twice).join());
        }
        "a value panics" => {
            let worker = thread::spawn(move || log.say(Level::Info, "", format_args!("{Panics}")));
            service.stop(STOP_WITHIN);
            let _ = worker.join();
        }
        "the sink panics" | "drop" => {}
        "stop" => drop(service.stop(STOP_WITHIN)),
        _ => {
            service.stop_at_shutdown(&hooks.unwrap()).unwrap();
            raise(SIGTERM).unwrap();
            hang();
        }
    }
}
