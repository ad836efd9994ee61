//! Right: the entry itself has the tag, and its destructor says what became of it. One that a thread had taken, and that was not called before the stop, is reported as cut off, and the report waits for it.
#![allow(unused)]

use std::collections::BTreeMap;
use std::mem;

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

struct Book<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    token: Token,
}

struct State<T> {
    submitted: u64,
    /// Envelopes that have not been dropped.
    envelopes: usize,
    /// Of envelopes that were dropped and not called.
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
    /// Makes an executor over a pool that no other code uses.
    pub fn new(pool: Arc<dyn Pool>) -> Self {
        let state =
            State { submitted: 0, envelopes: 0, not_begun: BTreeMap::new(), cut_off: Vec::new(), is_stopped: false };
        let book = Book { state: Mutex::new(state), changed: Condvar::new(), token: Token::default() };
        Self { pool, book: Arc::new(book) }
    }

    /// Has the pool run a task. The job is called with a token that `stop` cancels.
    ///
    /// `Err` with the tag: the task is not accepted, because the executor was stopped, or because the pool refuses.
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

    /// Stops at once: no task begins any more, those that run are asked to stop, and the pool is stopped. Waits for no task.
    ///
    /// Returns the tags of the tasks that had not begun, in the order of submission. A second call returns none of them again.
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
