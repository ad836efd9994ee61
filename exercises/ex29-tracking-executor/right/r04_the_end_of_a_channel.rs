//! Right: a running task has a sender, and sends its tag if the task was cut off. The channel ends when the
//! executor is stopped and the last running task has dropped its sender.
#![allow(unused)]

use std::collections::BTreeMap;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use crate::sync::{Arc, Mutex};

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
    line: Arc<Mutex<Line<T>>>,
    token: Token,
    arriving: Mutex<(Receiver<T>, Vec<T>)>,
    /// The report; `None` until the channel has ended.
    report: Mutex<Option<Vec<T>>>,
}

struct Line<T> {
    submitted: u64,
    waiting: BTreeMap<u64, T>,
    /// The sender that running tasks clone; `None` after the stop.
    sender: Option<Sender<T>>,
}

impl<T> Line<T> {
    fn begin(&mut self, number: u64) -> Option<(T, Sender<T>)> {
        let sender = self.sender.clone()?;
        Some((self.waiting.remove(&number)?, sender))
    }
}

impl<T: Clone + Send + Sync + 'static> TrackingExecutor<T> {
    /// Makes a tracking executor over a pool that no other code uses.
    pub fn new(pool: Arc<dyn Pool>) -> Self {
        let (sender, receiver) = channel();
        let line = Line { submitted: 0, waiting: BTreeMap::new(), sender: Some(sender) };
        Self {
            pool,
            line: Arc::new(Mutex::new(line)),
            token: Token::default(),
            arriving: Mutex::new((receiver, Vec::new())),
            report: Mutex::new(None),
        }
    }

    /// Gives a task to the pool. The job is called with a token that `stop` cancels.
    ///
    /// Returns `Err` with the tag if the task is not accepted, because the executor was stopped or because
    /// the pool refuses the entry.
    pub fn submit(&self, tag: T, job: Job) -> Result<(), T> {
        let number = {
            let mut line = self.line.lock().unwrap();
            if line.sender.is_none() {
                return Err(tag);
            }
            line.submitted += 1;
            let number = line.submitted;
            line.waiting.insert(number, tag);
            number
        };
        let (line, token) = (Arc::clone(&self.line), self.token.clone());
        let entry = move || {
            let begins = line.lock().unwrap().begin(number);
            let Some((tag, sender)) = begins else { return };
            let is_done = match catch_unwind(AssertUnwindSafe(|| job(&token))) {
                Ok(result) => result.is_ok(),
                Err(_panic) => !token.is_cancelled(),
            };
            if !is_done {
                let _ = sender.send(tag);
            }
        };
        match self.pool.execute(Box::new(entry)) {
            Ok(()) => Ok(()),
            Err(_entry) => self.line.lock().unwrap().waiting.remove(&number).map_or(Ok(()), Err),
        }
    }

    /// Stops at once: no further task begins, running tasks are asked to stop, and the pool is stopped. Does
    /// not wait for any task.
    ///
    /// Returns the tags of the tasks that had not begun, in the order of submission. A second call returns
    /// none of these tags again.
    pub fn stop(&self) -> Vec<T> {
        let mut line = self.line.lock().unwrap();
        let sender = line.sender.take();
        let not_begun = mem::take(&mut line.waiting);
        self.token.cancel();
        drop(line);
        drop(sender);
        self.pool.shutdown_now();
        not_begun.into_values().collect()
    }

    /// Returns the tags of the tasks that were cut off, in any order. Every later call returns the same tags.
    ///
    /// Returns `None` if the executor was not stopped, or if a task still runs. A task that still runs may end
    /// as done or as cut off.
    pub fn cut_off(&self) -> Option<Vec<T>> {
        let report = self.report.lock().unwrap().clone();
        if report.is_some() {
            return report;
        }
        // If another thread holds this lock, that thread is still receiving, so the channel has not ended.
        let mut arriving = self.arriving.try_lock().ok()?;
        loop {
            match arriving.0.try_recv() {
                Ok(tag) => arriving.1.push(tag),
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => break,
            }
        }
        let all = arriving.1.clone();
        *self.report.lock().unwrap() = Some(all.clone());
        Some(all)
    }

    /// Waits until the executor is stopped and no task runs any more. After `wait`, `cut_off` returns the
    /// tags.
    pub fn wait(&self) {
        let mut arriving = self.arriving.lock().unwrap();
        let (receiver, tags) = &mut *arriving;
        tags.extend(receiver.iter());
        *self.report.lock().unwrap() = Some(tags.clone());
    }
}
