//! The times at which the loop must check a connection even without an event.
//!
//! Each request changes its connection's deadline twice. To keep that cheap, the heap does not follow the
//! changes: an entry is a time at which to *check* a connection, not later than the deadline was when the
//! entry was made. At that time the loop asks the connection for its present deadline, which usually turns
//! out to be later. So a busy connection needs a new entry every few seconds and not for each request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

/// The times at which to check connections.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// The time, the index and the number of a connection; the number shows whether the index belongs to
    /// another connection by then.
    looks: BinaryHeap<Reverse<(Instant, usize, u64)>>,
}

impl Deadlines {
    pub(super) fn look_at(&mut self, when: Instant, place: usize, connection: u64) {
        self.looks.push(Reverse((when, place, connection)));
    }

    /// Returns the first time at which to check a connection.
    pub(super) fn first(&self) -> Option<Instant> {
        self.looks.peek().map(|Reverse((when, ..))| *when)
    }

    /// Takes out the first entry that is due: its time, index and number.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<(Instant, usize, u64)> {
        let due = self.looks.peek().is_some_and(|Reverse((when, ..))| *when <= now);
        due.then(|| self.looks.pop()).flatten().map(|Reverse(look)| look)
    }
}
