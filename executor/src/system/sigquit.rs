//! A dump that a user requests with the signal SIGQUIT, as with Java's virtual machine.
//!
//! # On the signal path
//!
//! A signal can interrupt a thread anywhere, even while it holds a lock of a pool. So the handler of the
//! signal only writes a byte to a socket. A thread that sleeps in a read of that socket makes the dump.
//!
//! The thread does not use [`std::io::stderr`], because standard error has a lock, and a stuck task may hold
//! that lock. The thread writes to a copy of standard error's file descriptor.
//!
//! # Invariants
//!
//! 1. The process has at most one thread for these dumps, even if the program calls [`dump_at_sigquit`] many
//!    times.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use signal_hook::consts::SIGQUIT;
use signal_hook::low_level::pipe;

use crate::dump::dump;
use crate::sync::process::{PoisonError, RwLock};
use crate::sync::thread;

/// True if the thread for the dumps has been started.
static IS_SET_UP: RwLock<bool> = RwLock::new(false);

/// Makes each SIGQUIT write a [dump](crate::dump()) to standard error; the signal no longer ends the process.
/// Both `kill -QUIT` and Ctrl-\\ in a terminal send a SIGQUIT.
///
/// Call the function once, early in `main`; further calls have no effect. The call starts a thread that
/// sleeps until a signal comes. If signals come faster than the thread writes, the thread makes one dump for
/// several signals. The thread writes even if another thread holds the lock of [`std::io::stderr`].
///
/// ```
/// use executor::{ThreadPoolExecutor, dump_at_sigquit};
///
/// dump_at_sigquit()?;
/// assert!(dump_at_sigquit().is_ok()); // once more has no effect
/// let pool = ThreadPoolExecutor::fixed(4); // `kill -QUIT` shows what its threads do
/// # drop(pool);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// An error of the system: no thread or no socket is left, or the signal cannot be caught. After an error the
/// signal keeps its old effect, and the program may call the function again.
pub fn dump_at_sigquit() -> io::Result<()> {
    let mut is_set_up = IS_SET_UP.write().unwrap_or_else(PoisonError::into_inner);
    if !*is_set_up {
        let (by_handler, mut signals) = UnixStream::pair()?;
        let serve = move || {
            while signals.read_exact(&mut [0]).is_ok() {
                let _ = write_dump(); // standard error may be closed
            }
        };
        thread::Builder::new().name("executor-dump".to_owned()).spawn(serve)?;
        pipe::register(SIGQUIT, by_handler)?; // an error drops the socket, and so ends the thread
        *is_set_up = true;
    }
    Ok(())
}

fn write_dump() -> io::Result<()> {
    let mut stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    stderr.write_all(format!("{}\n", dump()).as_bytes())
}
