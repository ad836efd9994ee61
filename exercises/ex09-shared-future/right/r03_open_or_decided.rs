//! Right: the state is an enum, open with the wakers or decided with the outcome. Deciding takes the old state out, and what
//! is left over is dropped outside the lock.
#![allow(unused)]

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::sync::{Arc, Condvar, Mutex};

/// Makes the two ends.
pub fn promise<T>() -> (Promise<T>, SharedFuture<T>) {
    let open = State::Open { polled: BTreeMap::new(), polls: 0 };
    let place = Arc::new(Place { state: Mutex::new(open), decided: Condvar::new() });
    (Promise(SharedFuture { place: Arc::clone(&place), key: None }), SharedFuture { place, key: None })
}

/// There will be no value: somebody called it off, or the promise was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// What everybody who waits gets.
pub type Outcome<T> = Result<Arc<T>, Cancelled>;

enum State<T> {
    /// The wakers by the key that a future has got at its first poll.
    Open {
        polled: BTreeMap<u64, Waker>,
        polls: u64,
    },
    Decided(Outcome<T>),
}

use State::{Decided, Open};

struct Place<T> {
    state: Mutex<State<T>>,
    decided: Condvar,
}

/// The end that provides the value. There is one. (It is a future that nobody polls.)
pub struct Promise<T>(SharedFuture<T>);

/// The end that waits for it. There may be many, on one value.
pub struct SharedFuture<T> {
    place: Arc<Place<T>>,
    key: Option<u64>,
}

impl<T> Promise<T> {
    /// Provides the value. False if it comes too late.
    pub fn complete(self, value: T) -> bool {
        self.0.decide(Ok(Arc::new(value)))
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl<T> Clone for SharedFuture<T> {
    fn clone(&self) -> Self {
        Self { place: Arc::clone(&self.place), key: None }
    }
}

impl<T> Drop for SharedFuture<T> {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        let waker = match &mut *self.place.state.lock().unwrap() {
            Open { polled, .. } => polled.remove(&key),
            Decided(_) => None,
        };
        drop(waker);
    }
}

impl<T> SharedFuture<T> {
    fn decide(&self, outcome: Outcome<T>) -> bool {
        let next = {
            let mut state = self.place.state.lock().unwrap();
            match *state {
                Open { .. } => Ok(std::mem::replace(&mut *state, Decided(outcome))),
                Decided(_) => Err(outcome),
            }
        };
        match next {
            Ok(Open { polled, .. }) => {
                self.place.decided.notify_all();
                polled.into_values().for_each(Waker::wake);
                true
            }
            Ok(Decided(_)) | Err(_) => false,
        }
    }

    /// Waits, with the whole thread, until the outcome is decided.
    pub fn join(&self) -> Outcome<T> {
        let mut state = self.place.state.lock().unwrap();
        loop {
            state = match &*state {
                Decided(outcome) => return outcome.clone(),
                Open { .. } => self.place.decided.wait(state).unwrap(),
            };
        }
    }

    /// Calls it off, for everybody. True if that decided the outcome.
    pub fn cancel(&self) -> bool {
        self.decide(Err(Cancelled))
    }

    /// Whether the outcome is decided.
    pub fn is_done(&self) -> bool {
        matches!(*self.place.state.lock().unwrap(), Decided(_))
    }
}

impl<T> Future for SharedFuture<T> {
    type Output = Outcome<T>;

    /// The outcome if it is decided. Else the waker is kept, and woken when it is: the one of the last poll, at least.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<T>> {
        let this = self.get_mut();
        let waker = context.waker().clone();
        let before = match &mut *this.place.state.lock().unwrap() {
            Decided(outcome) => return Poll::Ready(outcome.clone()),
            Open { polled, polls } => {
                let key = *this.key.get_or_insert_with(|| {
                    *polls += 1;
                    *polls
                });
                polled.insert(key, waker)
            }
        };
        drop(before);
        Poll::Pending
    }
}
