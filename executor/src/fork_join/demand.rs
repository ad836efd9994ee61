//! Demand flags, which say whether a thief could want the second half of a join.
//!
//! Most joins of a computation are deep in the recursion. Usually the worker's queue already offers larger
//! halves then, and the join only calls its two closures. Every join checks for this case, so the check
//! must take almost no time: it loads a thread-local, and then the flag to which the thread-local refers.
//!
//! A thread that is not a worker has no demand flag. Its joins take the slow path, which finds a pool for
//! them.

use std::cell::Cell;

use crate::panics::contain;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread_local;

/// A flag that is shut while the thread's queue offers enough pieces to thieves. The flag has a cache line of
/// its own, because thieves write to it.
#[repr(align(128))]
pub(super) struct Demand(AtomicBool);

impl Demand {
    /// Shuts or opens the flag. The caller must hold the lock of the flag's worker queue. So an older value
    /// never replaces a newer value.
    pub(super) fn set_shut(&self, shut: bool) {
        // Relaxed is enough: an old value does no harm. If a join reads that the flag is shut, it calls its second half
        // itself. If it reads that the flag is open, it offers one piece more than necessary.
        self.0.store(shut, Ordering::Relaxed);
    }
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
thread_local! {
    static DEMAND: Cell<Option<&'static Demand>> = const { Cell::new(None) };
}
#[cfg(any(feature = "loom", feature = "shuttle"))]
thread_local! {
    static DEMAND: Cell<Option<&'static Demand>> = Cell::new(None);
}

#[inline]
pub(super) fn is_shut() -> bool {
    DEMAND.with(Cell::get).is_some_and(|demand| demand.0.load(Ordering::Relaxed))
}

/// Gives the calling thread a demand flag, or takes its flag away. Returns its old flag.
pub(super) fn replace(demand: Option<&'static Demand>) -> Option<&'static Demand> {
    DEMAND.with(|own| own.replace(demand))
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod spare {
    use super::{AtomicBool, Demand};
    use crate::sync::Mutex;
    use crate::sync::process::OnceLock;

    /// Returns the demand flags of dropped worker queues, which new queues use again. The flags are never
    /// freed, because thread-locals refer to them without a reference count.
    fn spare() -> &'static Mutex<Vec<&'static Demand>> {
        static SPARE: OnceLock<Mutex<Vec<&'static Demand>>> = OnceLock::new();
        SPARE.get_or_init(Mutex::default)
    }

    pub(in crate::fork_join) fn take_one() -> &'static Demand {
        let spare = spare().lock().pop();
        spare.unwrap_or_else(|| Box::leak(Box::new(Demand(AtomicBool::new(false)))))
    }

    pub(in crate::fork_join) fn give_back(demand: &'static Demand) {
        demand.set_shut(false);
        spare().lock().push(demand);
    }
}

/// A model checker allows the use of a flag only in the execution that has made the flag. So there are no spare flags.
#[cfg(any(feature = "loom", feature = "shuttle"))]
mod spare {
    use super::{AtomicBool, Demand};

    pub(in crate::fork_join) fn take_one() -> &'static Demand {
        Box::leak(Box::new(Demand(AtomicBool::new(false))))
    }

    pub(in crate::fork_join) fn give_back(_demand: &'static Demand) {}
}

pub(super) use spare::{give_back, take_one};

/// Calls `f` with the demand flag shut, so that each join in `f` calls its first half and then its second
/// half. This is for a join that no pool can run.
pub(super) fn in_one_thread<R>(f: impl FnOnce() -> R) -> R {
    let demand = take_one();
    demand.set_shut(true);
    let before = replace(Some(demand));
    let result = contain(f);
    replace(before);
    give_back(demand);
    result.unwrap_or_else(|panic| panic.resume())
}
