//! The watchdog of a pool: it tells a handler of tasks that run for too long.
//!
//! The watchdog has no thread of its own, and does not slow the tasks down. A job of the process's timer
//! looks at the running tasks four times within the limit, and notes the tasks that it sees
//! (`time/sightings.rs`). If a task still runs a whole limit after the watchdog first saw it, the task has
//! run for longer than the limit.
//!
//! ```text
//!   looks      │        │        │        │        │        │
//!   task          ├──── first seen ─ a limit later: told ─────── …
//!                       ╰──────────────────────────────╯
//! ```
//!
//! # Invariants
//!
//! 1. The watchdog tells the handler of a task only once, and only if the task has run for the whole limit.
//! 2. The watchdog's job does not wait for a lock: if the lock of the state is busy, the job ends at once. A
//!    user's queue may hang under that lock; a job that waited for the lock would then delay all deadlines of
//!    the process.
//! 3. The handler is called outside all locks, on a timer thread that is no longer responsible for the
//!    deadlines.

use std::fmt;

use crate::ids::TaskId;
use crate::sync::{Duration, Mutex};
use crate::time::TimerEntry;
use crate::waiting::starvation::TaskRef;

/// A task that has run for longer than the limit of its pool's
/// [watchdog](crate::ThreadPoolBuilder::watchdog).
///
/// ```
/// use executor::{LongTask, ThreadPoolExecutor, prelude::*};
/// use std::sync::mpsc;
/// use std::time::Duration;
///
/// let (tell, told) = mpsc::channel();
/// let (limit, one_is_told) = (Duration::from_millis(20), Duration::from_secs(30));
/// let handler = move |task: &LongTask<'_>| tell.send(task.to_string()).unwrap();
/// let pool = ThreadPoolExecutor::builder().name("orders").watchdog(limit, handler).build()?;
/// let slow = pool.submit(move || told.recv_timeout(one_is_told).unwrap())?; // ends when it was told
/// let id = slow.id();
/// assert!(slow.join()?.starts_with(&format!("task {id} has run on orders-thread-1 for ")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LongTask<'a> {
    /// The task's id, as on its handle.
    pub id: TaskId,
    /// The task's name, if it has a name.
    pub name: Option<&'a str>,
    /// The name of the thread that runs the task, if the thread has a name.
    pub thread: Option<&'a str>,
    /// The task has run for at least this time.
    pub ran: Duration,
}

impl fmt::Display for LongTask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thread = self.thread.unwrap_or("a thread without a name");
        write!(f, "task {} has run on {thread} for {:.1?}", TaskRef::new(self.id, self.name), self.ran)
    }
}

/// The handler of a watchdog.
type Handler = dyn Fn(&LongTask<'_>) + Send + Sync;

pub(super) struct Watchdog {
    pub(super) limit: Duration,
    pub(super) handler: Box<Handler>,
    /// The timer's entry for the next time at which the watchdog looks at the tasks. When the pool is
    /// dropped, this entry is removed.
    pub(super) next_look: Mutex<Option<TimerEntry>>,
}

impl Watchdog {
    pub(super) fn new(limit: Duration, handler: impl Fn(&LongTask<'_>) + Send + Sync + 'static) -> Self {
        Self { limit, handler: Box::new(handler), next_look: Mutex::new(None) }
    }

    /// Returns the time from one look of the watchdog to the next.
    pub(super) fn period(&self) -> Duration {
        (self.limit / 4).max(Duration::from_millis(1))
    }
}
