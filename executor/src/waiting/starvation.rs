//! Starvation deadlock: the report of a wait that could never end.
//!
//! A task that waits for another task keeps its thread. Suppose that the awaited task is in the queue of a
//! pool, and that waiting tasks keep all threads of this pool. Then no thread is ever free: the tasks
//! *starve* each other. No lock is held, no thread spins, and the program makes no progress.
//!
//! ```
//! use std::sync::Arc;
//! use executor::{JoinError, ThreadPoolExecutor, prelude::*};
//!
//! let pool = Arc::new(ThreadPoolExecutor::builder().name("renderer").build()?); // one thread
//! let own = Arc::clone(&pool);
//! let page = pool.submit(move || {
//!     let header = own.submit(|| "<h1>").expect("the pool accepts tasks");
//!     match header.join() {
//!         Err(JoinError::Starved(_header, starvation)) => starvation.to_string(),
//!         other => panic!("no thread is left for the header: {other:?}"),
//!     }
//! })?;
//! assert!(page.join()?.contains("queued in renderer"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The module `wait_graph` explains how an endless wait is found. The report is a [`Starvation`]. The report
//! lists the waits in order, and says which task waits for what. The first wait in the list is the wait that
//! was about to close the circle.
//!
//! # Invariants
//!
//! 1. A report that no code has read goes to a panic handler when its last clone is dropped: to the handler
//!    of the pool or, if the pool has none, to the handler of the process. A task that cannot do its work is
//!    a failure, and no failure is lost.

use std::{cmp, fmt};

use crate::ids::TaskId;
use crate::panics::{self, PanicHandler, PanicReport};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex};

/// The reaction of a pool to a wait that can never end because every thread that could end the wait is
/// waiting, too.
///
/// [`ThreadPoolBuilder::on_starvation`](crate::ThreadPoolBuilder::on_starvation) chooses the reaction for the
/// threads of a pool. With any choice, a pool that has fewer threads than its maximum first starts another
/// thread. A task can also help before it waits: see
/// [`ThreadPoolExecutor::help`](crate::ThreadPoolExecutor::help).
///
/// ```
/// use executor::{OnStarvation, ThreadPoolExecutor, prelude::*};
/// use std::sync::Arc;
///
/// let help = OnStarvation::Help { depth: 10 };
/// let pool = Arc::new(ThreadPoolExecutor::builder().on_starvation(help).build()?); // one thread
/// let own = Arc::clone(&pool);
/// let page = pool.submit(move || own.submit(|| "<h1>").unwrap().join().unwrap())?;
/// assert_eq!(page.join()?, "<h1>"); // the waiting thread has run the second task itself
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "ManagedBlocker")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnStarvation {
    /// The wait ends with an error that says which task waits for which other task, such as
    /// [`JoinError::Starved`](crate::JoinError::Starved).
    #[default]
    Report,
    /// The waiting thread itself runs the task that it waits for, if that task has not begun. A thread can
    /// help in this way in a join and in `invoke_all`. If the thread waits for something else, or for a task
    /// that has begun, the wait is reported.
    ///
    /// The awaited task runs on the stack of the waiting task, above the frames of the waiting task. So the
    /// awaited task must not wait for something that the waiting task holds, such as a lock. The awaited task
    /// can itself wait for a task that is then run in the same way, at most `depth` tasks deep. Each level
    /// uses stack memory: the memory that the task needs, and 2 to 5 KiB more. On a stack of 2 MiB, the
    /// default size, a few hundred levels are safe.
    Help {
        /// The upper limit for the number of tasks that run on top of the first task.
        depth: usize,
    },
    /// The waiting thread first does what [`Help`](Self::Help) describes. If the thread cannot help in that
    /// way, the thread runs the next task of its pool's queue, whichever task that is. So this reaction also
    /// helps a thread that waits in a completion service or in a submission.
    ///
    /// Use `HelpOthers` for tasks that hold no lock or other resource while they wait. A task that runs on
    /// top of a waiting task may wait for the waiting task below it. But the lower task cannot go on before
    /// the upper task has ended. So this wait of the upper task is reported.
    HelpOthers {
        /// The upper limit for the number of tasks that run on top of the first task.
        depth: usize,
    },
    /// The pool starts another thread beyond its maximum. The pool dismisses that thread when the wait is
    /// over. If there are already `at_most` threads beyond the maximum, the wait is reported.
    Spare {
        /// The upper limit for the number of threads that the pool has beyond its maximum.
        at_most: usize,
    },
}

/// A task in a report.
///
/// ```
/// # use executor::{CutShort, FutureTask, Semaphore, ThreadPoolExecutor, prelude::*};
/// # let pool = ThreadPoolExecutor::single();
/// # let starvation = pool.submit(FutureTask::new(|| {
/// #     let seat = Semaphore::new(1);
/// #     let _held = seat.acquire();
/// #     match seat.acquire() {
/// #         Err(CutShort::Starved(starvation)) => starvation,
/// #         other => unreachable!("the task holds the only permit: {other:?}"),
/// #     }
/// # }).named("guest"))?.join()?;
/// // The task "guest" has waited for a permit that it holds itself.
/// let guest = starvation.chain()[0].task.as_ref().unwrap();
/// assert_eq!(guest.name.as_deref(), Some("guest"));
/// assert_eq!(guest.to_string(), format!("guest ({})", guest.id));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskRef {
    /// The task's id.
    pub id: TaskId,
    /// The task's name, if it has one.
    pub name: Option<String>,
}

impl TaskRef {
    pub(crate) fn new(id: TaskId, name: Option<&str>) -> Self {
        Self { id, name: name.map(str::to_owned) }
    }
}

impl fmt::Display for TaskRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} ({})", self.id),
            None => self.id.fmt(f),
        }
    }
}

/// One waiting thread in a report: the task that it runs, and what it waits for.
///
/// ```
/// # use executor::{CutShort, Semaphore, ThreadPoolExecutor, prelude::*};
/// # let pool = ThreadPoolExecutor::builder().name("hall").build()?;
/// # let starvation = pool.submit(|| {
/// #     let seat = Semaphore::new(1);
/// #     let _held = seat.acquire();
/// #     match seat.acquire() {
/// #         Err(CutShort::Starved(starvation)) => starvation,
/// #         other => unreachable!("the task holds the only permit: {other:?}"),
/// #     }
/// # })?.join()?;
/// // A task of the pool "hall" has waited for a permit that it holds itself.
/// let wait = &starvation.chain()[0];
/// assert_eq!(wait.pool.as_deref(), Some("hall"));
/// assert!(wait.to_string().ends_with("waits for permits that are held by tasks that wait, too"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StarvedWait {
    /// The task that waits. `None` if the thread runs no task, for instance in a hook.
    pub task: Option<TaskRef>,
    /// The name of the thread that runs the task.
    pub thread: Option<String>,
    /// The name of the thread's pool, which is the name of the pool's thread factory. `None` for a thread
    /// that the user has started.
    pub pool: Option<String>,
    /// The thing that the thread waits for.
    pub waits_for: WaitsFor,
}

/// Something that a thread waits for, and that can never come.
///
/// ```
/// # use executor::{CutShort, Semaphore, ThreadPoolExecutor, WaitsFor, prelude::*};
/// # let pool = ThreadPoolExecutor::single();
/// # let starvation = pool.submit(|| {
/// #     let seat = Semaphore::new(1);
/// #     let _held = seat.acquire();
/// #     match seat.acquire() {
/// #         Err(CutShort::Starved(starvation)) => starvation,
/// #         other => unreachable!("the task holds the only permit: {other:?}"),
/// #     }
/// # })?.join()?;
/// // A task has waited for a permit that it holds itself.
/// assert!(matches!(starvation.chain()[0].waits_for, WaitsFor::Permits));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum WaitsFor {
    /// A task in the queue of a pool where no thread is free.
    Queued {
        /// The task.
        task: TaskRef,
        /// The pool.
        pool: String,
    },
    /// A task that has begun. The thread that runs the task is in a wait that can never end, too.
    Running {
        /// The task.
        task: TaskRef,
    },
    /// The end of the first of several tasks; none of these tasks can end.
    OneOf {
        /// The number of tasks.
        tasks: usize,
        /// The pools in which some of these tasks are queued.
        pools: Vec<String>,
    },
    /// Room in the queue of a pool where no thread is free.
    Room {
        /// The pool.
        pool: String,
    },
    /// Permits of a semaphore. The threads that hold the permits are in waits that can never end, too.
    Permits,
    /// The end of work that borrows from the waiting thread: the tasks of a scope, the computation of an
    /// `invoke`, or the second half of a `join`. The work is in a queue, or on threads that are in waits that
    /// can never end, too. A drain task also counts as work of this kind while it submits its next turn to an
    /// executor that is being dropped.
    Borrowers,
    /// The moment at which a fork/join pool has nothing left to do. The pool's unfinished tasks cannot go on.
    Quiescence {
        /// The pool.
        pool: String,
    },
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queued { task, pool } => {
                write!(f, "task {task}, queued in {pool}, where no thread is free")
            }
            Self::Running { task } => write!(f, "task {task}, which is running and waits, too"),
            Self::OneOf { tasks, pools } if pools.is_empty() => {
                write!(f, "the first of {tasks} tasks, all of which are running and wait, too")
            }
            Self::OneOf { tasks, pools } => {
                let pools = pools.join(" and ");
                write!(f, "the first of {tasks} tasks, queued in {pools}, where no thread is free")
            }
            Self::Room { pool } => write!(f, "room in the queue of {pool}, where no thread is free"),
            Self::Permits => f.write_str("permits that are held by tasks that wait, too"),
            Self::Borrowers => f.write_str("the end of what borrows from it, which waits, too"),
            Self::Quiescence { pool } => {
                write!(f, "quiescence of {pool}, where the unfinished tasks wait, too")
            }
        }
    }
}

impl fmt::Display for StarvedWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.task {
            Some(task) => write!(f, "task {task}")?,
            None => f.write_str("a callback")?,
        }
        if let Some(thread) = &self.thread {
            write!(f, " on {thread}")?;
        }
        write!(f, " waits for {}", self.waits_for)
    }
}

impl StarvedWait {
    /// Returns the name and the id of the waiting task, or "a callback" if there is no task.
    fn who(&self) -> String {
        self.task.as_ref().map_or_else(|| "a callback".to_owned(), TaskRef::to_string)
    }

    /// Writes the two lines of this wait in the picture. `rails` has the text at the left of each line.
    fn draw(&self, f: &mut fmt::Formatter<'_>, rails: [&str; 2], width: usize) -> fmt::Result {
        let thread = self.thread.as_deref().unwrap_or("a thread without a name");
        writeln!(f, "{}{:width$}  on {thread}", rails[0], self.who())?;
        write!(f, "{}  waits for {}", rails[1], self.waits_for)
    }
}

/// A report of starvation. The report explains why a wait could never have ended: it says which task waits for
/// which other task.
///
/// A report is printed as one line. With `{:#}` the report is printed as a picture, in which a line at the
/// left joins the waits that form the circle. All clones refer to one report. A report counts as read as soon
/// as code prints it, or asks for its [`chain`](Self::chain) or its [`others`](Self::others). A report that
/// no code has read goes to the [panic handler](crate::panics) when its last clone is dropped. (If neither
/// the pool nor the process has a handler, the report is lost. With the feature `tracing`, each report is
/// also an event of level `WARN`.)
///
/// The report was true at one moment: at that moment none of these waits could end without help from outside.
/// A thread that runs none of these tasks can still help: it can cancel one of the tasks, or give a pool more
/// threads.
///
/// # Which waits end
///
/// The table says how a wait without a deadline ends, if the last free thread of a pool begins this wait:
///
#[doc = include_str!("waits.md")]
///
/// *Helped*: the thread runs the awaited tasks itself. *Told*: the wait ends with an error that is called
/// `Starved` and contains a `Starvation`. *Waits*: the library cannot know what would end the wait. The wait
/// lasts until something ends it, or until the waiting task is cancelled. If a pool
/// [helps](OnStarvation::Help) or starts [spare threads](OnStarvation::Spare), the pool's threads are told
/// only if the pool can neither help nor start a thread.
///
/// A thread counts as a thread of its pool, whatever it runs there: a task, the drain task of a strand, a
/// hook, a callback, a destructor, or the body of a scope. A wait with a deadline, or under a token with a
/// deadline, ends in time and is never reported.
///
/// ```
/// use executor::{CutShort, Semaphore, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::single();
/// let starvation = pool.submit(|| {
///     let seat = Semaphore::new(1);
///     let _held = seat.acquire();
///     match seat.acquire() {
///         Err(CutShort::Starved(starvation)) => starvation,
///         other => unreachable!("the task holds the only permit: {other:?}"),
///     }
/// })?.join()?;
/// assert!(starvation.to_string().starts_with("starvation deadlock: task #"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "it says which task waits for which"]
pub struct Starvation(Arc<StarvationChain>);

struct StarvationChain {
    chain: Vec<StarvedWait>,
    closes_at: usize,
    others: Vec<StarvedWait>,
    read: AtomicBool,
    handler: Mutex<Option<Arc<dyn PanicHandler>>>,
}

impl Starvation {
    pub(crate) fn new(chain: Vec<StarvedWait>, closes_at: usize, others: Vec<StarvedWait>) -> Self {
        let (read, handler) = (AtomicBool::new(false), Mutex::default());
        Self(Arc::new(StarvationChain { chain, closes_at, others, read, handler }))
    }

    /// Sets the handler that gets the report if no code reads it.
    pub(crate) fn set_handler(&self, handler: Option<Arc<dyn PanicHandler>>) {
        *self.0.handler.lock() = handler;
    }

    /// Returns the waits of the report in order: each wait is blocked by the next wait in the list. The first
    /// wait is the wait that ended with this report. The last wait is blocked by the wait at
    /// [`closes_at`](Self::closes_at).
    ///
    /// ```
    /// # use executor::{CutShort, Semaphore, ThreadPoolExecutor, WaitsFor, prelude::*};
    /// # let pool = ThreadPoolExecutor::single();
    /// # let starvation = pool.submit(|| {
    /// #     let seat = Semaphore::new(1);
    /// #     let _held = seat.acquire();
    /// #     match seat.acquire() {
    /// #         Err(CutShort::Starved(starvation)) => starvation,
    /// #         other => unreachable!("the task holds the only permit: {other:?}"),
    /// #     }
    /// # })?.join()?;
    /// // A task has waited for a permit that it holds itself.
    /// assert_eq!(starvation.chain().len(), 1);
    /// assert_eq!(starvation.chain()[0].waits_for, WaitsFor::Permits);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chain(&self) -> &[StarvedWait] {
        self.mark_read();
        &self.0.chain
    }

    /// Returns the index in the [`chain`](Self::chain) at which the circle closes: the index of the wait that
    /// blocks the last wait.
    ///
    /// ```
    /// # use executor::{CutShort, Semaphore, ThreadPoolExecutor, prelude::*};
    /// # let pool = ThreadPoolExecutor::single();
    /// # let starvation = pool.submit(|| {
    /// #     let seat = Semaphore::new(1);
    /// #     let _held = seat.acquire();
    /// #     match seat.acquire() {
    /// #         Err(CutShort::Starved(starvation)) => starvation,
    /// #         other => unreachable!("the task holds the only permit: {other:?}"),
    /// #     }
    /// # })?.join()?;
    /// // A task has waited for a permit that it holds itself.
    /// assert_eq!(starvation.closes_at(), 0);
    /// # assert_eq!(starvation.chain().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn closes_at(&self) -> usize {
        self.0.closes_at
    }

    /// Returns the waits that are not in the chain: the waits of the other threads of the pools. Each of
    /// these threads could run a task that ends a wait of the chain. But all these threads wait, too.
    ///
    /// ```
    /// # use executor::{CutShort, Semaphore, ThreadPoolExecutor, prelude::*};
    /// # let pool = ThreadPoolExecutor::single();
    /// # let starvation = pool.submit(|| {
    /// #     let seat = Semaphore::new(1);
    /// #     let _held = seat.acquire();
    /// #     match seat.acquire() {
    /// #         Err(CutShort::Starved(starvation)) => starvation,
    /// #         other => unreachable!("the task holds the only permit: {other:?}"),
    /// #     }
    /// # })?.join()?;
    /// // A task has waited for a permit that it holds itself, on the only thread of its pool.
    /// assert!(starvation.others().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn others(&self) -> &[StarvedWait] {
        self.mark_read();
        &self.0.others
    }

    /// Returns the report as one line. This call does not count as a read of the report.
    #[cfg(feature = "tracing")]
    pub(crate) fn line(&self) -> String {
        self.0.line()
    }

    fn mark_read(&self) {
        // Relaxed: the flag is read only when the last clone is dropped, and an `Arc` orders that drop after
        // everything else.
        self.0.read.store(true, Ordering::Relaxed);
    }
}

impl StarvationChain {
    fn line(&self) -> String {
        let waits = self.chain.iter().map(StarvedWait::to_string);
        let others = match self.others.len() {
            0 => None,
            1 => Some("and another thread waits".to_owned()),
            n => Some(format!("and {n} other threads wait")),
        };
        let parts: Vec<_> = waits.chain(others).collect();
        format!("starvation deadlock: {}", parts.join("; "))
    }

    /// Writes the picture of the waits. A line at the left joins the waits that form the circle, from the
    /// first to the last and back.
    fn picture(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.chain.iter().chain(&self.others).map(|wait| wait.who().chars().count());
        let width = names.max().unwrap_or(0);
        f.write_str("starvation deadlock: tasks wait for each other\n")?;
        for (n, wait) in self.chain.iter().enumerate() {
            let rails = match n.cmp(&self.closes_at) {
                cmp::Ordering::Less => ["    ", "    "],
                cmp::Ordering::Equal => ["╭─▶ ", "│   "],
                cmp::Ordering::Greater => ["│   ", "│   "],
            };
            wait.draw(f, rails, width)?;
            f.write_str("\n")?;
        }
        write!(f, "╰── until {} goes on", self.chain[self.closes_at].who())?;
        if !self.others.is_empty() {
            f.write_str("\nnor can these go on before:")?;
        }
        for wait in &self.others {
            f.write_str("\n")?;
            wait.draw(f, ["    ", "    "], width)?;
        }
        Ok(())
    }
}

impl fmt::Display for Starvation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mark_read();
        if f.alternate() { self.0.picture(f) } else { f.write_str(&self.0.line()) }
    }
}

impl fmt::Debug for Starvation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mark_read();
        f.debug_tuple("Starvation").field(&format_args!("{}", self.0.line())).finish()
    }
}

/// Two reports are equal if they are clones of one report.
impl PartialEq for Starvation {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Starvation {}

impl std::error::Error for Starvation {}

impl Drop for StarvationChain {
    fn drop(&mut self) {
        if self.read.load(Ordering::Relaxed) {
            return;
        }
        let first = &self.chain[0];
        let task = first.task.as_ref().map(|task| task.name.clone().unwrap_or_else(|| task.id.to_string()));
        let handler = self.handler.lock().take();
        let line = self.line();
        let report = PanicReport::of_starvation(&line, first.thread.as_deref(), task.as_deref());
        panics::report(handler, &report);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(task: u64, name: &str, thread: &str, waits_for: WaitsFor) -> StarvedWait {
        let task = Some(TaskRef::new(TaskId::from(task), Some(name)));
        StarvedWait { task, thread: Some(thread.to_owned()), pool: Some("p".to_owned()), waits_for }
    }

    fn running(task: u64, name: &str) -> WaitsFor {
        WaitsFor::Running { task: TaskRef::new(TaskId::from(task), Some(name)) }
    }

    fn room() -> WaitsFor {
        WaitsFor::Room { pool: "p".to_owned() }
    }

    #[test]
    fn the_rail_runs_along_the_circle_only() {
        let chain = vec![
            wait(7, "book", "p-thread-3", running(8, "page")),
            wait(8, "page", "p-thread-1", room()),
            wait(9, "part", "p-thread-2", WaitsFor::Permits),
        ];
        let callback = StarvedWait {
            task: None,
            thread: None,
            ..wait(0, "", "", WaitsFor::OneOf { tasks: 2, pools: vec![] })
        };
        let report = Starvation::new(chain, 1, vec![callback, wait(11, "b", "q-thread-1", room())]);
        let picture = "\
starvation deadlock: tasks wait for each other
    book (#7)   on p-thread-3
      waits for task page (#8), which is running and waits, too
╭─▶ page (#8)   on p-thread-1
│     waits for room in the queue of p, where no thread is free
│   part (#9)   on p-thread-2
│     waits for permits that are held by tasks that wait, too
╰── until page (#8) goes on
nor can these go on before:
    a callback  on a thread without a name
      waits for the first of 2 tasks, all of which are running and wait, too
    b (#11)     on q-thread-1
      waits for room in the queue of p, where no thread is free";
        assert_eq!(format!("{report:#}"), picture);
        let line = report.to_string();
        assert!(line.ends_with("wait, too; and 2 other threads wait") && !line.contains('\n'), "{line}");
    }

    #[test]
    fn a_task_in_several_queues_is_in_each_of_them() {
        let pools = vec!["a".to_owned(), "b".to_owned()];
        let waits = WaitsFor::OneOf { tasks: 3, pools };
        assert_eq!(waits.to_string(), "the first of 3 tasks, queued in a and b, where no thread is free");
    }
}
