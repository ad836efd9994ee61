//! A signal as the wish to stop, and an end of all patience.
//!
//! What happens on the way from a signal to the end of the process is the library's: [`executor::shutdown_hooks`].

use executor::shutdown_hooks::{ShutdownGuard, ShutdownHooks};
use executor::{CancelToken, Promise};
use std::time::Duration;

// ANCHOR: stop_on_signal
/// Cancels `stop` when SIGINT or SIGTERM arrives. Once `stop` is cancelled, whoever did it, another such signal ends
/// the process at once, with the status 128 + its number; and after `longest` the process ends with `status_at_deadline`,
/// whatever its threads wait for.
///
/// The guard has to live until the end of `main`. The promise is to be completed when everything is served, with the exit
/// status.
///
/// # Errors
///
/// When the system gives no thread, or no descriptor.
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
        // An error if the program could not even begin.
        if let Ok(status) = status.join() {
            shutdown.set_status(status.into());
        }
    })?;
    let hooks = ShutdownHooks::clone(&shutdown);
    let begin = move || {
        hooks.begin();
    };
    stop.on_cancel(begin).keep(); // it may be asked otherwise than by a signal
    Ok((shutdown, outcome))
}
// ANCHOR_END: stop_on_signal
