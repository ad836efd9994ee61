//! Whether a process is still the one that started a service.
//!
//! `fork` copies a process with one of its threads: the child has the service's buffers, and no writer.
//! Worse, the child has the queue's lock as it was at that moment; if another thread held it, no thread of
//! the child can release it. So this is checked for each line before any lock is taken. To ask the system for
//! the process's number would cost as much as the line. So the C library is told to count in each child, and
//! the check costs one load from memory.
#![allow(unsafe_code, reason = "what is called in a child process is registered with the C library")]

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// How many forks lie between this process and the ancestor that asked first.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The process that started a service.
#[derive(Clone, Copy)]
pub(crate) struct Home(u32);

impl Home {
    /// # Errors
    /// If the system has no memory for the registration.
    pub(crate) fn here() -> io::Result<Self> {
        static ARE_COUNTED: AtomicBool = AtomicBool::new(false);
        // If two threads register at once, each fork counts twice, which does no harm.
        if !ARE_COUNTED.load(Relaxed) {
            count_forks()?;
            ARE_COUNTED.store(true, Relaxed);
        }
        Ok(Self(FORKS.load(Relaxed)))
    }

    /// Whether the current process is a child of that process.
    ///
    /// Relaxed: a child has one thread at first, the one that has counted.
    pub(crate) fn is_left(self) -> bool {
        FORKS.load(Relaxed) != self.0
    }
}

#[cfg(unix)]
fn count_forks() -> io::Result<()> {
    extern "C" fn in_the_child() {
        FORKS.fetch_add(1, Relaxed);
    }
    // SAFETY: the function stays for as long as the process, does not unwind, and does nothing in a child of
    // a process with threads but add to an atomic, which is allowed there.
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
