//! Right: the queue has the jobs, too, and any entry runs what is oldest in it.
#![allow(unused)]

use std::collections::BTreeMap;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

// ----- Given. -----

/// What a job returns that gives up because it was asked to stop. It has not done what it had to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// How a job learns that it should stop. Clones are the same token.
#[derive(Debug, Clone, Default)]
pub struct Token(Arc<AtomicBool>);

impl Token {
    /// Asks the tasks that have this token to stop. This cannot be taken back.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether `cancel` was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Fails if `cancel` was called, for `?`.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

/// What a task does. `Ok`: all of it. `Err`: it was asked to stop, and gave up. It may panic.
pub type Job = Box<dyn FnOnce(&Token) -> Result<(), Cancelled> + Send>;

/// What the pool below calls.
pub type Runnable = Box<dyn FnOnce() + Send>;

/// A thread pool with a queue.
pub trait Pool: Send + Sync {
    /// Puts an entry into the queue, and returns. Later a thread of the pool takes it out and calls it; the thread that calls
    /// `execute` never does. A panic of the entry ends there. `Err` with the entry: the pool refuses it.
    fn execute(&self, entry: Runnable) -> Result<(), Runnable>;

    /// Takes all entries out of the queue and returns them, the oldest first. From now on the pool refuses every entry.
    ///
    /// It waits for no thread of the pool. A thread that has taken an entry out of the queue before calls it, now or a little
    /// later.
    fn shutdown_now(&self) -> Vec<Runnable>;
}

// ----- Yours. -----

/// An executor that knows, after a stop, which tasks have to be done again. Each task has a tag.
pub struct TrackingExecutor<T> {
    pool: Arc<dyn Pool>,
    book: Arc<Book<T>>,
}

/// What the executor shares with the entries that it gives to the pool.
struct Book<T> {
    state: Mutex<State<T>>,
    /// The executor was stopped, or the last task has ended after the stop.
    changed: Condvar,
    /// Cancelled by `stop`.
    token: Token,
}

/// Each accepted task that is not done is in one of the three lists. Tasks are known by their numbers: tags may be equal.
struct State<T> {
    submitted: u64,
    waiting: BTreeMap<u64, (T, Job)>,
    running: BTreeMap<u64, T>,
    cut_off: Vec<T>,
    is_stopped: bool,
}

impl<T: Clone + Send + Sync + 'static> TrackingExecutor<T> {
    /// Makes an executor over a pool that no other code uses.
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

    /// Has the pool run a task. The job is called with a token that `stop` cancels.
    ///
    /// `Err` with the tag: the task is not accepted, because the executor was stopped, or because the pool refuses.
    pub fn submit(&self, tag: T, job: Job) -> Result<(), T> {
        let number = self.book.add(tag, job)?;
        let book = Arc::clone(&self.book);
        // No lock is held while the pool is called.
        match self.pool.execute(Box::new(move || book.run())) {
            Ok(()) => Ok(()),
            // Unless a stop has handed the tag back meanwhile: then it is there, and not here.
            Err(_entry) => self.book.take_back(number).map_or(Ok(()), Err),
        }
    }

    /// Stops at once: no task begins any more, those that run are asked to stop, and the pool is stopped. Waits for no task.
    ///
    /// Returns the tags of the tasks that had not begun, in the order of submission. A second call returns none of them again.
    pub fn stop(&self) -> Vec<T> {
        let not_begun = self.book.stop();
        // Entries are good to be called, and these must not be. Their tags are in the book.
        drop(self.pool.shutdown_now());
        not_begun.into_values().map(|(tag, _job)| tag).collect()
    }

    /// The tags of the tasks that were cut off, in any order. Says the same whenever it is asked.
    ///
    /// `None`: the executor was not stopped, or a task still runs. It may be done yet, or be cut off.
    pub fn cut_off(&self) -> Option<Vec<T>> {
        let state = self.book.state.lock().unwrap();
        state.is_over().then(|| state.cut_off.clone())
    }

    /// Waits until the executor is stopped and no task runs any more: `cut_off` gives the tags then.
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
    /// Notes a task that waits, and returns its number. `Err` with the tag after the stop.
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

    /// Forgets a task that waits. `None`: it no longer does.
    fn take_back(&self, number: u64) -> Option<T> {
        let task = self.state.lock().unwrap().waiting.remove(&number);
        task.map(|(tag, _job)| tag)
    }

    /// The entry: what a thread of the pool calls.
    fn run(&self) {
        let Some((number, job)) = self.begin() else { return };
        // No lock is held here.
        let is_done = match catch_unwind(AssertUnwindSafe(|| job(&self.token))) {
            Ok(result) => result.is_ok(),
            // It is not known how far it came. Not asked to stop, it has failed by itself, and would again.
            Err(_panic) => !self.token.is_cancelled(),
        };
        self.end(number, is_done);
    }

    /// Whether the task may begin. From the list of those that wait into that of those that run is one step: `stop` finds it in
    /// one of the two.
    fn begin(&self) -> Option<(u64, Job)> {
        let mut state = self.state.lock().unwrap();
        let (number, (tag, job)) = state.waiting.pop_first()?;
        state.running.insert(number, tag);
        Some((number, job))
    }

    /// One step, too: a report that is made when nothing runs has all that was cut off.
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

    /// Decides that no task begins any more, and takes those that have not.
    fn stop(&self) -> BTreeMap<u64, (T, Job)> {
        let mut state = self.state.lock().unwrap();
        state.is_stopped = true;
        self.token.cancel();
        self.changed.notify_all(); // perhaps nothing runs
        mem::take(&mut state.waiting)
    }
}
