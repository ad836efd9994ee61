//! Right: the entry itself has the tag, and the entry's destructor records how the task ended. If a thread
//! took an entry and did not call it before the stop, the task is reported as cut off. The report waits until
//! the thread has dropped this entry.
#![allow(unused)]

use std::collections::BTreeMap;
use std::mem;

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

struct Book<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    token: Token,
}

struct State<T> {
    submitted: u64,
    /// The number of envelopes that have not been dropped.
    envelopes: usize,
    /// The tags of the envelopes that were dropped without being called.
    not_begun: BTreeMap<u64, T>,
    cut_off: Vec<T>,
    is_stopped: bool,
}

enum Fate {
    NotCalled,
    Unfinished,
    Done,
}

struct Envelope<T> {
    book: Arc<Book<T>>,
    number: u64,
    tag: Option<T>,
    fate: Fate,
}

impl<T> Envelope<T> {
    fn call(mut self, job: Job) {
        self.fate = Fate::Unfinished;
        if self.book.state.lock().unwrap().is_stopped {
            return;
        }
        let result = job(&self.book.token);
        if result.is_ok() {
            self.fate = Fate::Done;
        }
    }
}

impl<T> Drop for Envelope<T> {
    fn drop(&mut self) {
        let mut state = self.book.state.lock().unwrap();
        state.envelopes -= 1;
        match self.fate {
            Fate::NotCalled => state.not_begun.extend(self.tag.take().map(|tag| (self.number, tag))),
            Fate::Unfinished if self.book.token.is_cancelled() => state.cut_off.extend(self.tag.take()),
            Fate::Unfinished | Fate::Done => {}
        }
        if state.is_over() {
            self.book.changed.notify_all();
        }
    }
}

impl<T> State<T> {
    fn is_over(&self) -> bool {
        self.is_stopped && self.envelopes == 0
    }
}

impl<T: Clone + Send + Sync + 'static> TrackingExecutor<T> {
    /// Makes a tracking executor over a pool that no other code uses.
    pub fn new(pool: Arc<dyn Pool>) -> Self {
        let state =
            State { submitted: 0, envelopes: 0, not_begun: BTreeMap::new(), cut_off: Vec::new(), is_stopped: false };
        let book = Book { state: Mutex::new(state), changed: Condvar::new(), token: Token::default() };
        Self { pool, book: Arc::new(book) }
    }

    /// Gives a task to the pool. The job is called with a token that `stop` cancels.
    ///
    /// Returns `Err` with the tag if the task is not accepted, because the executor was stopped or because
    /// the pool refuses the entry.
    pub fn submit(&self, tag: T, job: Job) -> Result<(), T> {
        let mut state = self.book.state.lock().unwrap();
        if state.is_stopped {
            return Err(tag);
        }
        state.submitted += 1;
        state.envelopes += 1;
        let number = state.submitted;
        drop(state);
        let envelope = Envelope { book: Arc::clone(&self.book), number, tag: Some(tag), fate: Fate::NotCalled };
        match self.pool.execute(Box::new(move || envelope.call(job))) {
            Ok(()) => Ok(()),
            Err(entry) => {
                drop(entry);
                self.book.state.lock().unwrap().not_begun.remove(&number).map_or(Ok(()), Err)
            }
        }
    }

    /// Stops at once: no further task begins, running tasks are asked to stop, and the pool is stopped. Does
    /// not wait for any task.
    ///
    /// Returns the tags of the tasks that had not begun, in the order of submission. A second call returns
    /// none of these tags again.
    pub fn stop(&self) -> Vec<T> {
        {
            let mut state = self.book.state.lock().unwrap();
            state.is_stopped = true;
            self.book.token.cancel();
            self.book.changed.notify_all();
        }
        drop(self.pool.shutdown_now());
        mem::take(&mut self.book.state.lock().unwrap().not_begun).into_values().collect()
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
