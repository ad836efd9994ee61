//! Right: the outcome is an atomic number that one compare_exchange decides. Before the exchange, complete()
//! stores its value as a candidate. The lock guards only the list of waiters.
#![allow(unused)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use crate::sync::{Arc, Condvar, Mutex};

/// Makes a shared future: returns its promise and the first future.
pub fn promise<T>() -> (Promise<T>, SharedFuture<T>) {
    let place = Arc::new(Place {
        verdict: AtomicU8::new(OPEN),
        candidate: Mutex::new(None),
        waiting: Mutex::new(Vec::new()),
        decided: Condvar::new(),
        names: AtomicU64::new(1),
    });
    (Promise { place: Arc::clone(&place) }, SharedFuture { place, name: 0 })
}

/// The error of a future without a value: a caller cancelled the future, or the promise was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// The outcome, which each waiter gets.
pub type Outcome<T> = Result<Arc<T>, Cancelled>;

const OPEN: u8 = 0;
const VALUE: u8 = 1;
const CANCELLED: u8 = 2;

struct Place<T> {
    verdict: AtomicU8,
    /// The value is here before the verdict can become `VALUE`, and stays here afterwards.
    candidate: Mutex<Option<Arc<T>>>,
    /// The wakers, each with the name of its future. The thread that decides removes all wakers.
    waiting: Mutex<Vec<(u64, Waker)>>,
    decided: Condvar,
    names: AtomicU64,
}

impl<T> Place<T> {
    fn outcome(&self) -> Option<Outcome<T>> {
        match self.verdict.load(Ordering::SeqCst) {
            OPEN => None,
            VALUE => {
                Some(Ok(Arc::clone(self.candidate.lock().unwrap().as_ref().expect("it was there first"))))
            }
            _ => Some(Err(Cancelled)),
        }
    }

    fn decide(&self, verdict: u8) -> bool {
        if self.verdict.compare_exchange(OPEN, verdict, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return false;
        }
        // Waiters look at the verdict under this lock. A waiter that looked before the exchange is in the
        // list or asleep; a later waiter finds the verdict.
        let waiting = {
            let mut waiting = self.waiting.lock().unwrap();
            self.decided.notify_all();
            std::mem::take(&mut *waiting)
        };
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
        true
    }
}

/// The promise, with which one thread provides the value. There is only one promise.
pub struct Promise<T> {
    place: Arc<Place<T>>,
}

/// A future, with which a thread or a task waits for the value. Many futures may wait for one value.
pub struct SharedFuture<T> {
    place: Arc<Place<T>>,
    name: u64,
}

impl<T> Promise<T> {
    /// Provides the value. Returns false if the outcome was decided before.
    pub fn complete(self, value: T) -> bool {
        let value = Arc::new(value);
        *self.place.candidate.lock().unwrap() = Some(value);
        if self.place.decide(VALUE) {
            return true;
        }
        let too_late = self.place.candidate.lock().unwrap().take();
        drop(too_late); // not under the lock
        false
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.place.decide(CANCELLED);
    }
}

impl<T> Clone for SharedFuture<T> {
    fn clone(&self) -> Self {
        let name = self.place.names.fetch_add(1, Ordering::SeqCst);
        Self { place: Arc::clone(&self.place), name }
    }
}

impl<T> Drop for SharedFuture<T> {
    fn drop(&mut self) {
        let mut waiting = self.place.waiting.lock().unwrap();
        let at = waiting.iter().position(|(name, _)| *name == self.name);
        let mine = at.map(|at| waiting.swap_remove(at));
        drop(waiting);
        drop(mine);
    }
}

impl<T> SharedFuture<T> {
    /// Blocks the calling thread until the outcome is decided.
    pub fn join(&self) -> Outcome<T> {
        let mut waiting = self.place.waiting.lock().unwrap();
        while self.place.verdict.load(Ordering::SeqCst) == OPEN {
            waiting = self.place.decided.wait(waiting).unwrap();
        }
        drop(waiting);
        self.place.outcome().expect("it is not open any more")
    }

    /// Cancels the future, for all waiters. Returns true if this call decided the outcome.
    pub fn cancel(&self) -> bool {
        self.place.decide(CANCELLED)
    }

    /// Returns true if the outcome is decided.
    pub fn is_done(&self) -> bool {
        self.place.verdict.load(Ordering::SeqCst) != OPEN
    }
}

impl<T> Future for SharedFuture<T> {
    type Output = Outcome<T>;

    /// Returns the outcome if it is decided; if not, keeps the waker and wakes it after the decision.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<T>> {
        if let Some(outcome) = self.place.outcome() {
            return Poll::Ready(outcome);
        }
        let waker = context.waker().clone();
        let mut waiting = self.place.waiting.lock().unwrap();
        if self.is_done() {
            drop(waiting);
            return Poll::Ready(self.place.outcome().expect("it is done"));
        }
        let before =
            waiting.iter().position(|(name, _)| *name == self.name).map(|at| waiting.swap_remove(at));
        waiting.push((self.name, waker));
        drop(waiting);
        drop(before);
        Poll::Pending
    }
}
