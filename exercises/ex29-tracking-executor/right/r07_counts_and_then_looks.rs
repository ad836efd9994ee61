//! Right: each task is kept in a place of its own, and each place has a lock of its own. Unless the executor
//! is stopped, an entry first counts itself as running. Then the entry checks whether the task is still in
//! its place.
#![allow(unused)]

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

struct Book<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    token: Token,
}

/// The place of a task; the place is empty after the task has begun or was handed back.
type Place<T> = Arc<Mutex<Option<(T, Job)>>>;

struct State<T> {
    places: Vec<Place<T>>,
    running: usize,
    cut_off: Vec<T>,
    is_stopped: bool,
}

impl<T: Clone + Send + Sync + 'static> TrackingExecutor<T> {
    /// Makes a tracking executor over a pool that no other code uses.
    pub fn new(pool: Arc<dyn Pool>) -> Self {
        let state = State { places: Vec::new(), running: 0, cut_off: Vec::new(), is_stopped: false };
        let book = Book { state: Mutex::new(state), changed: Condvar::new(), token: Token::default() };
        Self { pool, book: Arc::new(book) }
    }

    /// Gives a task to the pool. The job is called with a token that `stop` cancels.
    ///
    /// Returns `Err` with the tag if the task is not accepted, because the executor was stopped or because
    /// the pool refuses the entry.
    pub fn submit(&self, tag: T, job: Job) -> Result<(), T> {
        let place = Arc::new(Mutex::new(Some((tag, job))));
        let mut state = self.book.state.lock().unwrap();
        let (book, same) = (Arc::clone(&self.book), Arc::clone(&place));
        if state.is_stopped || self.pool.execute(Box::new(move || book.run(&same))).is_err() {
            let (tag, _job) = place.lock().unwrap().take().expect("nobody has called it");
            return Err(tag);
        }
        state.places.push(place);
        Ok(())
    }

    /// Stops at once: no further task begins, running tasks are asked to stop, and the pool is stopped. Does
    /// not wait for any task.
    ///
    /// Returns the tags of the tasks that had not begun, in the order of submission. A second call returns
    /// none of these tags again.
    pub fn stop(&self) -> Vec<T> {
        let mut state = self.book.state.lock().unwrap();
        state.is_stopped = true;
        self.book.token.cancel();
        self.book.changed.notify_all();
        drop(self.pool.shutdown_now());
        let places = std::mem::take(&mut state.places);
        drop(state);
        places.iter().filter_map(|place| place.lock().unwrap().take()).map(|(tag, _job)| tag).collect()
    }

    /// Returns the tags of the tasks that were cut off, in any order. Every later call returns the same tags.
    ///
    /// Returns `None` if the executor was not stopped, or if a task still runs. A task that still runs may end
    /// as done or as cut off.
    pub fn cut_off(&self) -> Option<Vec<T>> {
        let state = self.book.state.lock().unwrap();
        (state.is_stopped && state.running == 0).then(|| state.cut_off.clone())
    }

    /// Waits until the executor is stopped and no task runs any more. After `wait`, `cut_off` returns the
    /// tags.
    pub fn wait(&self) {
        let mut state = self.book.state.lock().unwrap();
        while !state.is_stopped || state.running > 0 {
            state = self.book.changed.wait(state).unwrap();
        }
    }
}

impl<T> Book<T> {
    fn run(&self, place: &Place<T>) {
        {
            let mut state = self.state.lock().unwrap();
            if state.is_stopped {
                return;
            }
            state.running += 1;
        }
        let task = place.lock().unwrap().take();
        let mut torn = None;
        if let Some((tag, job)) = task {
            let is_done = match catch_unwind(AssertUnwindSafe(|| job(&self.token))) {
                Ok(result) => result.is_ok(),
                Err(_panic) => !self.token.is_cancelled(),
            };
            torn = (!is_done).then_some(tag);
        }
        let mut state = self.state.lock().unwrap();
        state.running -= 1;
        state.cut_off.extend(torn);
        self.changed.notify_all();
    }
}
