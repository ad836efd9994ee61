//! The work of the child processes. Without the environment variable that the parent sets, the tests in
//! this file do nothing.

use crate::fates::{rounds, run};
use crate::place::{LONG, line, numbered, write, write_all};
use executor::shutdown_hooks::ShutdownHooks;
use logservice::sink::{FileSink, StderrSink, StdoutSink};
use logservice::{Durability, Level, LogService, Record, Sink};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::env;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

#[test]
#[ignore = "a process of its own"]
fn does_what_it_is_told() {
    let Some(log) = env::var_os("CHILD_LOG").map(PathBuf::from) else { return };
    match &*env::var("CHILD_DOES").unwrap() {
        "holds" => holds(&log),
        "is_refused" => is_refused(&log),
        "writes" => writes(&log),
        "changes_its_directory" => changes_its_directory(&log),
        "is_limited" => write_limited(&log, u64::MAX, || {}),
        "is_limited_and_rotated" => write_limited(&log, 120, || {}),
        "is_limited_and_moved" => {
            write_limited(&log, u64::MAX, || fs::rename(&log, log.with_file_name("moved")).unwrap());
        }
        "is_limited_and_added_to" => write_limited(&log, u64::MAX, || {
            limit(None);
            fs::File::options().append(true).open(&log).unwrap().write_all(b"x").unwrap();
        }),
        "has_random_limits" => (0..rounds()).for_each(|seed| run(seed, &limit)),
        "writes_to_stderr" => writes_to_stderr(),
        "writes_to_stdout" => writes_to_stdout(StdoutSink::new()),
        "writes_to_dev_stdout" => writes_to_stdout(FileSink::builder("/dev/stdout").open().unwrap()),
        "cannot_rotate" => cannot_rotate(&log),
        "reopens" => reopens(&log),
        other => panic!("nothing is called {other}"),
    }
}

/// A format that writes only the message.
fn bare(record: &Record<'_>, _: usize, line: &mut String) {
    *line += &record.message.to_string();
}

fn say(what: &str) {
    println!("{what}");
    std::io::stdout().flush().unwrap();
}

fn holds(log: &Path) {
    let mut sink = FileSink::builder(log).open().unwrap();
    write(&mut sink, "one\n");
    say("ready");
    loop {
        std::thread::park();
    }
}

fn is_refused(log: &Path) {
    let error = FileSink::builder(log).open().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    say("refused");
}

fn writes(log: &Path) {
    let mut sink = FileSink::builder(log).rotate_at_bytes(5_000).keep(99_999).open().unwrap();
    for number in 0.. {
        write(&mut sink, &line(number));
        say(&format!("taken {}", number + 1));
    }
}

fn changes_its_directory(log: &Path) {
    env::set_current_dir(log.parent().unwrap()).unwrap();
    let mut sink = FileSink::builder("app.log").open().unwrap();
    write(&mut sink, "one\n");
    fs::rename("app.log", "moved").unwrap();
    env::set_current_dir("/").unwrap();
    sink.reopen().unwrap();
    write(&mut sink, "two\n");
}

fn limit(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
}

/// Writes lines with a size limit of a hundred bytes, and calls `repair` after the limit has been reached
/// twice.
fn write_limited(log: &Path, rotate_at: u64, repair: impl Fn()) {
    let mut sink = FileSink::builder(log).rotate_at_bytes(rotate_at).open().unwrap();
    limit(Some(100));
    let mut failures = 0;
    write_all(&mut sink, numbered(0..10).as_bytes(), |error| {
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        failures += 1;
        if failures == 2 {
            repair();
            limit(None);
        }
    });
    assert_eq!(failures, 2);
    sink.sync().unwrap();
}

fn writes_to_stderr() {
    let (mut is_blocked, mut is_gone) = (false, false);
    let lines = numbered(0..10_000);
    let (mut sink, mut taken) = (StderrSink::new(), 0);
    while taken < lines.len() && !is_gone {
        match sink.write(&lines.as_bytes()[taken..]) {
            Ok(more) => taken += more,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if !std::mem::replace(&mut is_blocked, true) {
                    say("blocked");
                }
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::BrokenPipe);
                is_gone = true;
                say("reader is gone");
            }
        }
    }
}

fn writes_to_stdout(mut sink: impl Sink) {
    say("");
    write_all(&mut sink, numbered(0..1_000).as_bytes(), |_| {});
}

fn cannot_rotate(path: &Path) {
    let sink = FileSink::builder(path).rotate_at_bytes(10).keep(1).open().unwrap();
    let log = LogService::builder().format(bare).start(sink).unwrap();
    for _ in 0..20 {
        log.say(Level::Info, "", format_args!("line")).unwrap();
        log.flush(Durability::System, LONG).unwrap();
    }
}

fn reopens(path: &Path) {
    let hooks = ShutdownHooks::builder().install().unwrap();
    let log = LogService::builder().format(bare).start(FileSink::builder(path).open().unwrap()).unwrap();
    log.reopen_on_hangup().unwrap();
    log.stop_at_shutdown(&hooks).unwrap();
    let handle = log.handle();
    hooks
        .add("last words", move |_| {
            handle.say(Level::Info, "", format_args!("end")).unwrap();
            say("hook ran");
        })
        .unwrap();
    log.say(Level::Info, "", format_args!("begin")).unwrap();
    log.flush(Durability::Disk, LONG).unwrap();
    say("ready");
    loop {
        std::thread::park();
    }
}
