//! A signal as the wish to stop, and an end of all patience.
//!
//! A signal interrupts a thread anywhere, perhaps while it holds a lock. So its handler may do next to nothing: here it
//! raises a flag and rings a bell, and a thread that sleeps until the bell rings does the rest.

use bell::bell;
use executor::{CancelToken, Registration};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{io, process, thread};

// ANCHOR: stop_on_signal
/// Cancels `stop` when SIGINT or SIGTERM arrives. Once `stop` is cancelled, whoever did it, another such signal ends
/// the process at once, with the status 128 + its number; and after `longest` the process ends with `status`, whatever
/// its threads wait for.
///
/// What it gives back has to be kept until the end.
///
/// # Errors
///
/// When the system gives no thread, or no descriptor.
pub fn stop_on_signal(stop: &CancelToken, longest: Duration, status: i32) -> io::Result<Registration> {
    let asked = Arc::new(AtomicBool::new(false));
    let (bell, rope) = bell()?;
    for signal in [SIGINT, SIGTERM] {
        // Run in this order: the first signal finds the flag down and raises it, the next finds it up.
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
        rope.pull_on(signal)?;
    }
    let armed = stop.on_cancel(move || {
        asked.store(true, Ordering::Relaxed);
        rope.pull();
    });
    let stop = stop.clone();
    thread::Builder::new().name("signals".into()).spawn(move || {
        bell.wait();
        let deadline = Instant::now() + longest;
        stop.cancel();
        thread::sleep(deadline.saturating_duration_since(Instant::now()));
        process::exit(status);
    })?;
    Ok(armed)
}
// ANCHOR_END: stop_on_signal

/// A socket that a signal handler may write to, and from which a thread reads.
#[cfg(unix)]
mod bell {
    use signal_hook::low_level::pipe;
    use std::io::{self, Read, Write};
    use std::os::unix::net::UnixStream;

    pub(super) struct Bell(UnixStream);
    pub(super) struct Rope(UnixStream);

    pub(super) fn bell() -> io::Result<(Bell, Rope)> {
        let (bell, rope) = UnixStream::pair()?;
        Ok((Bell(bell), Rope(rope)))
    }

    impl Bell {
        pub(super) fn wait(mut self) {
            let _ = self.0.read_exact(&mut [0]);
        }
    }

    impl Rope {
        pub(super) fn pull_on(&self, signal: i32) -> io::Result<()> {
            pipe::register(signal, self.0.try_clone()?).map(drop)
        }

        pub(super) fn pull(&self) {
            let _ = (&self.0).write(&[0]);
        }
    }
}

/// Windows lets a signal handler do even less, so the thread looks at a flag from time to time.
#[cfg(not(unix))]
mod bell {
    use signal_hook::flag;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;
    use std::{io, thread};

    const LOOK: Duration = Duration::from_millis(100);

    pub(super) struct Bell(Arc<AtomicBool>);
    pub(super) struct Rope(Arc<AtomicBool>);

    pub(super) fn bell() -> io::Result<(Bell, Rope)> {
        let rung = Arc::new(AtomicBool::new(false));
        Ok((Bell(Arc::clone(&rung)), Rope(rung)))
    }

    impl Bell {
        pub(super) fn wait(self) {
            while !self.0.load(Ordering::Relaxed) {
                thread::sleep(LOOK);
            }
        }
    }

    impl Rope {
        pub(super) fn pull_on(&self, signal: i32) -> io::Result<()> {
            flag::register(signal, Arc::clone(&self.0)).map(drop)
        }

        pub(super) fn pull(&self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
