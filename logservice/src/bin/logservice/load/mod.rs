//! `logservice load`: threads that log as fast as they can, and the report about their lines.

mod args;
pub(crate) use args::LoadArgs;

mod chart;

mod report;

use anyhow::Context;
use executor::CancelToken;
use executor::shutdown_hooks::{ShutdownCause, ShutdownHooks};
use hdrhistogram::Histogram;
use logservice::{Level, LogHandle};
use report::Report;
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The text of every message, in addition to its number, so that a line has about a hundred bytes.
const TEXT: &str = "the quick brown fox jumps";

/// The time that the process may take after a signal, in addition to the time limit of the service.
const FOR_THE_REPORT: Duration = Duration::from_secs(5);

pub(crate) fn run(args: &LoadArgs) -> anyhow::Result<ExitCode> {
    let hooks = ShutdownHooks::builder().deadline(2 * args.stop_within + FOR_THE_REPORT).install()?;
    let service = args.start()?;
    let stop = CancelToken::new();
    // A signal ends the logging threads; then the load ends as usual, and the process exits with the signal's
    // status.
    let (tell_status, status) = mpsc::channel();
    let (stop_all, log, stop_within) = (stop.clone(), service.handle(), args.stop_within);
    hooks.add("report", move |shutdown| {
        stop_all.cancel();
        log.stop(stop_within); // a thread that waits for room checks no token
        shutdown.set_status(status.recv().unwrap_or(1));
    })?;

    let began = Instant::now();
    let calls = log_from_all(args, &service.handle(), &stop);
    let counts = service.stop(args.stop_within);
    let took = began.elapsed();
    let signal = match hooks.cause() {
        Some(ShutdownCause::Signal(number)) => Some(number),
        _ => None,
    };
    let report = Report { args, counts, took, calls, signal };
    let shown = if args.json { format!("{}\n", report.json()) } else { report.to_string() };
    io::stdout().write_all(shown.as_bytes()).context("the report cannot be printed")?;
    if let Some(path) = &args.svg {
        fs::write(path, chart::svg(&report)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let status = u8::from(report.lost() > 0);
    let _ = tell_status.send(status.into());
    drop(hooks); // runs the hook; after a signal it does not return
    Ok(ExitCode::from(status))
}

/// Lets the threads log until each thread has logged all of its messages, or until `stop` is cancelled.
/// Returns the durations of the threads' calls, in nanoseconds.
fn log_from_all(args: &LoadArgs, log: &LogHandle, stop: &CancelToken) -> Histogram<u64> {
    let mut calls = calls_of_nanoseconds();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..args.threads)
            .map(|thread| scope.spawn(move || log_from_one(args, thread, log, stop)))
            .collect();
        for thread in threads {
            calls += thread.join().expect("a thread that logs does not panic");
        }
    });
    calls
}

fn log_from_one(args: &LoadArgs, thread: u16, log: &LogHandle, stop: &CancelToken) -> Histogram<u64> {
    let mut calls = calls_of_nanoseconds();
    for message in 0..args.messages {
        if stop.is_cancelled() {
            break;
        }
        let began = Instant::now();
        // The service itself counts the lines that the service refuses, so the error is ignored.
        let _ = log.say(Level::Info, "load", format_args!("thread {thread} message {message:07} {TEXT}"));
        calls.saturating_record(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    calls
}

/// Returns a histogram for calls of up to a minute.
fn calls_of_nanoseconds() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("these bounds make sense")
}
