//! Hooks that a pool calls when it gets a task, before and after each task, and at its end.

use crate::cancel::cancelled::Cancelled;
use crate::ids::TaskId;
use crate::sync::Duration;
use crate::task::TaskLabel;
use crate::task::outcome::Outcome;
use crate::waiting::error::RejectReason;

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
    pub(super) waited: Option<Duration>,
    pub(super) ran: Option<Duration>,
}

impl<'a> TaskInfo<'a> {
    pub(super) fn of(label: &'a TaskLabel) -> Self {
        Self { id: label.id(), name: label.name(), waited: None, ran: None }
    }

    /// Returns for how long the task has waited: from the moment when its submitter gave it to the pool until
    /// a thread was about to run it. This time does not include the time for which the submitter waits for
    /// room.
    ///
    /// Returns `None` in hooks that do not [want times](Hooks::wants_times), and in hooks that are not called
    /// around a run.
    ///
    /// ```
    /// use executor::{Hooks, TaskInfo, ThreadPoolExecutor, prelude::*};
    ///
    /// struct Late;
    ///
    /// impl Hooks for Late {
    ///     fn wants_times(&self) -> bool {
    ///         true
    ///     }
    ///
    ///     fn before_execute(&self, task: &TaskInfo<'_>) {
    ///         let waited = task.waited().expect("these hooks want times");
    ///         println!("{} has waited for {waited:?}", task.id);
    ///         assert!(task.ran().is_none()); // not yet
    ///     }
    /// }
    ///
    /// let pool = ThreadPoolExecutor::builder().hooks(Late).build()?;
    /// pool.submit(|| 6 * 7)?.join()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn waited(&self) -> Option<Duration> {
        self.waited
    }

    /// Returns for how long the task has run: from the moment when a thread was about to call
    /// [`before_execute`](Hooks::before_execute) until the body had ended.
    ///
    /// Returns `None` in hooks that do not [want times](Hooks::wants_times), and in hooks other than
    /// [`after_execute`](Hooks::after_execute).
    ///
    /// ```
    /// use executor::{Hooks, Outcome, TaskInfo, ThreadPoolExecutor, prelude::*};
    /// use std::{thread, time::Duration};
    ///
    /// struct Slow;
    ///
    /// impl Hooks for Slow {
    ///     fn wants_times(&self) -> bool {
    ///         true
    ///     }
    ///
    ///     fn after_execute(&self, task: &TaskInfo<'_>, _: &Outcome) {
    ///         let ran = task.ran().expect("these hooks want times");
    ///         assert!(ran >= Duration::from_millis(5));
    ///     }
    /// }
    ///
    /// let pool = ThreadPoolExecutor::builder().hooks(Slow).build()?;
    /// pool.submit(|| thread::sleep(Duration::from_millis(5)))?.join()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ran(&self) -> Option<Duration> {
        self.ran
    }
}

/// User code that a pool calls when it gets a task, and around each task, on the thread that runs the task.
///
/// Use hooks for logging, timing and statistics, or to prepare and clean up threads. The default methods do
/// nothing.
///
/// # The hooks of one task
///
/// A pool that accepts a task calls [`submitted`](Self::submitted). A pool that does not accept a task calls
/// [`refused`](Self::refused). For each accepted task that stays with the pool, the pool then calls either
/// [`before_execute`](Self::before_execute) and [`after_execute`](Self::after_execute), or
/// [`cancelled_in_queue`](Self::cancelled_in_queue). The pool calls no further hook for a task that is taken
/// out of its queue, for example by [`shutdown_now`](crate::ExecutorService::shutdown_now).
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
    /// Returns whether the pool measures times for these hooks: [`TaskInfo::waited`] and [`TaskInfo::ran`].
    /// The pool calls this method once, when the pool is built. If the answer is yes, the pool reads the
    /// clock three times and allocates some memory for each task. Default: no.
    ///
    /// ```
    /// # use executor::{Hooks, Outcome, TaskInfo, ThreadPoolExecutor, prelude::*};
    /// struct Times;
    ///
    /// impl Hooks for Times {
    ///     fn wants_times(&self) -> bool {
    ///         true
    ///     }
    ///
    ///     fn after_execute(&self, task: &TaskInfo<'_>, _: &Outcome) {
    ///         println!("{}: waited {:?}, ran {:?}", task.id, task.waited(), task.ran());
    ///         assert!(task.waited().is_some() && task.ran().is_some());
    ///     }
    /// }
    ///
    /// let pool = ThreadPoolExecutor::builder().hooks(Times).build()?;
    /// pool.submit(|| 6 * 7)?.join()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn wants_times(&self) -> bool {
        false
    }

    /// Called on the submitter's thread when the pool has accepted the task. A worker does not wait for this
    /// call, so the task may already have begun or ended when the hook runs.
    ///
    /// ```
    /// # use executor::{Hooks, TaskInfo, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// struct Accepted(AtomicU64);
    ///
    /// impl Hooks for Accepted {
    ///     fn submitted(&self, _: &TaskInfo<'_>) {
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// let accepted = Arc::new(Accepted(AtomicU64::new(0)));
    /// let pool = ThreadPoolExecutor::builder().hooks(accepted.clone()).build()?;
    /// pool.execute(|| ())?;
    /// assert_eq!(accepted.0.load(Ordering::Relaxed), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn submitted(&self, task: &TaskInfo<'_>) {
        let _ = task;
    }

    /// Called on the submitter's thread when the pool did not accept the task at once, before the pool calls
    /// its [rejection handler](crate::RejectionHandler). If the handler then makes the pool accept the task,
    /// the pool calls [`submitted`](Self::submitted), too.
    ///
    /// ```
    /// # use executor::{Hooks, RejectReason, TaskInfo, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::{Arc, Mutex};
    /// struct Refusals(Mutex<Vec<String>>);
    ///
    /// impl Hooks for Refusals {
    ///     fn refused(&self, _: &TaskInfo<'_>, why: &RejectReason) {
    ///         self.0.lock().unwrap().push(why.to_string());
    ///     }
    /// }
    ///
    /// let refusals = Arc::new(Refusals(Mutex::default()));
    /// let pool = ThreadPoolExecutor::builder().hooks(refusals.clone()).build()?;
    /// pool.shutdown();
    /// assert!(pool.execute(|| ()).is_err());
    /// assert_eq!(*refusals.0.lock().unwrap(), ["the executor is shut down"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "rejectedExecution")]
    fn refused(&self, task: &TaskInfo<'_>, why: &RejectReason) {
        let _ = (task, why);
    }

    /// Called for a task that was cancelled while it waited in the queue. The pool makes this call when it
    /// takes the empty task out of the queue: possibly long after the task was cancelled. The calling thread
    /// is a worker that reaches the task, a submitter that needs the room, a canceller that clears out many
    /// tasks, or a caller of [`purge`](crate::ThreadPoolExecutor::purge). [`PoolStats`](crate::PoolStats)
    /// counts the cancelled task at the moment of the cancellation.
    ///
    /// If a user's own [`WorkQueue`](crate::WorkQueue) drops a cancelled task itself, the pool does not make
    /// this call.
    ///
    /// ```
    /// # use executor::{Cancelled, Hooks, Latch, TaskInfo, ThreadPoolExecutor, prelude::*};
    /// # use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// struct GivenUp(AtomicU64);
    ///
    /// impl Hooks for GivenUp {
    ///     fn cancelled_in_queue(&self, _: &TaskInfo<'_>, why: &Cancelled) {
    ///         println!("{why}");
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// let given_up = Arc::new(GivenUp(AtomicU64::new(0)));
    /// let pool = ThreadPoolExecutor::builder().hooks(given_up.clone()).build()?;
    /// # let end = Arc::new(Latch::new(1));
    /// # let until = Arc::clone(&end);
    /// # let keep_busy = move || until.wait().unwrap();
    /// pool.execute(keep_busy)?; // the only thread has a task now
    /// pool.submit(|| 6 * 7)?.cancel();
    /// pool.purge();
    /// assert_eq!(given_up.0.load(Ordering::Relaxed), 1);
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn cancelled_in_queue(&self, task: &TaskInfo<'_>, why: &Cancelled) {
        let _ = (task, why);
    }

    /// Called when a thread is about to run the task.
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

    /// Called on a worker thread that is about to end. The pool no longer counts this thread, so the pool may
    /// already have terminated.
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

    /// Called once, after the last task; the calling thread may be the pool's last thread, and all other
    /// threads of the pool have left. The pool counts as terminated when this method has returned.
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
    fn wants_times(&self) -> bool {
        (**self).wants_times()
    }

    fn submitted(&self, task: &TaskInfo<'_>) {
        (**self).submitted(task);
    }

    fn refused(&self, task: &TaskInfo<'_>, why: &RejectReason) {
        (**self).refused(task, why);
    }

    fn cancelled_in_queue(&self, task: &TaskInfo<'_>, why: &Cancelled) {
        (**self).cancelled_in_queue(task, why);
    }

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
