//! Channels under a model: they replace the part of crossbeam-channel that `sync.rs` uses, because no model
//! sees crossbeam's own locks and threads.
//!
//! These channels differ from crossbeam's channels in one point: through a channel without capacity, two
//! threads exchange an item only if both threads block.
#![allow(missing_docs)] // crossbeam has the documentation

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use super::{Condvar, Instant, Mutex, MutexGuard, toss, wait_until};

/// The sending end.
pub struct Sender<T>(Arc<Channel<T>>);
/// The receiving end.
pub struct Receiver<T>(Arc<Channel<T>>);

struct Channel<T> {
    capacity: usize,
    state: Mutex<State<T>>,
}

struct State<T> {
    items: VecDeque<T>,
    senders: usize,
    receivers: usize,
    /// The number of receivers that wait for an item. A channel without capacity has room for one item for
    /// each waiting receiver.
    takers: usize,
    /// The threads that must be woken when the state changes, so that they check the state again.
    watchers: Vec<Arc<Watcher>>,
}

#[derive(Default)]
struct Watcher {
    woken: Mutex<bool>,
    wake_up: Condvar,
}

#[derive(Debug)]
pub enum TrySendError<T> {
    Full(T),
    Disconnected(T),
}

#[derive(Debug)]
pub enum TryRecvError {
    Empty,
    Disconnected,
}

#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let state = State { items: VecDeque::new(), senders: 1, receivers: 1, takers: 0, watchers: Vec::new() };
    let channel = Arc::new(Channel { capacity, state: Mutex::new(state) });
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl Watcher {
    fn wake(&self) {
        *self.woken.lock().expect("not poisoned") = true;
        self.wake_up.notify_one();
    }

    /// Waits until the state has changed. Returns true if the deadline came before the state changed.
    fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut woken = self.woken.lock().expect("not poisoned");
        let mut timed_out = false;
        while !*woken && !timed_out {
            (woken, timed_out) = match deadline {
                None => (self.wake_up.wait(woken).expect("not poisoned"), false),
                Some(at) => wait_until(&self.wake_up, woken, &self.woken, at),
            };
        }
        *woken = false;
        timed_out
    }
}

impl<T> Channel<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().expect("not poisoned")
    }

    /// Changes the state, and then wakes all watchers, so that they check the state again.
    fn change<R>(&self, change: impl FnOnce(&mut State<T>) -> R) -> R {
        let Ok(result) = self.try_change(|state| Ok::<R, Infallible>(change(state)));
        result
    }

    /// Changes the state by calling a function that can fail. A failed operation wakes no watcher: it has not
    /// changed the state, so two watchers would only wake each other forever.
    fn try_change<R, E>(&self, change: impl FnOnce(&mut State<T>) -> Result<R, E>) -> Result<R, E> {
        let mut state = self.lock();
        let result = change(&mut state)?;
        let watchers = state.watchers.clone();
        drop(state);
        for watcher in watchers {
            watcher.wake();
        }
        Ok(result)
    }

    fn watch(&self, watcher: &Arc<Watcher>) {
        self.lock().watchers.push(Arc::clone(watcher));
    }

    fn unwatch(&self, watcher: &Arc<Watcher>) {
        self.lock().watchers.retain(|other| !Arc::ptr_eq(other, watcher));
    }
}

impl<T> Sender<T> {
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        let capacity = self.0.capacity;
        self.0.try_change(|state| {
            let room = if capacity == 0 { state.takers } else { capacity };
            match state.receivers {
                0 => Err(TrySendError::Disconnected(item)),
                _ if state.items.len() >= room => Err(TrySendError::Full(item)),
                _ => {
                    state.items.push_back(item);
                    Ok(())
                }
            }
        })
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lock().items.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        Some(self.0.capacity)
    }
}

impl<T> Receiver<T> {
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.try_change(|state| match state.items.pop_front() {
            Some(item) => Ok(item),
            None if state.senders == 0 => Err(TryRecvError::Disconnected),
            None => Err(TryRecvError::Empty),
        })
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lock().items.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        Some(self.0.capacity)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.0.lock().receivers += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.change(|state| state.senders -= 1);
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let items = self.0.change(|state| {
            state.receivers -= 1;
            if state.receivers == 0 { std::mem::take(&mut state.items) } else { VecDeque::new() }
        });
        drop(items); // not under the lock
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sender { .. }")
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver { .. }")
    }
}

/// See `sync.rs`.
pub(crate) fn send_unless<T>(
    to: &Sender<T>,
    item: T,
    stop: Option<&Receiver<Infallible>>,
    deadline: Option<Instant>,
) -> Result<(), T> {
    let mut item = Some(item);
    until_one_is_ready(&to.0, stop, deadline, || match to.try_send(item.take()?) {
        Ok(()) => Some(Ok(())),
        Err(TrySendError::Disconnected(back)) => Some(Err(back)),
        Err(TrySendError::Full(back)) => {
            item = Some(back);
            None
        }
    })
    .unwrap_or_else(|| Err(item.expect("it was not sent")))
}

/// See `sync.rs`.
pub(crate) fn recv_unless<T>(
    from: &Receiver<T>,
    stop: Option<&Receiver<Infallible>>,
    deadline: Option<Instant>,
) -> Option<T> {
    from.0.change(|state| state.takers += 1);
    let received = until_one_is_ready(&from.0, stop, deadline, || match from.try_recv() {
        Ok(item) => Some(Some(item)),
        Err(TryRecvError::Disconnected) => Some(None),
        Err(TryRecvError::Empty) => None,
    });
    from.0.change(|state| {
        state.takers -= 1;
        // If the channel has no capacity, a sender may have put an item in because this receiver was waiting.
        let is_owed = from.0.capacity == 0 && state.items.len() > state.takers;
        received.flatten().or_else(|| if is_owed { state.items.pop_front() } else { None })
    })
}

/// Tries the operation until it succeeds. Returns `None` if `stop` or the deadline came before the operation
/// succeeded.
fn until_one_is_ready<T, R>(
    channel: &Channel<T>,
    stop: Option<&Receiver<Infallible>>,
    deadline: Option<Instant>,
    mut operation: impl FnMut() -> Option<R>,
) -> Option<R> {
    let is_stopped = || stop.is_some_and(|stop| stop.0.lock().senders == 0);
    let watcher = Arc::new(Watcher::default());
    channel.watch(&watcher);
    stop.inspect(|stop| stop.0.watch(&watcher));
    let result = loop {
        if toss() && is_stopped() {
            break None;
        }
        if let Some(result) = operation() {
            break Some(result);
        }
        if is_stopped() || watcher.wait(deadline) {
            break None;
        }
    };
    channel.unwatch(&watcher);
    stop.inspect(|stop| stop.0.unwatch(&watcher));
    result
}
