//! Entries by time, and the thread that runs jobs at their deadlines.
//!
//! Deadlines and the tasks of a [`ScheduledThreadPoolExecutor`](crate::ScheduledThreadPoolExecutor) wait in
//! the same structure, a [`Heap`]. Deadlines and scheduled tasks have a heap and a thread each. Each thread
//! sleeps until the first entry of its heap is due. `scheduled/shared.rs` says why there are two threads.
//!
//! [`Sightings`] tells for how long a task has run at least, although no clock is read when a task begins.

mod heap;
mod sightings;
mod timer;

pub(crate) use heap::Heap;
pub(crate) use sightings::{RunKey, Sightings};
pub(crate) use timer::{TimerEntry, at};
