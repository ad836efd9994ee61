//! The first signal asks the program to stop, through a token. The second signal ends the process at
//! once, with the status 128 plus the signal's number: 130, 143 or 129.
//!
//! The signals are Ctrl-C (SIGINT), SIGTERM and, if the program [handles](crate::hears_hangup) it,
//! SIGHUP.

use crate::output::say;
use crate::status::ended;
use anyhow::Context;
use executor::{CancelReason, CancelToken};
use std::process::{self, ExitCode};
use std::sync::Arc;
use std::thread;

/// Runs a program with a token that [signals cancel](stopped_by_signals). An error is printed as a
/// sentence, and the exit status is `failed`.
pub fn run(
    name: &'static str,
    failed: u8,
    still: &'static str,
    program: impl FnOnce(&CancelToken) -> anyhow::Result<ExitCode>,
) -> ExitCode {
    ended(name, failed, stopped_by_signals(name, still).and_then(|stop| program(&stop)))
}

/// Returns a token that the first signal cancels. At the first signal the program also says on standard error
/// what it is `still` doing.
///
/// # Errors
/// Returns an error if the process already handles signals.
pub fn stopped_by_signals(name: &'static str, still: &'static str) -> anyhow::Result<CancelToken> {
    let stop = CancelToken::new();
    // The message is written on a separate thread: a write to a stopped terminal blocks, and must
    // not delay the second signal.
    let at_first = move || {
        thread::spawn(move || say(format_args!("{name}: {still}; the same signal again ends it at once")));
    };
    stop_on_signals_and(&stop, at_first, || ())?;
    Ok(stop)
}

/// Makes the first signal cancel `stop`, and prints nothing.
///
/// # Errors
/// Returns an error if the process already handles signals.
pub fn stop_on_signals(stop: &CancelToken) -> anyhow::Result<()> {
    stop_on_signals_and(stop, || (), || ())
}

/// Makes the first signal cancel `stop` and call `at_first`, and makes the second signal call `at_last`
/// and end the process. If `stop` was already cancelled for another reason, the next signal counts as
/// the second signal.
///
/// # Errors
/// Returns an error if the process already handles signals.
pub fn stop_on_signals_and(
    stop: &CancelToken,
    at_first: impl Fn() + Send + Sync + 'static,
    at_last: impl Fn() + Send + Sync + 'static,
) -> anyhow::Result<()> {
    let stop = stop.clone();
    on_signals(move |status| {
        if !stop.cancel_because(CancelReason::new("a signal asked the program to stop")) {
            at_last();
            process::exit(status);
        }
        at_first();
    })
}

/// Calls `act` at each signal, with the exit status that a program has if the signal ends it. Ctrl-C and
/// the other signals have a thread each, so that a call for one signal does not delay a call for
/// another.
///
/// # Errors
/// Returns an error if the process already handles signals, or the system gives no thread.
pub fn on_signals(act: impl Fn(i32) + Send + Sync + 'static) -> anyhow::Result<()> {
    const SIGINT: i32 = 2;
    let act = Arc::new(act);
    let at_ctrl_c = Arc::clone(&act);
    ctrlc::set_handler(move || at_ctrl_c(128 + SIGINT)).context("signals cannot be handled")?;
    #[cfg(unix)]
    on_other_signals(act).context("signals cannot be handled")?;
    Ok(())
}

/// `ctrlc` could also handle the other signals. But `ctrlc` does not tell which signal arrived, and
/// it handles SIGHUP even if that signal is ignored.
#[cfg(unix)]
fn on_other_signals(act: Arc<impl Fn(i32) + Send + Sync + 'static>) -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGTERM};
    let hangup = crate::hears_hangup().then_some(SIGHUP);
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM].into_iter().chain(hangup))?;
    let listen = move || signals.forever().for_each(|signal| act(128 + signal));
    thread::Builder::new().name("signals".to_owned()).spawn(listen).map(drop)
}
