//! Records the actions of each thread, in the [record](crate::record) of the run.
//!
//! [`wrappers`] records how the learner's code uses its locks and threads, and [`property`] records the steps
//! of the property. [`judged`] is for a property whose answer is a test.

mod wrappers;
mod property;
mod judged;

pub(crate) use crate::record::{LOCK_TAKEN, MESSAGE, ThreadKey, begin, begin_run, register};
pub use judged::{accepts, rejects};
pub(crate) use judged::{has_still_to_fail, is_for_the_joiner, never_failed};
pub(crate) use property::{Census, census, expecting};
pub use property::{
    aside, at_once, begin_trial, expect, live_threads, locks_found_taken, notifications, step, waits_so_far,
};
#[cfg(feature = "memory")]
pub(crate) use wrappers::{Place, did_in_memory};
pub(crate) use wrappers::{
    blocking, did, ended, joined, joining, locked, locking, locking_again, new_condvar, new_lock, notified,
    sleeping, spawned, unlocked, waiting, woke, woken,
};
