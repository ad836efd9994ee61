//! Right: the executor keeps the jobs in its own queue, and each entry runs the oldest job in that queue.
#![allow(unused)]

use std::collections::BTreeMap;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// The error of a job that was asked to stop, and gave up before all of its work was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// Tells a job that it should stop. All clones of a token are cancelled together.
#[derive(Debug, Clone, Default)]
pub struct Token(Arc<AtomicBool>);

impl Token {
    /// Asks the tasks that have this token to stop. A cancelled token stays cancelled.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns true if `cancel` was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns an error if `cancel` was called. A job can apply `?` to the result.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

/// The work of a task. A job returns `Ok` if its work is done, and `Err` if it was asked to stop and gave up.
/// A job may panic.
pub type Job = Box<dyn FnOnce(&Token) -> Result<(), Cancelled> + Send>;

/// An entry of the pool's queue: a closure that the pool calls once.
pub type Runnable = Box<dyn FnOnce() + Send>;

/// A thread pool with a queue.
pub trait Pool: Send + Sync {
    /// Puts an entry into the queue, and returns. Later a thread of the pool takes the entry out and calls
    /// it. The thread that calls `execute` never calls the entry. The pool catches a panic of the entry.
    /// Returns `Err` with the entry if the pool refuses the entry.
    fn execute(&self, entry: Runnable) -> Result<(), Runnable>;

    /// Takes all entries out of the queue and returns them, the oldest first. After this call, the pool
    /// refuses every entry.
    ///
    /// Does not wait for any thread of the pool. A thread that has already taken an entry out of the queue
    /// still calls the entry, now or a little later.
    fn shutdown_now(&self) -> Vec<Runnable>;
}

// ----- Yours. -----

/// An executor that knows, after a stop, which tasks have to be done again. Each task has a tag.
pub struct TrackingExecutor<T> {
    pool: Arc<dyn Pool>,
    book: Arc<Book<T>>,
}

/// The state that the executor shares with the entries that it gives to the pool.
struct Book<T> {
    state: Mutex<State<T>>,
    /// Notified when the executor is stopped, and when the last task ends after the stop.
    changed: Condvar,
    /// The token that all jobs get, and that `stop` cancels.
    token: Token,
}

/// The three lists: each accepted task that is not done is in exactly one list. The key of a task is its
/// number, because tags may be equal.
struct State<T> {
    submitted: u64,
    waiting: BTreeMap<u64, (T, Job)>,
    running: BTreeMap<u64, T>,
    cut_off: Vec<T>,
    is_stopped: bool,
}

impl<T: Clone + Send + Sync + 'static> TrackingExecutor<T> {
    /// Makes a tracking executor over a pool that no other code uses.
    pub fn new(pool: Arc<dyn Pool>) -> Self {
        let state = State {
            submitted: 0,
            waiting: BTreeMap::new(),
            running: BTreeMap::new(),
            cut_off: Vec::new(),
            is_stopped: false,
        };
        let book = Book { state: Mutex::new(state), changed: Condvar::new(), token: Token::default() };
        Self { pool, book: Arc::new(book) }
    }

    /// Gives a task to the pool. The job is called with a token that `stop` cancels.
    ///
    /// Returns `Err` with the tag if the task is not accepted, because the executor was stopped or because
    /// the pool refuses the entry.
    pub fn submit(&self, tag: T, job: Job) -> Result<(), T> {
        let number = self.book.add(tag, job)?;
        let book = Arc::clone(&self.book);
        // No lock is held during the call of the pool.
        match self.pool.execute(Box::new(move || book.run())) {
            Ok(()) => Ok(()),
            // If `stop` has already handed the tag back, `submit` must not hand the tag back again.
            Err(_entry) => self.book.take_back(number).map_or(Ok(()), Err),
        }
    }

    /// Stops at once: no further task begins, running tasks are asked to stop, and the pool is stopped. Does
    /// not wait for any task.
    ///
    /// Returns the tags of the tasks that had not begun, in the order of submission. A second call returns
    /// none of these tags again.
    pub fn stop(&self) -> Vec<T> {
        let not_begun = self.book.stop();
        // The returned entries must not be called, so they are dropped. The struct `Book` has the tags of the
        // tasks.
        drop(self.pool.shutdown_now());
        not_begun.into_values().map(|(tag, _job)| tag).collect()
    }

    /// Returns the tags of the tasks that were cut off, in any order. Every later call returns the same tags.
    ///
    /// Returns `None` if the executor was not stopped, or if a task still runs. A task that still runs may end
    /// as done or as cut off.
    pub fn cut_off(&self) -> Option<Vec<T>> {
        let state = self.book.state.lock().unwrap();
        state.is_over().then(|| state.cut_off.clone())
    }

    /// Waits until the executor is stopped and no task runs any more. After `wait`, `cut_off` returns the
    /// tags.
    pub fn wait(&self) {
        let mut state = self.book.state.lock().unwrap();
        while !state.is_over() {
            state = self.book.changed.wait(state).unwrap();
        }
    }
}

impl<T> State<T> {
    fn is_over(&self) -> bool {
        self.is_stopped && self.running.is_empty()
    }
}

impl<T> Book<T> {
    /// Adds a task to the waiting tasks, and returns its number. After the stop, returns `Err` with the tag.
    fn add(&self, tag: T, job: Job) -> Result<u64, T> {
        let mut state = self.state.lock().unwrap();
        if state.is_stopped {
            return Err(tag);
        }
        let number = state.submitted;
        state.submitted += 1;
        state.waiting.insert(number, (tag, job));
        Ok(number)
    }

    /// Removes a waiting task, and returns its tag. Returns `None` if the task no longer waits.
    fn take_back(&self, number: u64) -> Option<T> {
        let task = self.state.lock().unwrap().waiting.remove(&number);
        task.map(|(tag, _job)| tag)
    }

    /// The function that each entry calls on a thread of the pool.
    fn run(&self) {
        let Some((number, job)) = self.begin() else { return };
        // No lock is held while the job runs.
        let is_done = match catch_unwind(AssertUnwindSafe(|| job(&self.token))) {
            Ok(result) => result.is_ok(),
            // A panicked job may have done a part of its work. A job that panics without being asked to stop
            // has failed by itself, and would fail again.
            Err(_panic) => !self.token.is_cancelled(),
        };
        self.end(number, is_done);
    }

    /// Moves a task from the waiting to the running tasks in one step, so that `stop` finds the task in
    /// exactly one of the two lists.
    fn begin(&self) -> Option<(u64, Job)> {
        let mut state = self.state.lock().unwrap();
        let (number, (tag, job)) = state.waiting.pop_first()?;
        state.running.insert(number, tag);
        Some((number, job))
    }

    /// Ends a running task: the task leaves the running tasks and joins the report in one step, so the report
    /// is complete when no task runs.
    fn end(&self, number: u64, is_done: bool) {
        let mut state = self.state.lock().unwrap();
        let tag = state.running.remove(&number);
        if !is_done {
            state.cut_off.extend(tag);
        }
        if state.is_over() {
            self.changed.notify_all();
        }
    }

    /// Marks the executor as stopped, and takes the tasks that have not begun.
    fn stop(&self) -> BTreeMap<u64, (T, Job)> {
        let mut state = self.state.lock().unwrap();
        state.is_stopped = true;
        self.token.cancel();
        self.changed.notify_all(); // perhaps no task runs
        mem::take(&mut state.waiting)
    }
}
