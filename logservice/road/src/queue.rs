//! The queue between the clients and the writer. Both ends are one value, as in Java's `BlockingQueue`.
//!
//! So nothing closes it: a client that waits for room goes on waiting when the writer is gone. A channel
//! whose receiver belongs to the writer alone would return an error to the client; a Rust program should use
//! that. The steps of the road do without such a channel, to show what the count of reservations is for.

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

    /// Waits for room. Fails only if the client's task was cancelled.
    pub(super) fn put(&self, item: T) -> Result<(), T> {
        self.clients.put(item).map_err(PutError::into_inner)
    }

    /// Waits for an item. `None`: the writer was interrupted.
    pub(super) fn take(&self) -> Option<T> {
        self.writer.take().ok()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.writer.is_empty()
    }
}

impl Queue<String> {
    /// Puts a client's line. A cancelled client gets the line back, with the reason.
    pub(super) fn put_line(&self, line: String) -> Result<(), Refused> {
        self.put(line).map_err(|line| Refused { line, reason: Reason::Interrupted })
    }
}
