//! One task at a time, in the order of submission, on the threads of any executor.
//!
//! For tasks that must not overlap: those of one account, one file, one client. A pool of one thread does that, too, but it
//! keeps its thread while there is nothing to do. A line of tasks needs one only while it has some, and any number of lines
//! can share a pool.
//!
//! # How a line moves
//!
//! ```text
//!            first task                   accepted                     begins
//!   empty ───────────────▶ being offered ──────────▶ in the executor ────────▶ moves ──last task done──▶ empty
//!     ▲                          │ refused                 │ dropped
//!     └──────────────────────────┴─────────────────────────┘
//! ```
//!
//! The line gives the executor below one task, its *head*, which runs the tasks of the line one after the other until none is
//! left. So the executor can refuse only when the line is empty, and the refusal is the answer to the one whose task it was.
//! In the classic listing each task submits the next one: refused in the middle, the rest of the line stays where it is for
//! ever.
//!
//! # Invariants
//!
//! 1. There is at most one head. While there is one, every task that is in the line will be run by it, or be dropped with it.
//! 2. While the head is being offered, other submitters wait: nobody counts on a head that may be refused.
//! 3. No user code runs under the lock.

use std::collections::VecDeque;
use std::fmt;
use std::task::Waker;

use crate::companion::Companion;
use crate::error::{RejectReason, WaitError};
use crate::executor::{Executor, RejectedExecution};
use crate::ids::{Place, TaskId, ThreadKey, WatcherId, this_thread};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex};
use crate::task::Task;
use crate::wait::{self, Deadline, Look, Ticket, wait_for};
use crate::wait_graph::{Awaited, ComesFrom, Source, enter_line, leave_line, look_again_at, see_to};
use crate::watcher::{QueueWatcher, ServedBy, Watch};

/// Runs tasks one at a time and in the order of their submission, on the threads of the executor below.
///
/// ```
/// use executor::{SerialExecutor, ThreadPoolExecutor, prelude::*};
/// use std::sync::{Arc, Mutex};
///
/// let pool = ThreadPoolExecutor::fixed(4);
/// let account = SerialExecutor::over(&pool);
/// let log = Arc::new(Mutex::new(Vec::new()));
/// for n in 0..3 {
///     let log = Arc::clone(&log);
///     account.execute(move || log.lock().unwrap().push(n))?;
/// }
/// account.submit(|| ())?.join().unwrap(); // the last in the line
/// assert_eq!(*log.lock().unwrap(), [0, 1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each task sees what those before it did, whichever threads they ran on. One that panics does not stop the line; its panic
/// goes to the [panic handler of the process](crate::panics) if nobody reads it. The line has no end of its own, and keeps
/// the thread that it got until it is empty: a line that never is keeps it for ever.
///
/// If the executor below refuses, the submission that it was asked for fails. If it drops what it has accepted, as
/// [`Discard`](crate::Discard) does, the tasks that are in the line then are dropped and their handles completed as cancelled.
/// If it hands that out, as [`shutdown_now`](crate::ExecutorService::shutdown_now) does, it comes as one task, which runs the
/// line.
///
/// # Blocking
/// `execute` and `submit` wait while another thread's submission is just being accepted or refused by the executor below, as
/// long as that takes. A task that waits for a later one of its own line would wait for ever: that is [found](crate::Starvation).
pub struct SerialExecutor<E> {
    inner: E,
    line: Arc<Line>,
}

struct Line {
    state: Mutex<LineState>,
    watch: Watch,
}

struct LineState {
    tasks: VecDeque<Queued>,
    /// How many of them were cancelled. For a moment it may be below zero.
    tombstones: isize,
    /// There is a head.
    moves: bool,
    /// Who is giving the head to the executor below.
    offered_by: Option<ThreadKey>,
    /// Where the head is.
    head: Place,
    /// Submitters that wait until the head is accepted or refused.
    submitters: wait::Line,
}

/// A task in the line.
struct Queued {
    task: Task,
    /// See [`enter_line`].
    collector: usize,
}

impl<E: Executor> SerialExecutor<E> {
    /// Makes an empty line over an executor.
    pub fn over(executor: E) -> Self {
        let line = Arc::new_cyclic(|me| Line {
            state: Mutex::new(LineState {
                tasks: VecDeque::new(),
                tombstones: 0,
                moves: false,
                offered_by: None,
                head: Place::Elsewhere,
                submitters: wait::Line::new(),
            }),
            watch: Watch::new(me),
        });
        Self { inner: executor, line }
    }

    /// How many tasks wait in the line, without the one that runs.
    pub fn waiting(&self) -> usize {
        let state = self.line.state.lock();
        state.tasks.len().saturating_sub(usize::try_from(state.tombstones).unwrap_or(0))
    }

    /// The executor below.
    pub fn executor(&self) -> &E {
        &self.inner
    }
}

impl<E: Executor> Executor for SerialExecutor<E> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let id = task.id();
        if !self.line.join(task)? {
            return Ok(()); // the head will come to it
        }
        let line = Arc::clone(&self.line);
        let head = Task::new(move || line.run()).named("a line of tasks");
        let head = head.accompanied(Head { line: Arc::clone(&self.line), begun: AtomicBool::new(false) });
        match self.inner.execute_task(head) {
            Ok(()) => {
                self.line.is_decided();
                Ok(())
            }
            Err(RejectedExecution { reason, task: head }) => {
                let own = self.line.take_out(self.line.watch.id(), id);
                drop(head); // the line is empty now, and those who wait try for themselves
                match own {
                    Some(task) => Err(RejectedExecution { reason, task }),
                    None => Ok(()), // cancelled meanwhile
                }
            }
        }
    }
}

impl Line {
    /// Puts a task into the line. True if the caller has to find somebody who runs it.
    fn join(self: &Arc<Self>, task: Task) -> Result<bool, RejectedExecution> {
        let (mut task, mut ticket) = (Some(task), None);
        let result = wait_for(Deadline::NEVER, Entry { line: self, task: &mut task, ticket: &mut ticket });
        if let Some(ticket) = ticket {
            self.state.lock().submitters.leave(ticket);
        }
        result.map_err(|why| RejectedExecution {
            reason: match why {
                WaitError::Starved(starvation) => RejectReason::Starved(starvation),
                _ => RejectReason::Interrupted,
            },
            task: task.take().expect("it has not joined the line"),
        })
    }

    /// The head was accepted, or is gone.
    fn is_decided(&self) {
        let mut state = self.state.lock();
        state.offered_by = None;
        let waiting = state.submitters.take_all();
        drop(state);
        waiting.for_each(Waker::wake);
    }

    /// The head's body: runs what is in the line until there is nothing.
    fn run(self: &Arc<Self>) {
        while let Some(task) = self.next() {
            let _job = see_to(task.label());
            task.run();
        }
    }

    fn next(&self) -> Option<Task> {
        let mut cancelled = Vec::new(); // declared first, so dropped last: when the lock is free
        let mut state = self.state.lock();
        let next = loop {
            match state.tasks.pop_front().map(|queued| self.let_go(&mut state, queued)) {
                Some((task, true)) => cancelled.push(task),
                next => break next.map(|(task, _)| task),
            }
        };
        if next.is_none() {
            (state.moves, state.head) = (false, Place::Elsewhere);
        }
        drop(state);
        next
    }

    /// Counts a task that is out of the line. True if it was cancelled in there.
    fn let_go(&self, state: &mut LineState, queued: Queued) -> (Task, bool) {
        let Queued { task, collector } = queued;
        leave_line(collector, self.watch.id());
        let was_cancelled = task.leave_queue();
        state.tombstones -= isize::from(was_cancelled);
        (task, was_cancelled)
    }

    /// Takes out what was cancelled, for the caller to drop outside the lock.
    fn clear_out(&self, state: &mut LineState) -> Vec<(Task, bool)> {
        let (cancelled, tasks): (VecDeque<_>, _) =
            state.tasks.drain(..).partition(|queued| queued.task.is_cancelled());
        state.tasks = tasks;
        cancelled.into_iter().map(|queued| self.let_go(state, queued)).collect()
    }

    fn head_is(&self, place: Place) {
        self.state.lock().head = place;
    }

    /// The head was dropped without having been run, and with it all that counted on it.
    fn abandon(&self) {
        let mut state = self.state.lock();
        (state.moves, state.head) = (false, Place::Elsewhere);
        let tasks = std::mem::take(&mut state.tasks);
        let tasks: Vec<_> = tasks.into_iter().map(|queued| self.let_go(&mut state, queued)).collect();
        drop(state);
        drop(tasks);
        self.is_decided();
    }
}

/// A look at the line by a submitter.
struct Entry<'a> {
    line: &'a Arc<Line>,
    task: &'a mut Option<Task>,
    ticket: &'a mut Option<Ticket>,
}

impl Look for Entry<'_> {
    type Found = bool;

    fn look(&mut self, waker: &Waker) -> Option<bool> {
        let mut state = self.line.state.lock();
        if let Some(ticket) = self.ticket.take() {
            state.submitters.leave(ticket);
        }
        if state.offered_by.is_some_and(|thread| thread != this_thread()) {
            *self.ticket = Some(state.submitters.join(waker.clone()));
            return None;
        }
        let is_first = !state.moves;
        if is_first {
            (state.moves, state.offered_by) = (true, Some(this_thread()));
        }
        let task = self.task.take()?;
        let id = self.line.watch.id();
        let collector = task.collector();
        enter_line(collector, id);
        state.tombstones += isize::from(!task.enter_queue(id));
        state.tasks.push_back(Queued { task, collector });
        let head = state.head;
        drop(state);
        look_again_at(head); // somebody may have waited for this task before it was here, and have looked who could run it
        Some(is_first)
    }

    fn what(&self) -> Option<Awaited> {
        Some(Awaited::Other(Arc::clone(self.line) as Arc<dyn Source>))
    }
}

/// For a submitter that waits until the head is accepted.
impl Source for Line {
    fn comes_from(&self) -> ComesFrom {
        match self.state.lock().offered_by {
            Some(thread) => ComesFrom::Places(vec![Place::On(thread)]),
            None => ComesFrom::Elsewhere,
        }
    }
}

/// Goes along with the head.
struct Head {
    line: Arc<Line>,
    begun: AtomicBool,
}

impl Companion for Head {
    fn enters(&self, queue: WatcherId) {
        self.line.head_is(Place::In(queue));
    }

    fn leaves(&self) {
        self.line.head_is(Place::Elsewhere);
    }

    fn begins(&self) {
        self.begun.store(true, Ordering::Relaxed); // read by its drop
        self.line.head_is(Place::On(this_thread()));
        self.line.is_decided();
    }
}

impl Drop for Head {
    fn drop(&mut self) {
        if !self.begun.load(Ordering::Relaxed) {
            self.line.abandon();
        }
    }
}

impl QueueWatcher for Line {
    fn cancelled_in_queue(&self, _queue: WatcherId) {
        let mut state = self.state.lock();
        state.tombstones += 1;
        // As a pool does: each of them pays a constant share of the clearing up.
        let half = isize::try_from(state.tasks.len() / 2).unwrap_or(isize::MAX);
        let removed = if state.tombstones >= 32 && state.tombstones >= half {
            self.clear_out(&mut state)
        } else {
            Vec::new()
        };
        drop(state);
        drop(removed);
    }

    fn tombstone_dropped(&self) {} // what leaves the line is counted before it is dropped

    fn take_out(&self, _queue: WatcherId, id: TaskId) -> Option<Task> {
        let mut state = self.state.lock();
        let place = state.tasks.iter().position(|queued| queued.task.id() == id)?;
        let queued = state.tasks.remove(place)?;
        let (task, was_cancelled) = self.let_go(&mut state, queued);
        drop(state);
        (!was_cancelled).then_some(task)
    }

    fn name(&self) -> String {
        "a serial executor".to_owned()
    }

    fn served_by(self: Arc<Self>, _queue: WatcherId) -> ServedBy {
        let state = self.state.lock();
        ServedBy::Head(match state.head {
            Place::In(_) if state.offered_by.is_some() => Place::Elsewhere, // it may begin this moment
            place => place,
        })
    }

    fn queued_of(&self, _queue: WatcherId, collector: usize) -> usize {
        self.state.lock().tasks.iter().filter(|queued| queued.task.collector() == collector).count()
    }
}

impl<E: fmt::Debug> fmt::Debug for SerialExecutor<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.line.state.lock().tasks.len();
        f.debug_struct("SerialExecutor").field("waiting", &waiting).field("executor", &self.inner).finish()
    }
}
