//! The queue between the clients and the writer. Both ends of the queue are one value, as in Java's
//! `BlockingQueue`.
//!
//! So no thread can close the queue: if a client waits for room, it continues to wait after the writer has
//! ended. A Rust program should use a channel, and only the writer should own the receiver: then clients get an
//! error after the writer has ended. The steps use no channel, in order to show the purpose of the count of
//! reservations.

use executor::channel::{PutError, Receiver, ReceiverExt, Sender, SenderExt, bounded};

use super::{Reason, Refused};

pub(super) struct Queue<T> {
    clients: Sender<T>,
    writer: Receiver<T>,
}

impl<T> Queue<T> {
    pub(super) fn new(capacity: usize) -> Self {
        let (clients, writer) = bounded(capacity);
        Self { clients, writer }
    }

    /// Waits for room in the queue, and puts an item into it. This call fails only if the client's task was
    /// cancelled.
    pub(super) fn put(&self, item: T) -> Result<(), T> {
        self.clients.put(item).map_err(PutError::into_inner)
    }

    /// Waits until there is an item, and takes it. Returns `None` if the writer was interrupted.
    pub(super) fn take(&self) -> Option<T> {
        self.writer.take().ok()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.writer.is_empty()
    }
}

impl Queue<String> {
    /// Puts a client's line into the queue. A cancelled client gets the line back, with the reason.
    pub(super) fn put_line(&self, line: String) -> Result<(), Refused> {
        self.put(line).map_err(|line| Refused { line, reason: Reason::Interrupted })
    }
}
