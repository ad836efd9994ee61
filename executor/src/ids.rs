//! Ids of tasks, of the queues in which they wait, and of the threads that run them.

use std::cell::Cell;
use std::fmt;
use std::num::{NonZeroU64, ParseIntError};
use std::str::FromStr;

use crate::sync::{ids, thread_local};

/// The id of a task, unique in the process. Ids do not show the order in which tasks were made.
///
/// A program that gives ids to its clients sends the number, or the text of [`Display`](fmt::Display). When a
/// client sends an id back, the program converts it with [`From`] or with [`FromStr`]. A client may send an
/// id with a number that no task has.
///
/// ```
/// use executor::{FutureTask, TaskId};
///
/// let id = FutureTask::new(|| 6 * 7).handle.id();
/// let number = u64::from(id);
/// assert_eq!(TaskId::from(number), id);
/// assert_eq!(id.to_string(), format!("#{number}"));
/// assert_eq!(format!("#{number}").parse(), Ok(id));
/// assert_eq!(number.to_string().parse(), Ok(id)); // the sign may be missing
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TaskId(u64);

impl TaskId {
    /// Returns the number of the id.
    pub fn as_u64(self) -> u64 {
        self.0
    }

    /// Returns a new id. Each thread takes ids from its own block of ids: with one counter for the process,
    /// all submissions would compete for the cache line of that counter.
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
        // A thread that is ending has no thread-locals any more, so it uses up a whole block for one id.
        Self(id.unwrap_or_else(|_| new_block()))
    }
}

impl From<TaskId> for u64 {
    fn from(id: TaskId) -> Self {
        id.0
    }
}

impl From<u64> for TaskId {
    fn from(number: u64) -> Self {
        Self(number)
    }
}

/// Reads the text that [`Display`](fmt::Display) writes, with or without the sign `#`.
impl FromStr for TaskId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.strip_prefix('#').unwrap_or(text).parse().map(Self)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// The id of a queue, which also identifies the queue owner. An id is cheaper to copy than an `Arc`, which
/// must count its copies.
///
/// A queue owner can have several queues, its *lanes*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueueId(NonZeroU64);

impl QueueId {
    /// The number of bits in an id that store the number of the lane. `queue_membership.rs` stores one bit
    /// together with an id, so 39 bits are left for the number of the queue owner. The 39 bits are enough for
    /// a million new queue owners per second for six days, or for ten thousand per second for a year and a
    /// half.
    const LANE_BITS: u32 = 24;

    /// The number of different queue ids that a queue owner has.
    pub(crate) const LANES: usize = 1 << Self::LANE_BITS;

    pub(crate) const FIRST: Self = Self(NonZeroU64::MIN);
    pub(crate) const LAST: Self = Self(NonZeroU64::MAX);

    /// Returns the id of a queue owner's first queue. Queue owners are numbered from one.
    pub(crate) fn of_owner(number: u64) -> Self {
        let id = number.checked_mul(1 << Self::LANE_BITS).filter(|id| id >> 63 == 0);
        Self::from_number(id.expect("fewer than 2^39 queue owners exist")).expect("the first number is 1")
    }

    /// Returns the id of the queue owner's first queue. The id of the first queue also identifies all queues
    /// of the queue owner together.
    pub(crate) fn of_all_lanes(self) -> Self {
        let id = self.number() >> Self::LANE_BITS << Self::LANE_BITS;
        Self::from_number(id).expect("the first queue owner has number one")
    }

    /// Returns the id of another queue of this queue owner. The call uses only the lowest 24 bits of `lane`.
    pub(crate) fn with_lane(self, lane: u64) -> Self {
        Self(self.of_all_lanes().0 | lane & ((1 << Self::LANE_BITS) - 1))
    }

    pub(crate) fn lane(self) -> u64 {
        self.number() & ((1 << Self::LANE_BITS) - 1)
    }

    pub(crate) fn number(self) -> u64 {
        self.0.get()
    }

    /// Returns the id with this number, or `None` for 0, which is not an id.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }
}

/// The key of a thread, unique in the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadKey(u64);

/// Returns the key of the calling thread.
#[inline]
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

/// The place of a task, or the place of the holder of a resource that threads wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Location {
    /// The task is at a place from which a thread can run it at any time.
    Elsewhere,
    /// The task, or the holder, is in this queue.
    In(QueueId),
    /// The task, or the holder, is on this thread.
    On(ThreadKey),
}
