//! The first look of each join: whether a thief could want its second half.
//!
//! Almost every join of a computation is far down in it, and has some larger half above it that waits to be
//! stolen. Such a join is two calls, one after the other. To find that out must cost next to nothing: one
//! load of a thread-local, and one of the flag that it leads to.
//!
//! A thread that is no worker has a demand flag, too, and that is never shut: its joins take the long way and
//! find a pool there.

use crate::panics::contain;
use crate::sync::atomic::{AtomicBool, Ordering};

/// Shut while the thread's queue offers thieves enough. On a cache line of its own, for thieves open it.
#[repr(align(128))]
pub(super) struct Demand(AtomicBool);

impl Demand {
    /// Shuts or opens it. Called under the lock of the worker queue that it belongs to, so that the last call
    /// is right.
    pub(super) fn set_shut(&self, shut: bool) {
        // Relaxed: a join that finds it shut too late calls its second half itself; one that finds it open
        // too late looks under the lock.
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

    /// Whether the calling thread's demand flag is shut.
    #[inline]
    pub(in crate::fork_join) fn is_shut() -> bool {
        DEMAND.with(Cell::get).0.load(Ordering::Relaxed)
    }

    /// Gives the calling thread a demand flag, or takes it away; says which it had.
    pub(in crate::fork_join) fn replace(demand: Option<&'static Demand>) -> Option<&'static Demand> {
        let before = DEMAND.replace(demand.unwrap_or(&NOBODYS));
        (!std::ptr::eq(before, &raw const NOBODYS)).then_some(before)
    }

    /// The demand flags of worker queues that are no more. They are never freed, because a thread-local
    /// refers to them without counting.
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

/// Under a model nothing may outlive an execution, and nothing of a model can be made before one.
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

/// Calls a join that no pool can run: one half after the other, and those inside it likewise.
pub(super) fn in_one_thread<R>(f: impl FnOnce() -> R) -> R {
    let demand = take_one();
    demand.set_shut(true);
    let before = replace(Some(demand));
    let result = contain(f);
    replace(before);
    give_back(demand);
    result.unwrap_or_else(|panic| panic.resume())
}
