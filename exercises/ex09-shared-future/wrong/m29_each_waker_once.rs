use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::sync::{Arc, Condvar, Mutex};

struct Place<T> {
    state: Mutex<State<T>>,
    decided: Condvar,
}

struct State<T> {
    outcome: Option<Outcome<T>>,
    wakers: Vec<(u64, Waker)>,
    next: u64,
}

impl<T> Place<T> {
    fn decide(&self, outcome: Outcome<T>) -> bool {
        let mut state = self.state.lock().unwrap();
        if state.outcome.is_some() {
            return false;
        }
        state.outcome = Some(outcome);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        self.decided.notify_all();
        for (_, waker) in wakers {
            waker.wake();
        }
        true
    }
}

pub fn promise<T>() -> (Promise<T>, SharedFuture<T>) {
    let state = State { outcome: None, wakers: Vec::new(), next: 1 };
    let place = Arc::new(Place { state: Mutex::new(state), decided: Condvar::new() });
    (Promise { place: Arc::clone(&place) }, SharedFuture { place, id: 0 })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

pub type Outcome<T> = Result<Arc<T>, Cancelled>;

pub struct Promise<T> {
    place: Arc<Place<T>>,
}

pub struct SharedFuture<T> {
    place: Arc<Place<T>>,
    id: u64,
}

impl<T> Promise<T> {
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
        let mut state = self.place.state.lock().unwrap();
        let id = state.next;
        state.next += 1;
        drop(state);
        Self { place: Arc::clone(&self.place), id }
    }
}

impl<T> Drop for SharedFuture<T> {
    fn drop(&mut self) {
        let mut state = self.place.state.lock().unwrap();
        let wakers = std::mem::take(&mut state.wakers);
        let (mine, others) = wakers.into_iter().partition::<Vec<_>, _>(|(id, _)| *id == self.id);
        state.wakers = others;
        drop(state);
        drop(mine);
    }
}

impl<T> SharedFuture<T> {
    pub fn join(&self) -> Outcome<T> {
        let mut state = self.place.state.lock().unwrap();
        loop {
            if let Some(outcome) = &state.outcome {
                return outcome.clone();
            }
            state = self.place.decided.wait(state).unwrap();
        }
    }

    pub fn cancel(&self) -> bool {
        self.place.decide(Err(Cancelled))
    }

    pub fn is_done(&self) -> bool {
        self.place.state.lock().unwrap().outcome.is_some()
    }
}

impl<T> Future for SharedFuture<T> {
    type Output = Outcome<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<T>> {
        let mut state = self.place.state.lock().unwrap();
        if let Some(outcome) = &state.outcome {
            return Poll::Ready(outcome.clone());
        }
        // Keeps each waker once, even if several futures have left it.
        if !state.wakers.iter().any(|(_, waker)| waker.will_wake(context.waker())) {
            state.wakers.push((self.id, context.waker().clone()));
        }
        Poll::Pending
    }
}
