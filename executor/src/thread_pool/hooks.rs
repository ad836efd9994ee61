//! Hooks that a pool calls before and after each task, and at its end.

use crate::ids::TaskId;
use crate::task::outcome::Outcome;

/// The description of a task that a hook gets. The tasks of a [`SerialExecutor`](crate::SerialExecutor) or a
/// stripe have no hooks of their own: one *drain task* runs these tasks one after the other, and a hook gets
/// the description of the drain task. The drain task has an id of its own and no name, and always completes.
///
/// ```
/// use executor::{Hooks, Task, TaskInfo, ThreadPoolExecutor, prelude::*};
///
/// struct Log;
///
/// impl Hooks for Log {
///     fn before_execute(&self, task: &TaskInfo<'_>) {
///         println!("{}: {}", task.id, task.name.unwrap_or("a task without a name"));
/// #       assert_eq!(task.name, Some("report"));
///     }
/// }
///
/// let pool = ThreadPoolExecutor::builder().hooks(Log).build()?;
/// pool.execute(Task::new(|| ()).named("report"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TaskInfo<'a> {
    /// The task's id, as on its handle.
    pub id: TaskId,
    /// The task's name, if it has a name.
    pub name: Option<&'a str>,
}

/// User code that a pool calls around each task, on the thread that runs the task.
///
/// Use hooks for logging, timing and statistics, or to prepare and clean up threads. The default methods do
/// nothing.
///
/// Hooks run outside all locks. The pool catches a panic in a hook, and passes it to the [panic
/// handler](crate::panics). The task still runs, its outcome stays the same, and no thread is lost.
///
/// ```
/// use executor::{Hooks, Outcome, TaskInfo, ThreadPoolExecutor, prelude::*};
/// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
///
/// struct Failures(AtomicU64);
///
/// impl Hooks for Failures {
///     fn after_execute(&self, _: &TaskInfo<'_>, outcome: &Outcome) {
///         if matches!(outcome, Outcome::Panicked(_)) {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// let failures = Arc::new(Failures(AtomicU64::new(0)));
/// let pool = ThreadPoolExecutor::builder().hooks(Arc::clone(&failures)).build()?;
/// assert!(pool.submit(|| panic!("no such page"))?.join().is_err());
/// assert_eq!(failures.0.load(Ordering::Relaxed), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "beforeExecute")]
#[doc(alias = "afterExecute")]
pub trait Hooks: Send + Sync {
    /// Called when the task is about to be run.
    ///
    /// ```
    /// # use executor::{Hooks, TaskInfo, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// struct Begun(AtomicU64);
    ///
    /// impl Hooks for Begun {
    ///     fn before_execute(&self, _: &TaskInfo<'_>) {
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// let begun = Arc::new(Begun(AtomicU64::new(0)));
    /// let pool = ThreadPoolExecutor::builder().hooks(begun.clone()).build()?;
    /// pool.submit(|| 6 * 7)?.join()?;
    /// assert_eq!(begun.0.load(Ordering::Relaxed), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn before_execute(&self, task: &TaskInfo<'_>) {
        let _ = task;
    }

    /// Called when the task's body has ended, before the threads that wait for the result are woken. So the
    /// threads that wait for the result see the effects of this method.
    ///
    /// ```
    /// # use executor::{Hooks, Outcome, TaskInfo, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// struct Successes(AtomicU64);
    ///
    /// impl Hooks for Successes {
    ///     fn after_execute(&self, _: &TaskInfo<'_>, outcome: &Outcome) {
    ///         self.0.fetch_add(u64::from(matches!(outcome, Outcome::Completed)), Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// let successes = Arc::new(Successes(AtomicU64::new(0)));
    /// let pool = ThreadPoolExecutor::builder().hooks(successes.clone()).build()?;
    /// pool.submit(|| 6 * 7)?.join()?;
    /// assert_eq!(successes.0.load(Ordering::Relaxed), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        let _ = (task, outcome);
    }

    /// Called on a worker thread that has begun and has not taken a task yet.
    ///
    /// ```
    /// # use executor::{Hooks, ThreadPoolExecutor, prelude::*};
    /// # use std::cell::Cell;
    /// thread_local!(static READY: Cell<bool> = const { Cell::new(false) });
    ///
    /// struct Prepare;
    ///
    /// impl Hooks for Prepare {
    ///     fn worker_started(&self) {
    ///         READY.set(true);
    ///     }
    /// }
    ///
    /// let pool = ThreadPoolExecutor::builder().hooks(Prepare).build()?;
    /// assert!(pool.submit(|| READY.get())?.join()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn worker_started(&self) {}

    /// Called on a worker thread that is about to end. The pool no longer counts this thread, so the pool
    /// may already be terminated.
    ///
    /// ```
    /// # use executor::{Hooks, Latch, ThreadPoolExecutor};
    /// # use std::sync::Arc;
    /// struct CountDown(Arc<Latch>);
    ///
    /// impl Hooks for CountDown {
    ///     fn worker_ended(&self) {
    ///         self.0.count_down();
    ///     }
    /// }
    ///
    /// let ended = Arc::new(Latch::new(2));
    /// let hooks = CountDown(Arc::clone(&ended));
    /// let pool = ThreadPoolExecutor::builder().threads(2).prestart().hooks(hooks).build()?;
    /// drop(pool);
    /// ended.wait()?; // until both threads have called the hook
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn worker_ended(&self) {}

    /// Called once, when the pool has run its last task and all its threads have left; the calling thread
    /// may be a thread of the pool that has not left yet. The pool counts as terminated when this method
    /// has returned.
    ///
    /// ```
    /// # use executor::{Hooks, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
    /// struct Ended(AtomicBool);
    ///
    /// impl Hooks for Ended {
    ///     fn terminated(&self) {
    ///         self.0.store(true, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// let ended = Arc::new(Ended(AtomicBool::new(false)));
    /// let pool = ThreadPoolExecutor::builder().hooks(ended.clone()).build()?;
    /// pool.close();
    /// assert!(ended.0.load(Ordering::Relaxed));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn terminated(&self) {}
}

impl<H: Hooks + ?Sized> Hooks for crate::sync::Arc<H> {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        (**self).before_execute(task);
    }

    fn after_execute(&self, task: &TaskInfo<'_>, outcome: &Outcome) {
        (**self).after_execute(task, outcome);
    }

    fn worker_started(&self) {
        (**self).worker_started();
    }

    fn worker_ended(&self) {
        (**self).worker_ended();
    }

    fn terminated(&self) {
        (**self).terminated();
    }
}
