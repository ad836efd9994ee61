//! Hooks that measure the duration of a pool's tasks.
//!
//! [`Timing`] is an example of [`Hooks`]. `Timing` must keep the start time of each task from
//! `before_execute` until `after_execute`. These two hooks of a task run on one thread, so a thread-local
//! stores the time, without a lock. But the thread-local can hold several start times: one pool can combine
//! two `Timing` hooks, and one task can run inside another task on the same thread. So each note in the
//! thread-local names its hooks and its task ([`Notes`]).
//!
//! ```
//! use std::sync::Arc;
//! use executor::{ThreadPoolExecutor, Timing, prelude::*};
//!
//! let timing = Arc::new(Timing::new());
//! let pool = ThreadPoolExecutor::builder().threads(2).hooks(timing.clone()).build()?;
//! for n in 1..=3 {
//!     pool.execute(move || drop(vec![0_u8; n * 1000]))?;
//! }
//! pool.close();
//! assert_eq!(timing.tasks(), 3);
//! assert!(timing.mean().unwrap() <= timing.total());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cell::RefCell;
use std::fmt;
use std::ptr;

use super::{Hooks, TaskInfo};
use crate::ids::TaskId;
use crate::sync::{Duration, Instant, Mutex, thread_local};
use crate::task::outcome::Outcome;

thread_local! {
    static BEGAN: Notes<Instant> = Notes::new();
}

/// Notes that hooks make on a thread when tasks begin: each note has the address of the hooks, and the task.
/// If the pool does not tell the hooks that a task has ended, the note about the task stays.
pub(crate) struct Notes<T>(RefCell<Vec<(usize, TaskId, T)>>);

impl<T> Notes<T> {
    pub(crate) fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    pub(crate) fn note<H>(&self, by: &H, task: &TaskInfo<'_>, what: T) {
        self.0.borrow_mut().push((ptr::from_ref(by).addr(), task.id, what));
    }

    pub(crate) fn take<H>(&self, by: &H, task: &TaskInfo<'_>) -> Option<T> {
        let mut notes = self.0.borrow_mut();
        let by = ptr::from_ref(by).addr();
        let index = notes.iter().rposition(|&(owner, id, _)| (owner, id) == (by, task.id))?;
        Some(notes.remove(index).2)
    }
}

/// Counts a pool's tasks and adds up the time that the tasks take, from the beginning of the body to its end.
///
/// Pass a `Timing` to [`ThreadPoolBuilder::hooks`](crate::ThreadPoolBuilder::hooks), in an `Arc` if you want
/// to read the numbers while the pool lives.
///
/// ```
/// use executor::{ThreadPoolExecutor, Timing, prelude::*};
/// use std::{sync::Arc, thread, time::Duration};
///
/// let timing = Arc::new(Timing::new());
/// let pool = ThreadPoolExecutor::builder().threads(2).hooks(Arc::clone(&timing)).build()?;
/// pool.submit(|| thread::sleep(Duration::from_millis(2)))?.join()?;
/// assert_eq!(timing.tasks(), 1);
/// assert!(timing.mean().unwrap() >= Duration::from_millis(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "TimingThreadPool")]
#[derive(Default)]
pub struct Timing {
    /// The number of tasks that have ended, and their total duration.
    sums: Mutex<(u64, Duration)>,
    log: Option<Box<Log>>,
}

type Log = dyn Fn(&Timing) + Send + Sync;

impl Timing {
    /// Makes hooks that count the tasks and add up their times, and log nothing.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, Timing};
    ///
    /// let pool = ThreadPoolExecutor::builder().hooks(Timing::new()).build()?;
    /// assert_eq!(Timing::new().tasks(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes hooks that call `log` when the pool ends. The argument of `log` can be printed: it implements
    /// `Display`.
    ///
    /// ```
    /// # use executor::{ThreadPoolExecutor, Timing};
    /// let timing = Timing::logging(|timing| eprintln!("resize pool: {timing}"));
    /// let pool = ThreadPoolExecutor::builder().hooks(timing).build()?;
    /// # Ok::<(), executor::PoolConfigError>(())
    /// ```
    pub fn logging(log: impl Fn(&Self) + Send + Sync + 'static) -> Self {
        Self { log: Some(Box::new(log)), ..Self::default() }
    }

    /// Returns the number of tasks that have ended.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, Timing, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let timing = Arc::new(Timing::new());
    /// let pool = ThreadPoolExecutor::builder().hooks(Arc::clone(&timing)).build()?;
    /// pool.submit(|| 6 * 7)?.join()?;
    /// assert_eq!(timing.tasks(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tasks(&self) -> u64 {
        self.sums.lock().0
    }

    /// Returns the total duration of the ended tasks.
    ///
    /// ```
    /// use executor::Timing;
    /// use std::time::Duration;
    ///
    /// assert_eq!(Timing::new().total(), Duration::ZERO); // no task has ended yet
    /// ```
    pub fn total(&self) -> Duration {
        self.sums.lock().1
    }

    /// Returns the average duration of a task, or `None` before the first task has ended.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, Timing, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let timing = Arc::new(Timing::new());
    /// assert_eq!(timing.mean(), None);
    /// let pool = ThreadPoolExecutor::builder().hooks(Arc::clone(&timing)).build()?;
    /// pool.submit(|| 6 * 7)?.join()?;
    /// assert_eq!(timing.mean(), Some(timing.total())); // of one task
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mean(&self) -> Option<Duration> {
        let (tasks, total) = *self.sums.lock();
        (tasks > 0).then(|| total.div_f64(tasks as f64))
    }
}

// ANCHOR: hooks
impl Hooks for Timing {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        BEGAN.with(|began| began.note(self, task, Instant::now()));
    }

    fn after_execute(&self, task: &TaskInfo<'_>, _outcome: &Outcome) {
        let Some(began) = BEGAN.with(|began| began.take(self, task)) else { return };
        let took = began.elapsed();
        let (tasks, total) = &mut *self.sums.lock();
        *tasks += 1;
        *total += took;
    }

    fn terminated(&self) {
        if let Some(log) = &self.log {
            log(self);
        }
    }
}
// ANCHOR_END: hooks

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks = self.tasks();
        write!(f, "{tasks} tasks in {:?}", self.total())?;
        self.mean().map_or(Ok(()), |mean| write!(f, ", {mean:?} each"))
    }
}

impl fmt::Debug for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timing({self})")
    }
}
