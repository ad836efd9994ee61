//! The first signal asks the program to stop, by a token. The second one ends the process at once, with the
//! status [`INTERRUPTED`].
//!
//! The signals are Ctrl-C (SIGINT), SIGTERM and SIGHUP.

use crate::output::say;
use crate::status::{INTERRUPTED, ended};
use anyhow::Context;
use executor::{CancelReason, CancelToken};
use std::process::{self, ExitCode};
use std::thread;

/// Runs a program with a token that [signals cancel](stopped_by_signals). An error becomes a sentence, and
/// the exit status `failed`.
pub fn run(
    name: &'static str,
    failed: u8,
    still: &'static str,
    program: impl FnOnce(&CancelToken) -> anyhow::Result<ExitCode>,
) -> ExitCode {
    ended(name, failed, stopped_by_signals(name, still).and_then(|stop| program(&stop)))
}

/// Returns a token that the first signal cancels. At that signal the program also says on standard error what
/// it is `still` doing.
///
/// # Errors
/// If the process handles signals already.
pub fn stopped_by_signals(name: &'static str, still: &'static str) -> anyhow::Result<CancelToken> {
    let stop = CancelToken::new();
    // On a thread of its own: a write to a stopped terminal blocks, and must not hold up the second signal.
    let at_first = move || {
        thread::spawn(move || say(format_args!("{name}: {still}; the same signal again ends it at once")));
    };
    stop_on_signals_and(&stop, at_first, || ())?;
    Ok(stop)
}

/// Makes the first signal cancel `stop`, and prints nothing.
///
/// # Errors
/// If the process handles signals already.
pub fn stop_on_signals(stop: &CancelToken) -> anyhow::Result<()> {
    stop_on_signals_and(stop, || (), || ())
}

/// Makes the first signal cancel `stop` and call `at_first`, and the second one call `at_last` and end the
/// process. Both are called on the thread that receives the signals. If something else has cancelled `stop`,
/// the next signal counts as the second one.
///
/// # Errors
/// If the process handles signals already.
pub fn stop_on_signals_and(
    stop: &CancelToken,
    at_first: impl Fn() + Send + 'static,
    at_last: impl Fn() + Send + 'static,
) -> anyhow::Result<()> {
    let stop = stop.clone();
    let on_signal = move || {
        if !stop.cancel_because(CancelReason::new("a signal asked the program to stop")) {
            at_last();
            process::exit(i32::from(INTERRUPTED));
        }
        at_first();
    };
    ctrlc::set_handler(on_signal).context("signals cannot be handled")
}
