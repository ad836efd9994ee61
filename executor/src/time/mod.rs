//! What is due next: the entries by time, and the thread that sees to deadlines.
//!
//! Deadlines and the tasks of a [`ScheduledThreadPoolExecutor`](crate::ScheduledThreadPoolExecutor) wait in
//! the same structure, a [`Heap`]. Two threads sleep until the first entry of their heaps:
//! `scheduled/shared.rs` says why.

mod heap;
mod timer;

pub(crate) use heap::Heap;
pub(crate) use timer::{TimerCallback, TimerEntry, at};
