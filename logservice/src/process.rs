//! Detects whether the process is still the process that started a service.
//!
//! `fork` copies a process, but only one of its threads: the child has the service's buffers, but no writer.
//! The child gets the queue's lock in its state at the time of the fork: if another thread held the lock, no
//! thread of the child can release the lock. So each call checks, before it takes any lock, whether the
//! process was forked. Asking the system for the process ID would cost as much as logging the line. So a
//! function that the C library calls in each child increases a counter, and the check needs only one load
//! from memory.
#![allow(unsafe_code, reason = "what is called in a child process is registered with the C library")]

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// The number of forks between the first process that registered the counter and this process.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The process that started a service.
#[derive(Clone, Copy)]
pub(crate) struct Home(u32);

impl Home {
    /// # Errors
    /// Fails if the system has no memory for the registration.
    pub(crate) fn here() -> io::Result<Self> {
        static ARE_COUNTED: AtomicBool = AtomicBool::new(false);
        // If two threads register at the same time, each fork is counted twice; this causes no error.
        if !ARE_COUNTED.load(Relaxed) {
            count_forks()?;
            ARE_COUNTED.store(true, Relaxed);
        }
        Ok(Self(FORKS.load(Relaxed)))
    }

    /// Returns true if the current process is a child of the process that started the service.
    ///
    /// Relaxed: at first a child has only one thread, and this thread has increased the counter.
    pub(crate) fn is_left(self) -> bool {
        FORKS.load(Relaxed) != self.0
    }
}

#[cfg(unix)]
fn count_forks() -> io::Result<()> {
    extern "C" fn in_the_child() {
        FORKS.fetch_add(1, Relaxed);
    }
    // SAFETY: the function exists for the lifetime of the process and does not unwind. In a child of a
    // process with threads, the function only adds to an atomic; this is allowed in such a child.
    match unsafe { libc::pthread_atfork(None, None, Some(in_the_child)) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix, where it can fail")]
fn count_forks() -> io::Result<()> {
    Ok(())
}
