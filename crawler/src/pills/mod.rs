//! A queue whose consumers learn that no more items will come: the last producer puts a poison pill for
//! each consumer.
//!
//! A consumer that finds a queue empty cannot tell "not yet" from "no more". A pill means "no more": it is an
//! element of the queue itself, so a consumer takes the pill after all items that were put before it. The
//! consumer that takes a pill ends.
//!
//! ```text
//!   producers 3 ── one ends ──▶ 2 ── one ends ──▶ 1 ── the last one ends ──▶ 0: a pill for each consumer
//!
//!   consumer   takes items ── takes a pill ──▶ ended, and takes nothing
//! ```
//!
//! # Invariants
//!
//! 1. A pill is put only when no producer is left. Each producer puts its last item before the producer
//!    counts as ended, and the queue returns the items in the order in which they were put. So no item
//!    follows a pill in the queue.
//! 2. The last producer puts a pill for each consumer that is alive at that time, and each consumer takes
//!    at most one pill. So each living consumer gets a pill.
//! 3. A consumer that dies takes no pill: either no pill was put for the consumer, or its pill stays in the
//!    queue. When all consumers are gone, the queue is closed, so a producer neither waits for room nor puts
//!    a pill.
//!
//! A producer ends when its last clone is dropped: at the end of its work, after an error, by a panic, or
//! because it was told to stop. The last producer puts its pills even if it is told to stop (the call is
//! [`masked`]), because without pills the consumers would never end.
//!
//! # Why not just close it?
//!
//! A Rust channel ends without a pill when its last sender is dropped, which is enough for many programs. In
//! this queue, however, each producer and each consumer keeps the whole queue alive. The same is true of a
//! queue that is shared by name, kept in a field or on another machine, or filled by its own consumers. In a
//! queue that is kept alive like this, the last sender is never dropped, so a pill must announce the end.
//!
//! The module [`faults`] shows what happens if one of the invariants is missing.

pub mod faults;

use crate::door::channel::{Receiver, ReceiverExt, Sender, SenderExt, TakeError, bounded};
use crate::door::sync::{Arc, Mutex, MutexGuard, PoisonError};
use crate::door::{Cancelled, masked};

pub use crate::door::channel::PutError;

/// An element of the queue.
enum Message<T> {
    Item(T),
    /// A pill: a consumer that has taken a pill ends.
    Pill,
}

/// The handle with which a producer puts items into the queue. Each producer has its own clone; the
/// queue ends when the last clone is dropped.
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
}

/// The handle with which a consumer takes items; each consumer has its own handle.
pub struct Consumer<T> {
    /// The field is `None` after the consumer has ended; from then on, no producer waits for the consumer.
    queue: Option<Receiver<Message<T>>>,
    shared: Arc<Shared<T>>,
}

/// The data that all producers and consumers share.
struct Shared<T> {
    queue: Sender<Message<T>>,
    left: Mutex<Left>,
}

/// The numbers of producers and consumers that are left.
struct Left {
    producers: usize,
    consumers: usize,
}

/// Creates a queue with room for `capacity` items, and returns a producer, which can be cloned, and
/// `consumers` consumers.
///
/// # Panics
/// Panics if `capacity` or `consumers` is zero.
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
    /// Puts an item into the queue; if the queue is full, waits for room. This call is a cancellation
    /// point.
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
    /// The last producer puts a pill for each consumer, and waits for room in the queue if necessary.
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
    /// Waits until there is an item, and takes the item. Returns `None` when no more items will come. This
    /// call is a cancellation point.
    ///
    /// # Errors
    /// Fails if the calling task was cancelled. If the call returns an error, it has not taken an item.
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
