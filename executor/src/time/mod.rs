//! Entries by time, and the thread that runs jobs at their deadlines.
//!
//! Deadlines and the tasks of a [`ScheduledThreadPoolExecutor`](crate::ScheduledThreadPoolExecutor) wait in
//! the same structure, a [`Heap`]. Two threads sleep, each until the first entry of its own heap;
//! `scheduled/shared.rs` says why.

mod heap;
mod timer;

pub(crate) use heap::Heap;
pub(crate) use timer::{TimerCallback, TimerEntry, at};
