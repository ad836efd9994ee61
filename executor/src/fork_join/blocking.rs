//! Stand-ins for workers that wait for something outside the pool.

use super::worker::here;
use crate::panics::OnDrop;

/// Runs `f`, a closure that may block for a long time: on a file, a socket, a lock or a child process.
/// Meanwhile another worker, the *stand-in*, can take the place of this worker, so that the number of working
/// threads stays the same.
///
/// A worker that waits in a call of this crate for a task of its pool needs no stand-in, because the worker
/// helps to run that task. The pool has at most as many stand-ins as its
/// [`spare_threads`](super::ForkJoinBuilder::spare_threads) says. When a stand-in is no longer needed, the
/// stand-in ends its present job and then sleeps. On a thread that is not a worker, this function only calls
/// `f`.
///
/// ```
/// use executor::fork_join::{blocking, join};
///
/// let (text, number) = join(|| blocking(|| std::fs::read_to_string("Cargo.toml")), || 6 * 7);
/// assert!(text.is_ok() && number == 42);
/// ```
///
/// # Blocking
/// Blocks until `f` has returned. Meanwhile the stand-in runs jobs in place of the blocked worker.
#[doc(alias = "ManagedBlocker")]
#[doc(alias = "managedBlock")]
pub fn blocking<R>(f: impl FnOnce() -> R) -> R {
    let Some(here) = here() else { return f() };
    here.blocks.set(here.blocks.get() + 1);
    if here.blocks.get() == 1 {
        here.registry.blocks(); // one stand-in, even for nested calls
    }
    let _goes_on = OnDrop(|| {
        here.blocks.set(here.blocks.get() - 1);
        if here.blocks.get() == 0 {
            here.registry.goes_on();
        }
    });
    f()
}
