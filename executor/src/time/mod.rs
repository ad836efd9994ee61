//! Entries that are ordered by time, and the thread that runs jobs at their deadlines.
//!
//! Deadlines wait in a [`Heap`], and so do the tasks of a
//! [`ScheduledThreadPoolExecutor`](crate::ScheduledThreadPoolExecutor). Each kind of entry has its own heap
//! and its own thread. A thread sleeps until the first entry of its heap is due. `scheduled/shared.rs` gives
//! the reason for two threads.
//!
//! [`Sightings`] computes the minimum time for which a task has run. No clock is read when a task begins.

mod heap;
mod sightings;
mod timer;

pub(crate) use heap::Heap;
pub(crate) use sightings::{RunKey, Sightings};
pub(crate) use timer::{TimerEntry, at};
