//! A shared future: one value, and any number of threads and asynchronous tasks that wait for it.
#![allow(unused)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::sync::{Arc, Condvar, Mutex};

/// Makes a shared future: returns its promise and the first future.
pub fn promise<T>() -> (Promise<T>, SharedFuture<T>) {
    let state = Mutex::new(State { outcome: None, wakers: Vec::new() });
    let shared = Arc::new(Shared { state, decided: Condvar::new() });
    (Promise { shared: Arc::clone(&shared) }, SharedFuture { shared })
}

/// The error of a future without a value: a caller cancelled the future, or the promise was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// The outcome, which each waiter gets.
pub type Outcome<T> = Result<Arc<T>, Cancelled>;

/// The promise, with which one thread provides the value. There is only one promise.
pub struct Promise<T> {
    shared: Arc<Shared<T>>,
}

/// A future, with which a thread or a task waits for the value. Many futures may wait for one value.
pub struct SharedFuture<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    decided: Condvar,
}

struct State<T> {
    outcome: Option<Outcome<T>>,
    /// The wakers of the tasks that polled before the outcome was decided.
    wakers: Vec<Waker>,
}

impl<T> Shared<T> {
    /// Decides the outcome, unless it is decided already. Returns true if this call decided the outcome.
    fn decide(&self, outcome: Outcome<T>) -> bool {
        let mut state = self.state.lock().unwrap();
        if state.outcome.is_some() {
            return false;
        }
        state.outcome = Some(outcome);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state); // a waker runs code of the runtime
        self.decided.notify_all();
        wakers.into_iter().for_each(Waker::wake);
        true
    }
}

impl<T> Promise<T> {
    /// Provides the value. Returns false if the outcome was decided before.
    pub fn complete(self, value: T) -> bool {
        self.shared.decide(Ok(Arc::new(value)))
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.shared.decide(Err(Cancelled));
    }
}

impl<T> Clone for SharedFuture<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T> SharedFuture<T> {
    /// Blocks the calling thread until the outcome is decided.
    pub fn join(&self) -> Outcome<T> {
        let mut state = self.shared.state.lock().unwrap();
        loop {
            if let Some(outcome) = &state.outcome {
                return outcome.clone();
            }
            state = self.shared.decided.wait(state).unwrap();
        }
    }

    /// Cancels the future, for all waiters. Returns true if this call decided the outcome.
    pub fn cancel(&self) -> bool {
        self.shared.decide(Err(Cancelled))
    }

    /// Returns true if the outcome is decided.
    pub fn is_done(&self) -> bool {
        self.shared.state.lock().unwrap().outcome.is_some()
    }
}

impl<T> Future for SharedFuture<T> {
    type Output = Outcome<T>;

    /// Returns the outcome if it is decided; if not, keeps the waker and wakes it after the decision.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<T>> {
        let mut state = self.shared.state.lock().unwrap();
        if let Some(outcome) = &state.outcome {
            return Poll::Ready(outcome.clone());
        }
        // This thread has held the lock since it checked the outcome, so the thread that decides will find
        // this waker.
        if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            state.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}
