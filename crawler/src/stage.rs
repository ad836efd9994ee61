//! What every program does around its idea: signals, output, errors as sentences, exit statuses.

use anyhow::{Context, anyhow};
use executor::{CancelReason, CancelToken};
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::num::NonZeroUsize;
use std::panic::{self, AssertUnwindSafe};
use std::process::{self, ExitCode};
use std::thread;

/// How a shell counts a process that SIGINT has ended.
pub const INTERRUPTED: u8 = 130;

/// Threads that a pool may have.
const MOST_THREADS: usize = 256;

/// Runs a program with a token that [signals cancel](stopped_by_signals). An error becomes a sentence and the exit status `failed`.
pub fn run(
    name: &'static str,
    failed: u8,
    still: &'static str,
    program: impl FnOnce(&CancelToken) -> anyhow::Result<ExitCode>,
) -> ExitCode {
    ended(name, failed, stopped_by_signals(name, still).and_then(|stop| program(&stop)))
}

/// The exit status of a program. An error becomes a sentence and the exit status `failed`.
pub fn ended(name: &str, failed: u8, program: anyhow::Result<ExitCode>) -> ExitCode {
    program.unwrap_or_else(|error| {
        say(format_args!("{name}: {error:#}"));
        ExitCode::from(failed)
    })
}

/// Prints a text to standard output. A reader that has closed it has read enough, so that is no error.
///
/// # Errors
/// If the text cannot be written for another reason, as on a full disk.
pub fn print(text: impl fmt::Display) -> anyhow::Result<()> {
    let (text, mut out) = (text.to_string(), io::stdout().lock());
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("the output cannot be written"),
    }
}

/// Prints a line to standard error, if that takes it: there is nobody who could be told that it does not.
pub fn say(line: impl fmt::Display) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// A token that the first Ctrl-C or SIGTERM cancels. It also says on standard error what is `still` being done. The second one ends the
/// process.
///
/// # Errors
/// If the process handles signals already.
pub fn stopped_by_signals(name: &'static str, still: &'static str) -> anyhow::Result<CancelToken> {
    let stop = CancelToken::new();
    let on_signal = {
        let stop = stop.clone();
        move || {
            if !stop.cancel_because(CancelReason::new("a signal asked the program to stop")) {
                process::exit(i32::from(INTERRUPTED));
            }
            // On a thread of its own: a terminal that has been stopped must not keep the second signal from being heard.
            thread::spawn(move || {
                say(format_args!("{name}: {still}; the same signal again ends it at once"));
            });
        }
    };
    ctrlc::set_handler(on_signal).context("signals cannot be handled")?;
    Ok(stop)
}

/// A number of threads on a command line.
///
/// # Errors
/// A sentence, if it is none that makes sense.
pub fn threads(written: &str) -> Result<NonZeroUsize, String> {
    match written.parse() {
        Ok(count @ 1..=MOST_THREADS) => Ok(NonZeroUsize::new(count).expect("at least one")),
        _ => Err(format!("a number from 1 to {MOST_THREADS} is wanted")),
    }
}

/// Calls something that panics if a file on the disk is not what it was written as. The panic becomes an error that says `what`.
///
/// # Errors
/// As `call`, or `what`.
pub fn guarded<T>(what: &str, call: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let ended = panic::catch_unwind(AssertUnwindSafe(call));
    panic::set_hook(hook);
    ended.unwrap_or_else(|_| Err(anyhow!("{what}")))
}
