//! The times at which the loop must check a connection even if there is no event.
//!
//! Each request changes the deadline of its connection twice. To keep these changes cheap, the heap does not
//! store each change. An entry is a time at which the loop *checks* a connection: no later than the deadline
//! that the connection had when the entry was made. At that time the loop asks the connection for its current
//! deadline, which is usually later. So a busy connection needs a new entry only every few seconds, and not
//! for each request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

/// The times at which to check connections.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// The time, the index and the number of a connection; the number shows whether the index already
    /// belongs to another connection.
    looks: BinaryHeap<Reverse<(Instant, usize, u64)>>,
}

impl Deadlines {
    pub(super) fn look_at(&mut self, when: Instant, place: usize, connection: u64) {
        self.looks.push(Reverse((when, place, connection)));
    }

    /// Returns the earliest time at which a connection must be checked.
    pub(super) fn first(&self) -> Option<Instant> {
        self.looks.peek().map(|Reverse((when, ..))| *when)
    }

    /// Removes the first entry that is due, and returns its time, index and number.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<(Instant, usize, u64)> {
        let due = self.looks.peek().is_some_and(|Reverse((when, ..))| *when <= now);
        due.then(|| self.looks.pop()).flatten().map(|Reverse(look)| look)
    }
}
