//! Channels with many senders and one receiver, like those of [`std::sync::mpsc`].
//!
//! The messages are in a queue behind a lock of the backend. The lock of this queue is not recorded. The
//! recorder is told which thread sends a message, receives a message or waits.

use std::cell::Cell;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, PoisonError};

pub use std::sync::mpsc::{RecvError, SendError, TryRecvError, TrySendError};

use super::super::backend::{Condvar, Mutex, MutexGuard};
use super::absent::ThereIsNoClock;
use crate::recorder;

/// Makes a channel without a bound.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = new(None);
    (Sender(sender), receiver)
}

/// Makes a channel with room for `bound` messages. If `bound` is 0, a sender waits until the receiver has
/// received the message.
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let (sender, receiver) = new(Some(bound));
    (SyncSender(sender), receiver)
}

/// The sender of a channel without a bound, like [`std::sync::mpsc::Sender`].
#[derive(Debug)]
pub struct Sender<T>(End<T>);

/// The sender of a channel with a bound, like [`std::sync::mpsc::SyncSender`].
#[derive(Debug)]
pub struct SyncSender<T>(End<T>);

/// The receiver of a channel, like [`std::sync::mpsc::Receiver`].
#[derive(Debug)]
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    one_thread_at_a_time: PhantomData<Cell<()>>, // it can be sent to another thread, and not shared
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Sender<T> {
    /// Sends a message without waiting. Returns an error with the message if the receiver is gone.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.channel.send(message, Location::caller())
    }
}

impl<T> SyncSender<T> {
    /// Waits until the channel has room, and sends a message. Returns an error with the message if the
    /// receiver is gone.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.channel.send(message, Location::caller())
    }

    /// Sends a message if the channel has room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.0.channel.try_send(message, Location::caller())
    }
}

impl<T> Receiver<T> {
    /// Waits for a message. Returns an error if the channel is empty and no sender is left.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.channel.recv(Location::caller())
    }

    /// Returns a message if the channel has a message now.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.channel.try_recv(Location::caller())
    }

    /// Not available in an exercise, because no property looks at a clock.
    pub fn recv_timeout<D: ThereIsNoClock>(&self, _: D) -> Result<T, RecvError> {
        unreachable!("it does not compile")
    }

    /// Returns an iterator that waits for messages until no sender is left.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// Returns an iterator over the messages that the channel has now.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.channel.state();
        state.received_by_nobody = true;
        // In a channel with the bound 0, the sender that waits still owns the message.
        let rest = if state.bound == Some(0) { VecDeque::new() } else { std::mem::take(&mut state.messages) };
        drop(state);
        self.channel.room.notify_all();
        drop(rest); // a message's drop is foreign code: not under the lock
    }
}

/// The right to send. The channel ends when its last `End` value is dropped.
#[derive(Debug)]
struct End<T> {
    channel: Arc<Channel<T>>,
}

impl<T> Clone for End<T> {
    fn clone(&self) -> Self {
        self.channel.state().senders += 1;
        Self { channel: Arc::clone(&self.channel) }
    }
}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        let mut state = self.channel.state();
        state.senders -= 1;
        if state.senders == 0 {
            recorder::did("drops the last sender", None);
            self.channel.sent.notify_all();
        }
    }
}

#[derive(Debug)]
struct Channel<T> {
    state: Mutex<State<T>>,
    /// This condition variable is notified when a message was sent, and when no sender is left.
    sent: Condvar,
    /// This condition variable is notified when a message was received, and when the receiver is gone.
    room: Condvar,
}

#[derive(Debug)]
struct State<T> {
    messages: VecDeque<T>,
    bound: Option<usize>,
    /// The number of messages that were ever received.
    received: usize,
    /// True while the receiver waits.
    awaited: bool,
    senders: usize,
    received_by_nobody: bool,
}

fn new<T>(bound: Option<usize>) -> (End<T>, Receiver<T>) {
    let state = State {
        messages: VecDeque::new(),
        bound,
        received: 0,
        awaited: false,
        senders: 1,
        received_by_nobody: false,
    };
    let channel = Arc::new(Channel { state: Mutex::new(state), sent: Condvar::new(), room: Condvar::new() });
    (End { channel: Arc::clone(&channel) }, Receiver { channel, one_thread_at_a_time: PhantomData })
}

impl<T> State<T> {
    /// Returns true if a message may be added. In a channel with the bound 0, the queue may hold one message,
    /// which the receiver takes at once.
    fn has_room(&self) -> bool {
        self.bound.is_none_or(|bound| self.messages.len() < bound.max(1))
    }
}

impl<T> Channel<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, message: T, at: &Location<'_>) -> Result<(), SendError<T>> {
        let mut state = self.wait_for_room(at);
        if state.received_by_nobody {
            recorder::did("finds no receiver to send to", Some(at));
            return Err(SendError(message));
        }
        self.push(&mut state, message, at);
        if state.bound == Some(0) {
            let mine = state.received + state.messages.len();
            return self.wait_until_received(state, mine, at);
        }
        Ok(())
    }

    fn wait_for_room(&self, at: &Location<'_>) -> MutexGuard<'_, State<T>> {
        let mut state = self.state();
        while !state.has_room() && !state.received_by_nobody {
            recorder::sleeping("room in a channel", at);
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Waits until the receiver has received the first `mine` messages. If the receiver is gone, returns an
    /// error with the message.
    fn wait_until_received(
        &self,
        mut state: MutexGuard<'_, State<T>>,
        mine: usize,
        at: &Location<'_>,
    ) -> Result<(), SendError<T>> {
        while state.received < mine {
            if state.received_by_nobody
                && let Some(message) = state.messages.pop_front()
            {
                recorder::did("finds no receiver to send to", Some(at));
                return Err(SendError(message));
            }
            recorder::sleeping("its message to be received", at);
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        recorder::did("goes on", Some(at));
        Ok(())
    }

    fn try_send(&self, message: T, at: &Location<'_>) -> Result<(), TrySendError<T>> {
        let mut state = self.state();
        if state.received_by_nobody {
            return Err(TrySendError::Disconnected(message));
        }
        let taken_at_once = state.bound != Some(0) || state.awaited;
        if !state.has_room() || !taken_at_once {
            recorder::did("finds no room in the channel", Some(at));
            return Err(TrySendError::Full(message));
        }
        self.push(&mut state, message, at);
        Ok(())
    }

    fn push(&self, state: &mut State<T>, message: T, at: &Location<'_>) {
        recorder::did("sends", Some(at));
        state.messages.push_back(message);
        self.sent.notify_one();
    }

    fn recv(&self, at: &Location<'_>) -> Result<T, RecvError> {
        let mut state = self.state();
        loop {
            match self.take(&mut state, at) {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Err(TryRecvError::Empty) => {}
            }
            recorder::sleeping(recorder::MESSAGE, at);
            state.awaited = true;
            state = self.sent.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.awaited = false;
        }
    }

    fn try_recv(&self, at: &Location<'_>) -> Result<T, TryRecvError> {
        let taken = self.take(&mut self.state(), at);
        if matches!(taken, Err(TryRecvError::Empty)) {
            recorder::did("finds no message", Some(at));
        }
        taken
    }

    fn take(&self, state: &mut State<T>, at: &Location<'_>) -> Result<T, TryRecvError> {
        let Some(message) = state.messages.pop_front() else {
            if state.senders > 0 {
                return Err(TryRecvError::Empty);
            }
            recorder::did("finds that no sender is left", Some(at));
            return Err(TryRecvError::Disconnected);
        };
        recorder::did("receives", Some(at));
        state.received += 1;
        self.room.notify_all();
        Ok(message)
    }
}

/// The iterator that [`Receiver::iter`] returns.
#[derive(Debug)]
pub struct Iter<'a, T>(&'a Receiver<T>);

/// The iterator that [`Receiver::try_iter`] returns.
#[derive(Debug)]
pub struct TryIter<'a, T>(&'a Receiver<T>);

/// The iterator that `into_iter` of a [`Receiver`] returns.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;
    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;
    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;
    #[track_caller]
    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;
    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}
