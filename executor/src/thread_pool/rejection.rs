//! The saturation policies, which decide what happens to a task if the pool has no room.
//!
//! | policy | the task | the submitter |
//! |---|---|---|
//! | [`Abort`] | comes back in the error | decides |
//! | [`CallerRuns`] | is run by the submitter | is slowed down to the pool's pace |
//! | [`Block`] | waits, with its submitter, for room | is slowed down to the pool's pace |
//! | [`Discard`] | is dropped, its handle cancelled | does not notice |
//! | [`DiscardOldest`] | takes the place of the task that would have been next | does not notice |
//! | your own | [`RejectionHandler`] | – |
//!
//! The pool also calls the policy for tasks that are submitted after its shutdown.

use std::fmt;

use crate::executor::RejectedExecution;
use crate::sync::{Arc, Duration};
use crate::task::Task;
use crate::waiting::error::RejectReason;
use crate::waiting::wait::Deadline;

/// Decides about a task that a pool has refused.
///
/// The submitter calls the handler once for each refused task, outside all locks. The handler may block if
/// the submitters may be blocked.
///
/// ```
/// use executor::{RefusingPool, RejectedExecution, RejectionHandler, ThreadPoolExecutor, prelude::*};
///
/// /// Runs a task that comes too late on the thread of its submitter.
/// struct RunLateTasks;
///
/// impl RejectionHandler for RunLateTasks {
///     fn rejected(
///         &self,
///         refused: RejectedExecution,
///         pool: &RefusingPool<'_>,
///     ) -> Result<(), RejectedExecution> {
///         if !pool.is_shutdown() {
///             return Err(refused);
///         }
///         refused.task.run();
///         Ok(())
///     }
/// }
///
/// let pool = ThreadPoolExecutor::builder().rejection_handler(RunLateTasks).build()?;
/// pool.shutdown();
/// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "RejectedExecutionHandler")]
// ANCHOR: handler
pub trait RejectionHandler: Send + Sync {
    /// Decides about a refused task: runs it, drops it, passes it on, submits it again, or returns it in the
    /// error.
    ///
    /// # Errors
    /// The error that `execute` returns to the submitter.
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution>;
}
// ANCHOR_END: handler

/// The methods of a pool that a handler can call, through [`RefusingPool`]. `Refuser` is a trait because this
/// module cannot name the pool, which a later module defines.
pub(super) trait Refuser: Send + Sync {
    fn is_shutdown(&self) -> bool;
    fn try_execute(&self, task: Task) -> Result<(), RejectedExecution>;
    fn execute_when_room(&self, task: Task, deadline: Deadline) -> Result<(), RejectedExecution>;
    fn run_here(&self, task: Task);
    fn take_next(&self) -> Option<Task>;
}

/// The view of a pool that a [`RejectionHandler`] gets.
///
/// ```
/// use executor::{RefusingPool, RejectedExecution, RejectionHandler, ThreadPoolExecutor, prelude::*};
/// use std::time::Duration;
///
/// /// Waits for room for a second, and then makes room.
/// struct Patient;
///
/// impl RejectionHandler for Patient {
///     fn rejected(
///         &self,
///         refused: RejectedExecution,
///         pool: &RefusingPool<'_>,
///     ) -> Result<(), RejectedExecution> {
///         let second = Some(Duration::from_secs(1));
///         pool.execute_when_room(refused.task, second).or_else(|again| {
///             drop(pool.take_next());
///             pool.try_execute(again.task)
///         })
///     }
/// }
///
/// let pool = ThreadPoolExecutor::builder().rejection_handler(Patient).build()?;
/// pool.shutdown();
/// assert!(pool.submit(|| 6 * 7).is_err()); // there is never room again
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RefusingPool<'a>(pub(super) &'a dyn Refuser);

impl RefusingPool<'_> {
    /// Returns whether the pool was shut down. After a shutdown the pool accepts no more tasks.
    ///
    /// ```
    /// # use executor::{RefusingPool, RejectedExecution, RejectionHandler, ThreadPoolExecutor, prelude::*};
    /// struct DropLateTasks;
    ///
    /// impl RejectionHandler for DropLateTasks {
    ///     fn rejected(
    ///         &self,
    ///         refused: RejectedExecution,
    ///         pool: &RefusingPool<'_>,
    ///     ) -> Result<(), RejectedExecution> {
    ///         if pool.is_shutdown() { Ok(drop(refused)) } else { Err(refused) }
    ///     }
    /// }
    ///
    /// let pool = ThreadPoolExecutor::builder().rejection_handler(DropLateTasks).build()?;
    /// pool.shutdown();
    /// assert!(pool.execute(|| println!("late")).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_shutdown(&self) -> bool {
        self.0.is_shutdown()
    }

    /// Submits the task once more, without a second call of the handler.
    ///
    /// ```
    /// # use executor::{FifoQueue, Latch, RefusingPool, RejectedExecution, RejectionHandler};
    /// # use executor::{ThreadPoolExecutor, prelude::*};
    /// struct DropOneTask;
    ///
    /// impl RejectionHandler for DropOneTask {
    ///     fn rejected(
    ///         &self,
    ///         refused: RejectedExecution,
    ///         pool: &RefusingPool<'_>,
    ///     ) -> Result<(), RejectedExecution> {
    ///         drop(pool.take_next());
    ///         pool.try_execute(refused.task)
    ///     }
    /// }
    ///
    /// let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1));
    /// let pool = builder.rejection_handler(DropOneTask).build()?;
    /// # let end = std::sync::Arc::new(Latch::new(1));
    /// # let until = end.clone();
    /// # let keep_busy = move || until.wait().unwrap();
    /// pool.execute(keep_busy)?; // the only thread has a task now
    /// assert!((0..10).all(|_| pool.execute(|| ()).is_ok()));
    /// assert_eq!(pool.queued(), 1);
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the task if there is still no room.
    pub fn try_execute(&self, task: Task) -> Result<(), RejectedExecution> {
        self.0.try_execute(task)
    }

    /// Waits until there is room, and then submits the task.
    ///
    /// ```
    /// # use executor::{FifoQueue, RefusingPool, RejectedExecution, RejectionHandler};
    /// # use executor::{ThreadPoolExecutor, prelude::*};
    /// struct Wait;
    ///
    /// impl RejectionHandler for Wait {
    ///     fn rejected(
    ///         &self,
    ///         refused: RejectedExecution,
    ///         pool: &RefusingPool<'_>,
    ///     ) -> Result<(), RejectedExecution> {
    ///         pool.execute_when_room(refused.task, None) // without a time limit
    ///     }
    /// }
    ///
    /// let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1));
    /// let pool = builder.rejection_handler(Wait).build()?;
    /// assert!((0..10).all(|_| pool.execute(|| ()).is_ok()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectReason::TimedOut`] if the pool has no room within `timeout`. [`RejectReason::Interrupted`] if
    /// the submitting task is cancelled while it waits. [`RejectReason::Shutdown`] if the pool is shut down
    /// during the wait. [`RejectReason::Starved`] if there is no `timeout`, and every thread that could make
    /// room waits, too.
    ///
    /// # Blocking
    /// Blocks. If a task of the same pool calls this method, the task occupies a thread that could make room.
    pub fn execute_when_room(&self, task: Task, timeout: Option<Duration>) -> Result<(), RejectedExecution> {
        self.0.execute_when_room(task, timeout.map_or(Deadline::NEVER, Deadline::after))
    }

    /// Runs the task on the calling thread, without the pool's hooks and counts. A panic in the task goes to
    /// the pool's panic handler if no client reads the panic from a handle.
    ///
    /// ```
    /// # use executor::{HandOffQueue, Latch, RefusingPool, RejectedExecution, RejectionHandler};
    /// # use executor::{ThreadPoolExecutor, prelude::*};
    /// struct RunHere;
    ///
    /// impl RejectionHandler for RunHere {
    ///     fn rejected(
    ///         &self,
    ///         refused: RejectedExecution,
    ///         pool: &RefusingPool<'_>,
    ///     ) -> Result<(), RejectedExecution> {
    ///         Ok(pool.run_here(refused.task))
    ///     }
    /// }
    ///
    /// let builder = ThreadPoolExecutor::builder().queue(HandOffQueue::new());
    /// let pool = builder.rejection_handler(RunHere).build()?;
    /// # let end = std::sync::Arc::new(Latch::new(1));
    /// # let until = end.clone();
    /// # let keep_busy = move || until.wait().unwrap();
    /// pool.execute(keep_busy)?; // the only thread has a task now
    /// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_here(&self, task: Task) {
        self.0.run_here(task);
    }

    /// Takes the task that would run next out of the queue.
    ///
    /// ```
    /// # use executor::{FifoQueue, Latch, RefusingPool, RejectedExecution, RejectionHandler};
    /// # use executor::{ThreadPoolExecutor, prelude::*};
    /// /// Runs the oldest waiting task on this thread, so that the new task finds room.
    /// struct RunOldest;
    ///
    /// impl RejectionHandler for RunOldest {
    ///     fn rejected(
    ///         &self,
    ///         refused: RejectedExecution,
    ///         pool: &RefusingPool<'_>,
    ///     ) -> Result<(), RejectedExecution> {
    ///         pool.take_next().map(|oldest| pool.run_here(oldest));
    ///         pool.try_execute(refused.task)
    ///     }
    /// }
    ///
    /// let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1));
    /// let pool = builder.rejection_handler(RunOldest).build()?;
    /// # let end = std::sync::Arc::new(Latch::new(1));
    /// # let until = end.clone();
    /// # let keep_busy = move || until.wait().unwrap();
    /// pool.execute(keep_busy)?; // the only thread has a task now
    /// let oldest = pool.submit(|| 6 * 7)?;
    /// pool.execute(|| ())?; // no room
    /// assert!(oldest.is_finished());
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take_next(&self) -> Option<Task> {
        self.0.take_next()
    }
}

impl fmt::Debug for RefusingPool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RefusingPool").field("is_shutdown", &self.is_shutdown()).finish_non_exhaustive()
    }
}

impl<H: RejectionHandler + ?Sized> RejectionHandler for Arc<H> {
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        (**self).rejected(refused, pool)
    }
}

/// The default policy: gives the task back in the error.
///
/// ```
/// use executor::{Abort, RejectReason, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::builder().rejection_handler(Abort).build()?;
/// pool.shutdown();
/// let refused = pool.submit(|| 6 * 7).unwrap_err();
/// assert!(matches!(refused.reason, RejectReason::Shutdown));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "AbortPolicy")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Abort;

impl RejectionHandler for Abort {
    fn rejected(&self, refused: RejectedExecution, _: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        Err(refused)
    }
}

/// Makes the submitter run the task. While the submitter runs the task, it submits no other task, so the
/// source of an overload is slowed down. After a shutdown of the pool, the task is dropped.
///
/// While the task runs, its current token is a child of the submitter's token.
///
/// While a submitter runs a task, this task may submit a second task to the same full pool. The second task
/// then runs inside the first task, like a called function. The stack needs room for all tasks that run
/// inside each other.
///
/// ```
/// use executor::{CallerRuns, HandOffQueue, ThreadPoolExecutor, prelude::*};
/// use std::thread;
///
/// let builder = ThreadPoolExecutor::builder().threads(1).queue(HandOffQueue::new());
/// let pool = builder.rejection_handler(CallerRuns).build()?;
/// # let end = std::sync::Arc::new(executor::Latch::new(1));
/// # let until = end.clone();
/// # let keep_busy = move || until.wait().unwrap();
/// pool.execute(keep_busy)?; // the only thread has a task now
/// assert_eq!(pool.submit(|| thread::current().id())?.join()?, thread::current().id());
/// # end.count_down();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "CallerRunsPolicy")]
#[derive(Debug, Clone, Copy, Default)]
pub struct CallerRuns;

// ANCHOR: caller_runs
impl RejectionHandler for CallerRuns {
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        if !pool.is_shutdown() {
            pool.run_here(refused.task);
        }
        Ok(())
    }
}
// ANCHOR_END: caller_runs

/// Drops the task, which completes its handle as cancelled.
///
/// ```
/// use executor::{Discard, JoinError, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::builder().rejection_handler(Discard).build()?;
/// pool.shutdown();
/// let dropped = pool.submit(|| 6 * 7)?; // no error
/// assert!(matches!(dropped.join(), Err(JoinError::Cancelled(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "DiscardPolicy")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Discard;

impl RejectionHandler for Discard {
    fn rejected(&self, refused: RejectedExecution, _: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        drop(refused);
        Ok(())
    }
}

/// Drops the task that would run next, and tries again with the new task. After a shutdown of the pool, the
/// new task is dropped.
///
/// With a [`PriorityQueue`](crate::PriorityQueue) this policy drops the **most important** waiting task. Do
/// not combine this policy with a priority queue.
///
/// ```
/// use executor::{DiscardOldest, FifoQueue, JoinError, ThreadPoolExecutor, prelude::*};
///
/// let builder = ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(1));
/// let pool = builder.rejection_handler(DiscardOldest).build()?;
/// # let end = std::sync::Arc::new(executor::Latch::new(1));
/// # let until = end.clone();
/// # let keep_busy = move || until.wait().unwrap();
/// pool.execute(keep_busy)?; // the only thread has a task now
/// let old = pool.submit(|| "yesterday's prices")?;
/// let new = pool.submit(|| "today's prices")?;
/// assert!(matches!(old.join(), Err(JoinError::Cancelled(_))));
/// # end.count_down();
/// assert_eq!(new.join()?, "today's prices");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "DiscardOldestPolicy")]
#[derive(Debug, Clone, Copy, Default)]
pub struct DiscardOldest;

// ANCHOR: discard_oldest
impl RejectionHandler for DiscardOldest {
    fn rejected(
        &self,
        mut refused: RejectedExecution,
        pool: &RefusingPool<'_>,
    ) -> Result<(), RejectedExecution> {
        while !pool.is_shutdown() {
            let nothing_to_discard = pool.take_next().is_none();
            refused = match pool.try_execute(refused.task) {
                Ok(()) => return Ok(()),
                // If the pool has no task to discard, or no thread, each further attempt would fail.
                Err(again) if nothing_to_discard || matches!(again.reason, RejectReason::NoThread(_)) => {
                    return Err(again);
                }
                Err(again) => again,
            };
        }
        Ok(())
    }
}
// ANCHOR_END: discard_oldest

/// Makes the submitter wait until there is room.
///
/// When there is room, the pool notifies the waiting submitters one at a time, in the order of their arrival.
/// But another thread that submits a task at that moment may take the free place first. So a submitter can
/// wait for ever, but only if new submitters never stop arriving.
///
/// If a task waits for room in its own pool, the task occupies a thread that could make room. If all threads
/// of the pool wait for room, one of the submitters gets its task back, with [`RejectReason::Starved`].
///
/// `java.util.concurrent` has no such policy. The users of Java's pool usually write a handler that calls
/// `put` on the queue. A handler that calls `put` also puts a task into the queue of a pool that was just
/// shut down, and the task is lost.
///
/// ```
/// use executor::{Block, FifoQueue, ThreadPoolExecutor, prelude::*};
///
/// let builder = ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(1));
/// let pool = builder.rejection_handler(Block::new()).build()?;
/// for _ in 0..100 {
///     pool.execute(|| ())?; // waits while the queue is full
/// }
/// pool.close();
/// assert_eq!(pool.stats().completed, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Block {
    timeout: Option<Duration>,
}

impl Block {
    /// Makes a policy without a time limit.
    ///
    /// ```
    /// use executor::{Block, FifoQueue, ThreadPoolExecutor, prelude::*};
    ///
    /// let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1));
    /// let pool = builder.rejection_handler(Block::new()).build()?;
    /// assert!((0..10).all(|_| pool.execute(|| ()).is_ok()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self { timeout: None }
    }

    /// Makes a policy with a time limit. After `timeout`, the submitter gets the task back in the error.
    ///
    /// ```
    /// use executor::{Block, HandOffQueue, RejectReason, ThreadPoolExecutor, prelude::*};
    /// use std::time::Duration;
    ///
    /// let builder = ThreadPoolExecutor::builder().threads(1).queue(HandOffQueue::new());
    /// let pool = builder.rejection_handler(Block::for_at_most(Duration::from_millis(1))).build()?;
    /// # let end = std::sync::Arc::new(executor::Latch::new(1));
    /// # let until = end.clone();
    /// # let keep_busy = move || until.wait().unwrap();
    /// pool.execute(keep_busy)?; // the only thread has a task now
    /// let refused = pool.submit(|| 6 * 7).unwrap_err();
    /// assert!(matches!(refused.reason, RejectReason::TimedOut));
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn for_at_most(timeout: Duration) -> Self {
        Self { timeout: Some(timeout) }
    }
}

// ANCHOR: block
impl RejectionHandler for Block {
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        match refused.reason {
            RejectReason::Saturated => pool.execute_when_room(refused.task, self.timeout),
            _ => Err(refused),
        }
    }
}
// ANCHOR_END: block
