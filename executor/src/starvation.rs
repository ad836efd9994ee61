//! What is said of a wait that could never end: starvation deadlock.
//!
//! A task that waits for another one keeps its thread. If that other one waits in a queue for a thread, and every thread
//! that its pool may have is kept in this way, none of them is ever free: the tasks *starve* each other. No lock is held, no
//! thread spins, and the program stands still.
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
//! How such a wait is found is told in the module `wait_graph`. Here is what its finder says: [`Starvation`] names who waits
//! for what, from the wait that would have closed the circle to the point where it closes.
//!
//! # Invariants
//!
//! 1. A report that nobody has read goes to the panic handler of the pool when its last copy is dropped: a task that cannot
//!    do its work is a failure, and no failure is lost.

use std::fmt;

use crate::ids::TaskId;
use crate::panics::{self, PanicHandler, PanicReport};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex};

/// What becomes of a wait that can never end because every thread that could end it waits, too.
///
/// Set by [`ThreadPoolBuilder::on_starvation`](crate::ThreadPoolBuilder::on_starvation), and obeyed by the threads of that
/// pool. Before any of it, a pool that has fewer threads than its maximum starts another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnStarvation {
    /// The wait ends with an error that says who waits for whom, such as
    /// [`JoinError::Starved`](crate::JoinError::Starved).
    #[default]
    Report,
    /// The waiting thread runs the task itself that it waits for, if that has not begun: in a join, and in `invoke_all`. If
    /// it has nothing to run, it reports.
    ///
    /// The task runs on top of the one that waits, so it needs stack, and it must not wait for what the waiting task
    /// holds, such as a lock. It may wait for another task and have that run in the same way, `depth` deep at most.
    Help {
        /// How many tasks may lie on top of the first.
        depth: usize,
    },
    /// As [`Help`](Self::Help), and a thread that has no such task takes the next one out of its pool's queue, whichever it
    /// is: in a completion service, in a submission that blocks.
    ///
    /// For tasks that hold nothing while they wait. A task that is run in this way may wait for the one below it, which
    /// cannot go on before it has ended; then that wait is reported.
    HelpOthers {
        /// How many tasks may lie on top of the first.
        depth: usize,
    },
    /// The pool starts another thread beyond its maximum, which leaves when the wait is over. If there are `at_most` already,
    /// the wait is reported.
    Spare {
        /// How many threads there may be beyond the maximum.
        at_most: usize,
    },
}

/// A task in a report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskRef {
    /// Its id.
    pub id: TaskId,
    /// Its name, if it was given one.
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

/// One thread in a report: what it runs, and what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StarvedWait {
    /// The task that waits. None if the thread runs none, as in a hook.
    pub task: Option<TaskRef>,
    /// The thread that runs it, by name.
    pub thread: Option<String>,
    /// The pool whose thread that is, by the name of its thread factory. None for a thread of one's own.
    pub pool: Option<String>,
    /// What for.
    pub waits_for: WaitsFor,
}

/// What a thread waits for that cannot come.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum WaitsFor {
    /// A task that waits in the queue of a pool none of whose threads is free.
    Queued {
        /// The task.
        task: TaskRef,
        /// The pool.
        pool: String,
    },
    /// A task that has begun, and whose thread is in such a wait itself.
    Running {
        /// The task.
        task: TaskRef,
    },
    /// The first of several tasks to end, none of which can.
    OneOf {
        /// How many there are.
        tasks: usize,
        /// The pools in which some of them are queued.
        pools: Vec<String>,
    },
    /// Room in the queue of a pool none of whose threads is free.
    Room {
        /// The pool.
        pool: String,
    },
    /// Permits of a semaphore, which threads hold that are in such a wait themselves.
    Permits,
}

impl fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queued { task, pool } => {
                write!(f, "task {task}, queued in {pool}, none of whose threads is free")
            }
            Self::Running { task } => write!(f, "task {task}, which runs and waits, too"),
            Self::OneOf { tasks, pools } if pools.is_empty() => {
                write!(f, "the first of {tasks} tasks, all of which run and wait, too")
            }
            Self::OneOf { tasks, pools } => {
                write!(
                    f,
                    "the first of {tasks} tasks, queued in {} without a free thread",
                    pools.join(" and ")
                )
            }
            Self::Room { pool } => write!(f, "room in the queue of {pool}, none of whose threads is free"),
            Self::Permits => f.write_str("permits that are held by tasks that wait, too"),
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

/// Who waits for whom: why a wait could never have ended.
///
/// It prints as a line, and with `{:#}` as a picture. Clones are the same report. If nobody reads it, by printing it or by
/// asking for its [`chain`](Self::chain), it goes to the [panic handler](crate::panics) when its last clone is dropped.
///
/// It was true at one moment: from then on nothing could have gone on by itself. A thread outside, which belongs to none of
/// the tasks, may change that: it may cancel one of them, or give a pool more threads.
#[derive(Clone)]
#[must_use = "it says which task waits for which"]
pub struct Starvation(Arc<Found>);

struct Found {
    chain: Vec<StarvedWait>,
    closes_at: usize,
    others: Vec<StarvedWait>,
    read: AtomicBool,
    handler: Mutex<Option<Arc<dyn PanicHandler>>>,
}

impl Starvation {
    pub(crate) fn new(
        chain: Vec<StarvedWait>,
        closes_at: usize,
        others: Vec<StarvedWait>,
        handler: Option<Arc<dyn PanicHandler>>,
    ) -> Self {
        let (read, handler) = (AtomicBool::new(false), Mutex::new(handler));
        Self(Arc::new(Found { chain, closes_at, others, read, handler }))
    }

    /// The waits, each held up by the next, beginning with the one that was ended. The last one is held up by that at
    /// [`closes_at`](Self::closes_at).
    pub fn chain(&self) -> &[StarvedWait] {
        self.mark_read();
        &self.0.chain
    }

    /// Where in the [`chain`](Self::chain) the circle closes: the place of the wait that holds up the last one.
    pub fn closes_at(&self) -> usize {
        self.0.closes_at
    }

    /// Other waits that would have to end first for one of the chain to end: those of the other threads of the pools.
    pub fn others(&self) -> &[StarvedWait] {
        self.mark_read();
        &self.0.others
    }

    /// The report as a line, without having been read.
    #[cfg(feature = "tracing")]
    pub(crate) fn line(&self) -> String {
        self.0.line()
    }

    fn mark_read(&self) {
        // Relaxed: looked at only when the last clone is dropped, and dropping an `Arc` orders that after everything.
        self.0.read.store(true, Ordering::Relaxed);
    }
}

impl Found {
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

    fn picture(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("starvation deadlock\n")?;
        let name = |wait: &StarvedWait| match &wait.task {
            Some(task) => task.to_string(),
            None => "a callback".to_owned(),
        };
        let width = self.chain.iter().chain(&self.others).map(|wait| name(wait).chars().count()).max();
        let width = width.unwrap_or(0);
        for (n, wait) in self.chain.iter().enumerate() {
            let is_in_the_circle = n >= self.closes_at;
            let rail = if n == self.closes_at {
                "╭─▶"
            } else if is_in_the_circle {
                "│  "
            } else {
                "   "
            };
            let arrow = if is_in_the_circle { "│" } else { " " };
            let thread = wait.thread.as_deref().unwrap_or("a thread without a name");
            writeln!(f, "{rail} {:width$}  on {thread}", name(wait))?;
            writeln!(f, "{arrow}     waits for {}", wait.waits_for)?;
        }
        f.write_str("╰──")?;
        for wait in &self.others {
            let thread = wait.thread.as_deref().unwrap_or("a thread without a name");
            write!(f, "\n    {:width$}  on {thread}\n      waits for {}", name(wait), wait.waits_for)?;
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

/// Two are equal if they are one and the same report, that is, clones.
impl PartialEq for Starvation {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Starvation {}

impl std::error::Error for Starvation {}

impl Drop for Found {
    fn drop(&mut self) {
        if self.read.load(Ordering::Relaxed) {
            return;
        }
        let first = &self.chain[0];
        let task = first.task.as_ref().map(|task| task.name.clone().unwrap_or_else(|| task.id.to_string()));
        let handler = self.handler.lock().take();
        let line = self.line();
        panics::report(handler, &PanicReport::of_starvation(&line, first.thread.as_deref(), task.as_deref()));
    }
}
