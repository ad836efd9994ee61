//! Right: one thread keeps the book, and everybody else sends it messages.
#![allow(unused)]

use std::collections::BTreeMap;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::mpsc::{Receiver, Sender, channel};
use crate::sync::{Arc, Mutex, thread};

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

    /// The same, for `?`.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

/// What a task does. `Ok`: all of it. `Err`: it was asked to stop, and gave up. It may panic.
pub type Job = Box<dyn FnOnce(&Token) -> Result<(), Cancelled> + Send>;

/// What the pool below calls.
pub type Entry = Box<dyn FnOnce() + Send>;

/// A thread pool with a queue.
pub trait Pool: Send + Sync {
    /// Puts an entry into the queue, and returns. Later a thread of the pool takes it out and calls it; the thread that calls
    /// `execute` never does. A panic of the entry ends there. `Err` with the entry: the pool refuses it.
    fn execute(&self, entry: Entry) -> Result<(), Entry>;

    /// Takes all entries out of the queue and returns them, the oldest first. From now on the pool refuses every entry.
    ///
    /// It waits for no thread of the pool. A thread that has taken an entry out of the queue before calls it, now or a little
    /// later.
    fn stop(&self) -> Vec<Entry>;
}

// ----- Yours. -----

/// An executor that knows, after a stop, which tasks have to be done again. Each task has a tag.
pub struct TrackingExecutor<T> {
    pool: Arc<dyn Pool>,
    clerk: Mutex<Sender<Message<T>>>,
    token: Token,
}

enum Message<T> {
    Submit(T, Sender<Result<u64, T>>),
    TakeBack(u64, Sender<Option<T>>),
    Begin(u64, Sender<bool>),
    End(u64, bool),
    Stop(Sender<Vec<T>>),
    CutOff(Sender<Option<Vec<T>>>),
    Wait(Sender<()>),
}

/// Sends a message, and waits for the answer.
fn ask<T, A>(clerk: &Sender<Message<T>>, message: impl FnOnce(Sender<A>) -> Message<T>) -> A {
    let (sender, answer) = channel();
    let sent = clerk.send(message(sender));
    assert!(sent.is_ok(), "the clerk stays as long as somebody can ask");
    answer.recv().expect("an answer")
}

fn clerk<T: Clone>(messages: Receiver<Message<T>>, token: &Token) {
    let (mut submitted, mut waiting, mut running) = (0, BTreeMap::new(), BTreeMap::new());
    let (mut cut_off, mut waiters, mut is_stopped) = (Vec::new(), Vec::new(), false);
    for message in messages {
        match message {
            Message::Submit(tag, answer) if is_stopped => drop(answer.send(Err(tag))),
            Message::Submit(tag, answer) => {
                submitted += 1;
                waiting.insert(submitted, tag);
                let _ = answer.send(Ok(submitted));
            }
            Message::TakeBack(number, answer) => drop(answer.send(waiting.remove(&number))),
            Message::Begin(number, answer) => {
                let tag = waiting.remove(&number);
                let _ = answer.send(tag.is_some());
                running.extend(tag.map(|tag| (number, tag)));
            }
            Message::End(number, is_done) => {
                let tag = running.remove(&number);
                if !is_done {
                    cut_off.extend(tag);
                }
            }
            Message::Stop(answer) => {
                is_stopped = true;
                token.cancel();
                let _ = answer.send(mem::take(&mut waiting).into_values().collect());
            }
            Message::CutOff(answer) => {
                let _ = answer.send((is_stopped && running.is_empty()).then(|| cut_off.clone()));
            }
            Message::Wait(answer) => waiters.push(answer),
        }
        if is_stopped && running.is_empty() {
            waiters.drain(..).for_each(|waiter| waiter.send(()).unwrap_or_default());
        }
    }
}

impl<T: Clone + Send + Sync + 'static> TrackingExecutor<T> {
    /// Makes one over a pool that nobody else uses.
    pub fn new(pool: Arc<dyn Pool>) -> Self {
        let (sender, messages) = channel();
        let token = Token::default();
        let cancelled = token.clone();
        thread::spawn(move || clerk(messages, &cancelled));
        Self { pool, clerk: Mutex::new(sender), token }
    }

    fn clerk(&self) -> Sender<Message<T>> {
        self.clerk.lock().unwrap().clone()
    }

    /// Has the pool run a task. The job is called with a token that `stop` cancels.
    ///
    /// `Err` with the tag: the task is not accepted, because the executor was stopped, or because the pool refuses.
    pub fn submit(&self, tag: T, job: Job) -> Result<(), T> {
        let number = ask(&self.clerk(), |answer| Message::Submit(tag, answer))?;
        let (clerk, token) = (self.clerk(), self.token.clone());
        let entry = move || {
            if !ask(&clerk, |answer| Message::Begin(number, answer)) {
                return;
            }
            let is_done = match catch_unwind(AssertUnwindSafe(|| job(&token))) {
                Ok(result) => result.is_ok(),
                Err(_panic) => !token.is_cancelled(),
            };
            let _ = clerk.send(Message::End(number, is_done));
        };
        match self.pool.execute(Box::new(entry)) {
            Ok(()) => Ok(()),
            Err(_entry) => ask(&self.clerk(), |answer| Message::TakeBack(number, answer)).map_or(Ok(()), Err),
        }
    }

    /// Stops at once: no task begins any more, those that run are asked to stop, and the pool is stopped. Waits for no task.
    ///
    /// Returns the tags of the tasks that had not begun, in the order of submission. A second call returns none of them again.
    pub fn stop(&self) -> Vec<T> {
        let not_begun = ask(&self.clerk(), Message::Stop);
        self.pool.stop();
        not_begun
    }

    /// The tags of the tasks that were cut off, in any order. Says the same whenever it is asked.
    ///
    /// `None`: the executor was not stopped, or a task still runs. It may be done yet, or be cut off.
    pub fn cut_off(&self) -> Option<Vec<T>> {
        ask(&self.clerk(), Message::CutOff)
    }

    /// Waits until the executor is stopped and no task runs any more: `cut_off` gives the tags then.
    pub fn wait(&self) {
        ask(&self.clerk(), Message::Wait);
    }
}
