//! Writes down what each thread does, in the [record](crate::record) of the run.
//!
//! [`wrappers`] has what the learner's code does to its locks and threads, [`property`] what the property
//! does, and [`judged`] what a property does whose answer is a test.

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
