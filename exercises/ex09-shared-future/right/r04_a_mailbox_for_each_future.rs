//! Right: each future owns a place for one waker, and the shared state has a Weak reference to this place.
//! poll() first leaves its waker and then looks at the outcome. The thread that decides first sets the
//! outcome, and then collects the wakers. So the poller sees the outcome, or the deciding thread sees the
//! waker.
#![allow(unused)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::sync::{Arc, Condvar, Mutex, Weak};

/// Makes a shared future: returns its promise and the first future.
pub fn promise<T>() -> (Promise<T>, SharedFuture<T>) {
    let state = State { outcome: None, mailboxes: Vec::new(), sweep_at: 8 };
    let place = Arc::new(Place { state: Mutex::new(state), decided: Condvar::new() });
    let future = SharedFuture::on(&place);
    (Promise { place }, future)
}

/// The error of a future without a value: a caller cancelled the future, or the promise was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// The outcome, which each waiter gets.
pub type Outcome<T> = Result<Arc<T>, Cancelled>;

type Mailbox = Mutex<Option<Waker>>;

struct State<T> {
    outcome: Option<Outcome<T>>,
    /// The mailboxes of all futures that exist (and of some futures that were dropped), until the outcome is
    /// decided.
    mailboxes: Vec<Weak<Mailbox>>,
    /// When there are this many mailboxes, the mailboxes of dropped futures are removed.
    sweep_at: usize,
}

struct Place<T> {
    state: Mutex<State<T>>,
    decided: Condvar,
}

impl<T> Place<T> {
    fn outcome(&self) -> Option<Outcome<T>> {
        self.state.lock().unwrap().outcome.clone()
    }

    fn decide(&self, outcome: Outcome<T>) -> bool {
        let mailboxes = {
            let mut state = self.state.lock().unwrap();
            if state.outcome.is_some() {
                return false;
            }
            state.outcome = Some(outcome);
            std::mem::take(&mut state.mailboxes)
        };
        self.decided.notify_all();
        for mailbox in mailboxes.iter().filter_map(Weak::upgrade) {
            let waker = mailbox.lock().unwrap().take();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
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
    mailbox: Arc<Mailbox>,
}

impl<T> Promise<T> {
    /// Provides the value. Returns false if the outcome was decided before.
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
        Self::on(&self.place)
    }
}

impl<T> SharedFuture<T> {
    fn on(place: &Arc<Place<T>>) -> Self {
        let mailbox = Arc::new(Mutex::new(None));
        let mut state = place.state.lock().unwrap();
        if state.outcome.is_none() {
            if state.mailboxes.len() >= state.sweep_at {
                state.mailboxes.retain(|mailbox| mailbox.strong_count() > 0);
                state.sweep_at = 8 + 2 * state.mailboxes.len();
            }
            state.mailboxes.push(Arc::downgrade(&mailbox));
        }
        drop(state);
        Self { place: Arc::clone(place), mailbox }
    }

    /// Blocks the calling thread until the outcome is decided.
    pub fn join(&self) -> Outcome<T> {
        let state = self.place.state.lock().unwrap();
        let state = self.place.decided.wait_while(state, |state| state.outcome.is_none()).unwrap();
        state.outcome.clone().expect("waited for")
    }

    /// Cancels the future, for all waiters. Returns true if this call decided the outcome.
    pub fn cancel(&self) -> bool {
        self.place.decide(Err(Cancelled))
    }

    /// Returns true if the outcome is decided.
    pub fn is_done(&self) -> bool {
        self.place.state.lock().unwrap().outcome.is_some()
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
        let before = self.mailbox.lock().unwrap().replace(waker);
        drop(before);
        // Checks the outcome a second time, because the waker is in its place only now. Perhaps another
        // thread decided the outcome after the first check, and found the mailbox empty.
        match self.place.outcome() {
            Some(outcome) => {
                let unused = self.mailbox.lock().unwrap().take();
                drop(unused);
                Poll::Ready(outcome)
            }
            None => Poll::Pending,
        }
    }
}
