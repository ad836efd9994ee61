//! Numbers by which tasks, the queues that they wait in, and the threads that run them are known.

use std::cell::Cell;
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

    /// Each thread takes ids from a block of its own: one counter for all is a cache line that every
    /// submission in the process would fight for.
    pub(crate) fn next() -> Self {
        const BLOCK: u64 = 1024;
        static BLOCKS: ids::AtomicU64 = ids::AtomicU64::new(0);
        thread_local! {
            static NEXT: Cell<u64> = Cell::new(0);
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

/// The number by which a queue is known, and through it whoever watches over it. Cheaper to pass on than a
/// reference, which has to be counted.
///
/// A queue owner may have several queues, its *lanes*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueueId(NonZeroU64);

impl QueueId {
    /// How many bits tell the lanes of a queue owner apart. One bit is a task's own, 39 are left: enough for
    /// a million queue owners a second, six days long, or for ten thousand, a year and a half.
    const LANE_BITS: u32 = 24;

    /// How many queues of a queue owner have ids of their own.
    pub(crate) const LANES: usize = 1 << Self::LANE_BITS;

    pub(crate) const FIRST: Self = Self(NonZeroU64::MIN);
    pub(crate) const LAST: Self = Self(NonZeroU64::MAX);

    /// The id of a queue owner's first queue. Queue owners are counted from one.
    pub(crate) fn of_owner(number: u64) -> Self {
        let id = number.checked_mul(1 << Self::LANE_BITS).filter(|id| id >> 63 == 0);
        Self::from_number(id.expect("fewer than 2^39 of them are made")).expect("they are counted from one")
    }

    /// The id of the queue owner's first queue, which all its queues are known by.
    pub(crate) fn of_all_lanes(self) -> Self {
        let id = self.number() >> Self::LANE_BITS << Self::LANE_BITS;
        Self::from_number(id).expect("watchers are counted from one")
    }

    /// The id of another queue of the same queue owner. Of a larger number the lowest 24 bits count.
    pub(crate) fn with_lane(self, lane: u64) -> Self {
        Self(self.of_all_lanes().0 | lane & ((1 << Self::LANE_BITS) - 1))
    }

    pub(crate) fn lane(self) -> u64 {
        self.number() & ((1 << Self::LANE_BITS) - 1)
    }

    pub(crate) fn number(self) -> u64 {
        self.0.get()
    }

    /// The id with a number that was given; `None` for 0, which never is.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }
}

/// Tells threads apart. Unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadKey(u64);

/// The calling thread.
pub(crate) fn this_thread() -> ThreadKey {
    static LAST: ids::AtomicU64 = ids::AtomicU64::new(0);
    thread_local! {
        static KEY: Cell<u64> = Cell::new(0);
    }
    let new = || LAST.fetch_add(1, ids::Ordering::Relaxed) + 1;
    let key = KEY.try_with(|key| {
        if key.get() == 0 {
            key.set(new());
        }
        key.get()
    });
    ThreadKey(key.unwrap_or_else(|_| new()))
}

/// Where a task is, or whoever holds something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    /// Where it may be run at any time.
    Elsewhere,
    /// In a queue.
    In(QueueId),
    /// On a thread.
    On(ThreadKey),
}
