//! Numbers by which tasks, and the queues that they wait in, are known.

use std::fmt;
use std::num::NonZeroU64;

use crate::sync::{ids, thread_local};

/// Tells tasks apart. Unique in the process; says nothing about order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TaskId(u64);

impl TaskId {
    pub(crate) fn number(self) -> u64 {
        self.0
    }

    /// The id with a number that was given.
    pub(crate) fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Each thread takes ids from a block of its own: one counter for all is a cache line that every submission in the
    /// process would fight for.
    pub(crate) fn next() -> Self {
        const BLOCK: u64 = 1024;
        static BLOCKS: ids::AtomicU64 = ids::AtomicU64::new(0);
        thread_local! {
            static NEXT: std::cell::Cell<u64> = std::cell::Cell::new(0);
        }
        let new_block = || BLOCKS.fetch_add(1, ids::Ordering::Relaxed) * BLOCK + 1;
        let id = NEXT.try_with(|next| {
            let id = match next.get() {
                used_up if used_up % BLOCK == 0 => new_block(),
                id => id,
            };
            next.set(id + 1);
            id
        });
        // A thread that is ending has no locals any more and pays for a block.
        Self(id.unwrap_or_else(|_| new_block()))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// The number by which the watcher of a queue is found. Cheaper to pass on than a reference, which has to be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WatcherId(NonZeroU64);

impl WatcherId {
    pub(crate) fn number(self) -> u64 {
        self.0.get()
    }

    /// The id with a number that was given; `None` for 0, which never is.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }
}
