//! Right: threads and tasks wait in one list. A thread's entry has a condition variable, and a task's entry
//! has a waker; the thread that decides goes through the list.
#![allow(unused)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::sync::{Arc, Condvar, Mutex};

/// Makes a shared future: returns its promise and the first future.
pub fn promise<T>() -> (Promise<T>, SharedFuture<T>) {
    let place = Arc::new(Place(Mutex::new(State { outcome: None, line: Vec::new(), next: 1 })));
    (Promise(Arc::clone(&place)), SharedFuture { place, number: 0 })
}

/// The error of a future without a value: a caller cancelled the future, or the promise was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// The outcome, which each waiter gets.
pub type Outcome<T> = Result<Arc<T>, Cancelled>;

/// The condition variable and the flag with which one thread sleeps.
struct Bell {
    rung: Mutex<bool>,
    ring: Condvar,
}

impl Bell {
    fn ring(&self) {
        *self.rung.lock().unwrap() = true;
        self.ring.notify_one();
    }

    fn wait(&self) {
        let rung = self.rung.lock().unwrap();
        drop(self.ring.wait_while(rung, |rung| !*rung).unwrap());
    }
}

enum Waiting {
    Thread(Arc<Bell>),
    Task { future: u64, waker: Waker },
}

impl Waiting {
    fn call(self) {
        match self {
            Self::Thread(bell) => bell.ring(),
            Self::Task { waker, .. } => waker.wake(),
        }
    }

    fn is_of(&self, number: u64) -> bool {
        matches!(self, Self::Task { future, .. } if *future == number)
    }
}

struct State<T> {
    outcome: Option<Outcome<T>>,
    line: Vec<Waiting>,
    next: u64,
}

struct Place<T>(Mutex<State<T>>);

impl<T> Place<T> {
    fn decide(&self, outcome: Outcome<T>) -> bool {
        let mut state = self.0.lock().unwrap();
        if state.outcome.is_some() {
            drop(state); // before `outcome` is dropped
            return false;
        }
        state.outcome = Some(outcome);
        let line = std::mem::take(&mut state.line);
        drop(state);
        // Threads are woken first: waking a thread runs no user code, so no user code can keep a thread from
        // waking.
        let (threads, tasks): (Vec<_>, Vec<_>) =
            line.into_iter().partition(|waiting| matches!(waiting, Waiting::Thread(_)));
        threads.into_iter().chain(tasks).for_each(Waiting::call);
        true
    }

    fn outcome(&self) -> Option<Outcome<T>> {
        self.0.lock().unwrap().outcome.clone()
    }
}

/// The promise, with which one thread provides the value. There is only one promise.
pub struct Promise<T>(Arc<Place<T>>);

/// A future, with which a thread or a task waits for the value. Many futures may wait for one value.
pub struct SharedFuture<T> {
    place: Arc<Place<T>>,
    number: u64,
}

impl<T> Promise<T> {
    /// Provides the value. Returns false if the outcome was decided before.
    pub fn complete(self, value: T) -> bool {
        self.0.decide(Ok(Arc::new(value)))
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.0.decide(Err(Cancelled));
    }
}

impl<T> Clone for SharedFuture<T> {
    fn clone(&self) -> Self {
        let mut state = self.place.0.lock().unwrap();
        let number = state.next;
        state.next += 1;
        Self { place: Arc::clone(&self.place), number }
    }
}

impl<T> SharedFuture<T> {
    /// Blocks the calling thread until the outcome is decided.
    pub fn join(&self) -> Outcome<T> {
        let mut state = self.place.0.lock().unwrap();
        if let Some(outcome) = &state.outcome {
            return outcome.clone();
        }
        let bell = Arc::new(Bell { rung: Mutex::new(false), ring: Condvar::new() });
        state.line.push(Waiting::Thread(Arc::clone(&bell)));
        drop(state);
        bell.wait();
        self.place.outcome().expect("the bell is rung when there is one")
    }

    /// Cancels the future, for all waiters. Returns true if this call decided the outcome.
    pub fn cancel(&self) -> bool {
        self.place.decide(Err(Cancelled))
    }

    /// Returns true if the outcome is decided.
    pub fn is_done(&self) -> bool {
        self.place.0.lock().unwrap().outcome.is_some()
    }
}

impl<T> Future for SharedFuture<T> {
    type Output = Outcome<T>;

    /// Returns the outcome if it is decided; if not, keeps the waker and wakes it after the decision.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<T>> {
        let mut new = Waiting::Task { future: self.number, waker: context.waker().clone() };
        let mut state = self.place.0.lock().unwrap();
        if let Some(outcome) = state.outcome.clone() {
            drop(state); // before `new` is dropped
            return Poll::Ready(outcome);
        }
        match state.line.iter_mut().find(|waiting| waiting.is_of(self.number)) {
            Some(old) => {
                std::mem::swap(old, &mut new);
                drop(state);
                drop(new); // `new` is now the old waker
            }
            None => state.line.push(new),
        }
        Poll::Pending
    }
}
