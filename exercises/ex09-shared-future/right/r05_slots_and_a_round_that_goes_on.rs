//! Right: wakers are in slots that are used again when a future is dropped. A waker that panics does not keep the others
//! from being woken.
#![allow(unused)]

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::sync::{Arc, Condvar, Mutex};

/// Makes the two ends.
pub fn promise<T>() -> (Promise<T>, SharedFuture<T>) {
    let state = State { outcome: None, slots: Vec::new(), free: Vec::new() };
    let place = Arc::new(Place { state: Mutex::new(state), decided: Condvar::new() });
    (Promise { place: Arc::clone(&place) }, SharedFuture { place, slot: None })
}

/// There will be no value: somebody called it off, or the promise was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// What everybody who waits gets.
pub type Outcome<T> = Result<Arc<T>, Cancelled>;

struct State<T> {
    outcome: Option<Outcome<T>>,
    /// A slot is empty if it is free, or if its waker was taken to be woken.
    slots: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl<T> State<T> {
    fn new_slot(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        })
    }
}

struct Place<T> {
    state: Mutex<State<T>>,
    decided: Condvar,
}

impl<T> Place<T> {
    fn decide(&self, outcome: Outcome<T>) -> bool {
        let wakers: Vec<Waker> = {
            let mut state = self.state.lock().unwrap();
            if state.outcome.is_some() {
                return false;
            }
            state.outcome = Some(outcome);
            state.slots.iter_mut().filter_map(Option::take).collect()
        };
        self.decided.notify_all();
        let mut first = None;
        for waker in wakers {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                first.get_or_insert(panic);
            }
        }
        if let Some(panic) = first {
            resume_unwind(panic);
        }
        true
    }
}

/// The end that provides the value. There is one.
pub struct Promise<T> {
    place: Arc<Place<T>>,
}

/// The end that waits for it. There may be many, on one value.
pub struct SharedFuture<T> {
    place: Arc<Place<T>>,
    slot: Option<usize>,
}

impl<T> Promise<T> {
    /// Provides the value. False if it comes too late.
    pub fn complete(self, value: T) -> bool {
        self.place.decide(Ok(Arc::new(value)))
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.place.decide(Err(Cancelled));
    }
}

impl<T> Clone for SharedFuture<T> {
    fn clone(&self) -> Self {
        Self { place: Arc::clone(&self.place), slot: None }
    }
}

impl<T> Drop for SharedFuture<T> {
    fn drop(&mut self) {
        let Some(slot) = self.slot else { return };
        let mut state = self.place.state.lock().unwrap();
        let waker = state.slots[slot].take();
        state.free.push(slot);
        drop(state);
        drop(waker);
    }
}

impl<T> SharedFuture<T> {
    /// Waits, with the whole thread, until the outcome is decided.
    pub fn join(&self) -> Outcome<T> {
        let mut state = self.place.state.lock().unwrap();
        while state.outcome.is_none() {
            state = self.place.decided.wait(state).unwrap();
        }
        state.outcome.clone().expect("waited for")
    }

    /// Calls it off, for everybody. True if that decided the outcome.
    pub fn cancel(&self) -> bool {
        self.place.decide(Err(Cancelled))
    }

    /// Whether the outcome is decided.
    pub fn is_done(&self) -> bool {
        self.place.state.lock().unwrap().outcome.is_some()
    }
}

impl<T> Future for SharedFuture<T> {
    type Output = Outcome<T>;

    /// The outcome if it is decided. Else the waker is kept, and woken when it is: the one of the last poll, at least.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<T>> {
        let this = self.get_mut();
        let waker = context.waker().clone();
        let mut state = this.place.state.lock().unwrap();
        if let Some(outcome) = state.outcome.clone() {
            drop(state); // before the waker
            return Poll::Ready(outcome);
        }
        let slot = *this.slot.get_or_insert_with(|| state.new_slot());
        let before = state.slots[slot].replace(waker);
        drop(state);
        drop(before);
        Poll::Pending
    }
}
