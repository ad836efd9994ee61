//! Demand flags: whether a thief could want the second half of a join.
//!
//! Almost every join of a computation is deep in the recursion. Usually a larger half from a join above it
//! already waits to be stolen. Then the join calls its two closures one after the other. The check for this
//! case must take almost no time: it loads a thread-local, and then the flag to which the thread-local
//! refers.
//!
//! A thread that is no worker uses a demand flag that is never shut. So the joins of such a thread take the
//! slow path, which finds a pool for them.

use crate::panics::contain;
use crate::sync::atomic::{AtomicBool, Ordering};

/// A flag that is shut while the thread's queue offers enough pieces to thieves. It has a cache line of its
/// own, because thieves write to it.
#[repr(align(128))]
pub(super) struct Demand(AtomicBool);

impl Demand {
    /// Shuts or opens the flag. The caller must hold the lock of the flag's worker queue, so that the last
    /// call stores the right value.
    pub(super) fn set_shut(&self, shut: bool) {
        // Relaxed: a join may read an old value. If the old value is shut, the join calls its second half
        // itself. If it is open, the join offers one piece more than necessary.
        self.0.store(shut, Ordering::Relaxed);
    }
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod this_thread {
    use std::cell::Cell;

    use super::{AtomicBool, Demand, Ordering};
    use crate::sync::Mutex;
    use crate::sync::process::OnceLock;
    use crate::sync::thread_local;

    static NOBODYS: Demand = Demand(AtomicBool::new(false));

    thread_local! {
        static DEMAND: Cell<&'static Demand> = const { Cell::new(&NOBODYS) };
    }

    /// Returns whether the calling thread's demand flag is shut.
    #[inline]
    pub(in crate::fork_join) fn is_shut() -> bool {
        DEMAND.with(Cell::get).0.load(Ordering::Relaxed)
    }

    /// Gives the calling thread a demand flag, or takes its flag away. Returns the flag that the thread had
    /// before.
    pub(in crate::fork_join) fn replace(demand: Option<&'static Demand>) -> Option<&'static Demand> {
        let before = DEMAND.replace(demand.unwrap_or(&NOBODYS));
        (!std::ptr::eq(before, &raw const NOBODYS)).then_some(before)
    }

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

/// Demand flags under a model checker. A flag must not be used in two executions of a model, and cannot be
/// made before an execution begins.
#[cfg(any(feature = "loom", feature = "shuttle"))]
mod this_thread {
    use std::cell::Cell;

    use super::{AtomicBool, Demand, Ordering};
    use crate::sync::thread_local;

    thread_local! {
        static DEMAND: Cell<Option<&'static Demand>> = Cell::new(None);
    }

    pub(in crate::fork_join) fn is_shut() -> bool {
        DEMAND.with(Cell::get).is_some_and(|demand| demand.0.load(Ordering::Relaxed))
    }

    pub(in crate::fork_join) fn replace(demand: Option<&'static Demand>) -> Option<&'static Demand> {
        DEMAND.with(|own| own.replace(demand))
    }

    pub(in crate::fork_join) fn take_one() -> &'static Demand {
        Box::leak(Box::new(Demand(AtomicBool::new(false))))
    }

    pub(in crate::fork_join) fn give_back(_demand: &'static Demand) {}
}

pub(super) use this_thread::{give_back, is_shut, replace, take_one};

/// Calls `f` with the demand flag shut, for a join that no pool can run. So this join, and each join inside
/// it, calls its first half and then its second half.
pub(super) fn in_one_thread<R>(f: impl FnOnce() -> R) -> R {
    let demand = take_one();
    demand.set_shut(true);
    let before = replace(Some(demand));
    let result = contain(f);
    replace(before);
    give_back(demand);
    result.unwrap_or_else(|panic| panic.resume())
}
