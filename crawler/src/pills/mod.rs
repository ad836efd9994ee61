//! A queue whose consumers know when nothing more will come: the last producer leaves a poison pill for each
//! of them.
//!
//! A consumer that finds a queue empty cannot tell "not yet" from "no more". A pill says "no more": it is an
//! element of the queue itself, so it comes after everything that was put before. The consumer that takes it
//! ends.
//!
//! ```text
//!   producers 3 ── one ends ──▶ 2 ── one ends ──▶ 1 ── the last one ends ──▶ 0: a pill for each consumer
//!
//!   consumer   takes items ── takes a pill ──▶ ended, and takes nothing
//! ```
//!
//! # Invariants
//!
//! 1. A pill is put only when no producer is left. Each producer has put its last item before it is counted
//!    as ended, and the queue is first in, first out. So nothing comes after a pill.
//! 2. There is a pill for each consumer that is there when the last producer ends, and each takes one at
//!    most. So each of them gets one.
//! 3. A consumer that dies takes no pill: either no pill was put for it, or its pill stays in the queue. When
//!    all consumers are gone, the queue is closed, so a producer no longer waits for room or puts a pill.
//!
//! A producer ends when its last clone is dropped, in whatever way: at the end of its work, by an error, by a
//! panic, by being told to stop. Putting the pills does not heed the request to stop (it is [`masked`]):
//! without them the consumers would never end.
//!
//! # Why not just close it?
//!
//! A channel of Rust ends by itself when its last sender is dropped, and often that is enough. Here each end
//! keeps the whole queue alive; the same is true of a queue that is shared by name, kept in a field or on
//! another machine, or to which its consumers also put. Then the last sender is never dropped, and a pill
//! must announce the end.
//!
//! The [`faults`] show what happens if one of the invariants is left out.

pub mod faults;

use crate::door::channel::{Receiver, ReceiverExt, Sender, SenderExt, TakeError, bounded};
use crate::door::sync::{Arc, Mutex, MutexGuard, PoisonError};
use crate::door::{Cancelled, masked};

pub use crate::door::channel::PutError;

/// An element of the queue.
enum Message<T> {
    Item(T),
    /// A pill: the consumer that takes it ends.
    Pill,
}

/// A producer's end of the queue. Each producer has its own clone; the queue ends when the last clone is
/// dropped.
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
}

/// A consumer's end of the queue. Each consumer has one.
pub struct Consumer<T> {
    /// `None` when the consumer has ended: then no producer waits for it.
    queue: Option<Receiver<Message<T>>>,
    shared: Arc<Shared<T>>,
}

/// What all ends share.
struct Shared<T> {
    queue: Sender<Message<T>>,
    left: Mutex<Left>,
}

/// How many ends are still there.
struct Left {
    producers: usize,
    consumers: usize,
}

/// Makes a queue with room for `capacity` items, and returns a producer, which can be cloned, and `consumers`
/// consumers.
///
/// # Panics
/// If `capacity` or `consumers` is zero.
pub fn queue<T>(capacity: usize, consumers: usize) -> (Producer<T>, Vec<Consumer<T>>) {
    assert!(capacity > 0 && consumers > 0, "a queue has room for an item, and a consumer");
    let (sender, receiver) = bounded(capacity);
    let shared = Arc::new(Shared { queue: sender, left: Mutex::new(Left { producers: 1, consumers }) });
    let consumer = |_| Consumer { queue: Some(receiver.clone()), shared: Arc::clone(&shared) };
    let consumers = (0..consumers).map(consumer).collect();
    (Producer { shared }, consumers)
}

impl<T> Shared<T> {
    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Producer<T> {
    /// Puts an item into the queue; if the queue is full, waits for room. A cancellation point.
    ///
    /// # Errors
    /// Returns the item if no consumer is left, or if the calling task was cancelled.
    pub fn put(&self, item: T) -> Result<(), PutError<T>> {
        self.shared.queue.put(Message::Item(item)).map_err(|error| {
            let is_closed = matches!(error, PutError::Disconnected(_));
            match error.into_inner() {
                Message::Item(item) if is_closed => PutError::Disconnected(item),
                Message::Item(item) => PutError::Interrupted(item),
                Message::Pill => unreachable!("an item was to be put"),
            }
        })
    }
}

impl<T> Clone for Producer<T> {
    fn clone(&self) -> Self {
        self.shared.left().producers += 1;
        Self { shared: Arc::clone(&self.shared) }
    }
}

// ANCHOR: producer_ends
impl<T> Drop for Producer<T> {
    /// The last producer leaves a pill for each consumer, and waits for room for them.
    fn drop(&mut self) {
        let pills = {
            let mut left = self.shared.left();
            left.producers -= 1;
            if left.producers == 0 { left.consumers } else { 0 }
        };
        masked(|| {
            for _ in 0..pills {
                if self.shared.queue.put(Message::Pill).is_err() {
                    return; // no consumer is left to take it
                }
            }
        });
    }
}
// ANCHOR_END: producer_ends

impl<T> Consumer<T> {
    // ANCHOR: take
    /// Takes the next item, and waits until there is one. Returns `None` when nothing more will come. A
    /// cancellation point.
    ///
    /// # Errors
    /// If the calling task was cancelled. Nothing has been taken then.
    pub fn take(&mut self) -> Result<Option<T>, Cancelled> {
        let Some(queue) = &self.queue else { return Ok(None) };
        match queue.take() {
            Ok(Message::Item(item)) => return Ok(Some(item)),
            Err(TakeError::Interrupted) => return Err(Cancelled),
            Ok(Message::Pill) | Err(_) => self.queue = None,
        }
        Ok(None)
    }
    // ANCHOR_END: take
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.shared.left().consumers -= 1;
    }
}
