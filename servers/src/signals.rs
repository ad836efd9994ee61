//! The signals that ask a stage to stop, and the deadline for the end of the process.
//!
//! The library does everything else, from the signal to the end of the process, in
//! [`executor::shutdown_hooks`]. The library does not handle SIGHUP, so this module handles SIGHUP.

use executor::shutdown_hooks::{ShutdownGuard, ShutdownHooks};
use executor::{CancelToken, Promise};
use std::time::Duration;

// ANCHOR: stop_on_signal
/// Cancels `stop` when SIGINT or SIGTERM arrives. On Linux, SIGHUP also cancels `stop`, unless the process
/// was started with SIGHUP ignored. After `stop` has been cancelled, for any reason, a further signal of
/// these kinds ends the process at once, with the status 128 plus the signal's number. After `longest` the
/// process ends with `status_at_deadline`, even if its threads are still waiting.
///
/// The guard must live until the end of `main`. When all clients are served, the caller must complete the
/// returned promise with the exit status.
///
/// # Errors
///
/// Returns an error if the system cannot start a thread or has no free descriptor.
pub fn stop_on_signal(
    stop: &CancelToken,
    longest: Duration,
    status_at_deadline: u8,
) -> anyhow::Result<(ShutdownGuard, Promise<u8>)> {
    let hooks = ShutdownHooks::builder().deadline(longest).status_at_deadline(status_at_deadline.into());
    let shutdown = hooks.install()?;
    let (outcome, status) = Promise::<u8>::new();
    let asked = stop.clone();
    shutdown.add("serve to the end", move |shutdown| {
        asked.cancel();
        // `join` fails if the program could not begin: then no status was set.
        if let Ok(status) = status.join() {
            shutdown.set_status(status.into());
        }
    })?;
    let hooks = ShutdownHooks::clone(&shutdown);
    let begin = move || {
        hooks.begin();
    };
    stop.on_cancel(begin).keep(); // not only a signal can cancel `stop`
    #[cfg(target_os = "linux")]
    hangup::stops(stop)?;
    Ok((shutdown, outcome))
}
// ANCHOR_END: stop_on_signal

/// SIGHUP means that the terminal has gone.
#[cfg(target_os = "linux")]
mod hangup {
    use executor::CancelToken;
    use signal_hook::consts::SIGHUP;
    use signal_hook::flag;
    use signal_hook::low_level::pipe;
    use std::io::{self, Read};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    /// From now on, SIGHUP cancels `stop`; if `stop` is already cancelled, SIGHUP ends the process.
    pub(super) fn stops(stop: &CancelToken) -> io::Result<()> {
        if !command_line::hears_hangup() {
            return Ok(());
        }
        let (mut reader, writer) = UnixStream::pair()?;
        let asked = Arc::new(AtomicBool::new(false));
        let (stopping, told) = (stop.clone(), Arc::clone(&asked));
        stop.on_cancel(move || told.store(true, Ordering::Release)).keep(); // as the handler does
        let listen = move || {
            if reader.read_exact(&mut [0]).is_ok() {
                stopping.cancel();
            }
        };
        thread::Builder::new().name("hang-up".to_owned()).spawn(listen)?;
        // The flag works as in the library: the first signal finds it unset and sets it; the next signal
        // finds it set.
        flag::register_conditional_shutdown(SIGHUP, 128 + SIGHUP, Arc::clone(&asked))?;
        flag::register(SIGHUP, asked)?;
        pipe::register(SIGHUP, writer)?;
        Ok(())
    }
}
