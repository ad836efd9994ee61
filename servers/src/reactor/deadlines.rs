//! When to look at which connection, though nothing happens on it.
//!
//! Each request would move its connection's deadline twice. So deadlines are not moved: the heap has a time at which to
//! *look*, not later than the deadline was when it was put in. Who looks asks the connection for its deadline then, and
//! usually finds that it has moved away. A busy connection costs an entry each few seconds and not one each request.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

/// The times at which to look.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// When, where, and which connection: another may have its place by then.
    looks: BinaryHeap<Reverse<(Instant, usize, u64)>>,
}

impl Deadlines {
    pub(super) fn look_at(&mut self, when: Instant, place: usize, connection: u64) {
        self.looks.push(Reverse((when, place, connection)));
    }

    /// The first time to look.
    pub(super) fn first(&self) -> Option<Instant> {
        self.looks.peek().map(|Reverse((when, ..))| *when)
    }

    /// Takes out the first connection that it is time to look at: when, where and which.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<(Instant, usize, u64)> {
        let due = self.looks.peek().is_some_and(|Reverse((when, ..))| *when <= now);
        due.then(|| self.looks.pop()).flatten().map(|Reverse(look)| look)
    }
}
