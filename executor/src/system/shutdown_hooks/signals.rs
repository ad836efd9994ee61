//! The handlers of signals. The first signal sets a flag and wakes the timekeeper. The second signal ends the
//! process.

use std::io;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

pub(super) use self::system::Notify;
use crate::sync::Arc;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The record of the signals: which signal has come, and whether the next signal ends the process.
pub(super) struct Signals {
    asked: Arc<AtomicBool>,
    number: Arc<AtomicUsize>,
    timekeeper: Notify,
}

impl Signals {
    /// Makes the record of the signals, and the notification for which the timekeeper waits.
    pub(super) fn new() -> io::Result<(Self, Notify)> {
        let (timekeeper, notified) = Notify::pair()?;
        Ok((Self { asked: Arc::default(), number: Arc::default(), timekeeper }, notified))
    }

    // ANCHOR: catch
    /// Makes SIGINT and SIGTERM wake the timekeeper from now on. Catching the signals cannot be undone.
    pub(super) fn catch(&self) -> io::Result<()> {
        for signal in [SIGINT, SIGTERM] {
            // For each signal, the handlers run in the order of these calls. The first signal finds the flag
            // unset and sets it; the next signal finds the flag set.
            flag::register_usize(signal, Arc::clone(&self.number), signal.unsigned_abs() as usize)?;
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&self.asked))?;
            flag::register(signal, Arc::clone(&self.asked))?;
            self.timekeeper.notify_on(signal)?;
        }
        if self.number().is_some() {
            self.timekeeper.notify(); // perhaps a signal came between its two handlers, so notify for it
        }
        Ok(())
    }
    // ANCHOR_END: catch

    /// Records that the shutdown has begun, so that the next signal ends the process. Wakes the timekeeper.
    pub(super) fn begun(&self) {
        self.asked.store(true, Ordering::Release); // the handler sets the flag in the same way
        self.timekeeper.notify();
    }

    /// Returns the number of the signal that has woken the timekeeper, or `None` if no signal has come.
    pub(super) fn number(&self) -> Option<i32> {
        // Acquire: pairs with the store that the handler makes before the notification.
        let number = self.number.load(Ordering::Acquire);
        i32::try_from(number).ok().filter(|&number| number != 0)
    }
}

/// One end of a pair of sockets: a handler writes to one end, and a thread reads from the other end.
#[cfg(unix)]
mod system {
    use std::io::{self, Read, Write};
    use std::os::unix::net::UnixStream;

    use signal_hook::low_level::pipe;

    pub(in crate::system::shutdown_hooks) struct Notify(UnixStream);

    impl Notify {
        pub(super) fn pair() -> io::Result<(Self, Self)> {
            let (writer, reader) = UnixStream::pair()?;
            Ok((Self(writer), Self(reader)))
        }

        pub(in crate::system::shutdown_hooks) fn wait(mut self) {
            let _ = self.0.read_exact(&mut [0]);
        }

        pub(super) fn notify_on(&self, signal: i32) -> io::Result<()> {
            pipe::register(signal, self.0.try_clone()?).map(drop)
        }

        /// Writes one byte. The socket has room for thousands of bytes, and this function is called only a
        /// few times, so the write does not block.
        pub(super) fn notify(&self) {
            let _ = (&self.0).write(&[0]);
        }
    }
}

/// A flag that the thread polls, because on Windows a handler may do even less than on Unix.
#[cfg(not(unix))]
mod system {
    use std::io;

    use signal_hook::flag;

    use crate::sync::atomic::{AtomicBool, Ordering};
    use crate::sync::{Arc, Duration, thread};

    const LOOK: Duration = Duration::from_millis(100);

    pub(in crate::system::shutdown_hooks) struct Notify(Arc<AtomicBool>);

    impl Notify {
        #[expect(clippy::unnecessary_wraps, reason = "as on Unix, where it can fail")]
        pub(super) fn pair() -> io::Result<(Self, Self)> {
            let is_notified = Arc::new(AtomicBool::new(false));
            Ok((Self(Arc::clone(&is_notified)), Self(is_notified)))
        }

        pub(in crate::system::shutdown_hooks) fn wait(self) {
            while !self.0.load(Ordering::Acquire) {
                thread::sleep(LOOK);
            }
        }

        pub(super) fn notify_on(&self, signal: i32) -> io::Result<()> {
            flag::register(signal, Arc::clone(&self.0)).map(drop)
        }

        pub(super) fn notify(&self) {
            self.0.store(true, Ordering::Release);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::sync::{Duration, thread};
    use std::sync::mpsc;

    #[test]
    fn a_signal_that_comes_before_it_can_wake_the_timekeeper_is_not_lost() {
        let (signals, notified) = Signals::new().unwrap();
        signals.number.store(15, Ordering::Release); // a handler that cannot notify yet does only this
        signals.catch().unwrap();
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            notified.wait();
            tell.send(())
        });
        assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(()));
    }
}
