//! Demand flags: the flag of a worker says whether other workers may want to steal the second half of this
//! worker's next join.
//!
//! Most joins of a computation are deep in the recursion. At that depth, the worker's queue usually offers
//! larger halves already, so the join only calls its two closures. Every join checks for this case, so the
//! check must take almost no time: the check loads a thread-local and then the flag to which this
//! thread-local refers.
//!
//! A thread that is not a worker has no demand flag. The joins of this thread take the slow path, which finds
//! a pool for them.
//!
//! # Working alone
//!
//! In a loop of short joins, the queue never offers enough pieces: each join takes back its only piece before
//! the next join begins. A thief needs more time to take this piece than the owner needs to run it. So after
//! a round of short joins the owner *works alone*: for some rounds, the owner offers no piece. At the end of
//! each round the owner reads the clock. If the pieces of a round took longer, the owner offers pieces again.
//! The owner also offers pieces again after a limited number of rounds, because each of the pieces of a large
//! recursion can be short, too.

use std::cell::Cell;

use crate::panics::contain;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Duration, Instant, thread_local};

/// The number of joins between two readings of the clock.
pub(super) const ROUND: u32 = 64;
/// A piece that takes less than this time is fine-grained. It would cost too much to lock the queue for each
/// piece of this length.
pub(super) const FINE: Duration = Duration::from_nanos(400);

/// A worker's flag that is shut while the worker's queue offers enough pieces to thieves. The flag has a
/// cache line of its own, because thieves write to it.
#[repr(align(128))]
pub(super) struct Demand(AtomicBool);

impl Demand {
    /// Shuts or opens the flag. The caller must hold the lock of the flag's worker queue. So an older value
    /// never replaces a newer value.
    pub(super) fn set_shut(&self, shut: bool) {
        // Relaxed is enough: an old value does no harm. A join that wrongly reads a shut flag calls its
        // second closure itself. A join that wrongly reads an open flag offers one piece more than necessary.
        self.0.store(shut, Ordering::Relaxed);
    }
}

/// The state that a thread keeps for the joins that it calls.
struct Joins {
    demand: Cell<Option<&'static Demand>>,
    /// The number of joins in this round that must still run without an offer, because the thread works
    /// alone.
    unoffered: Cell<u32>,
    /// The number of further rounds in which the thread may work alone.
    rounds: Cell<u32>,
    /// The beginning of this round.
    since: Cell<Option<Instant>>,
}

impl Joins {
    const fn new() -> Self {
        Self {
            demand: Cell::new(None),
            unoffered: Cell::new(0),
            rounds: Cell::new(0),
            since: Cell::new(None),
        }
    }
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
thread_local! {
    static JOINS: Joins = const { Joins::new() };
}
#[cfg(any(feature = "loom", feature = "shuttle"))]
thread_local! {
    static JOINS: Joins = Joins::new();
}

/// Returns whether the calling thread is a worker whose flag is shut. Such a thread offers no half.
#[inline]
pub(super) fn is_shut() -> bool {
    let is_shut = |demand: &Demand| demand.0.load(Ordering::Relaxed);
    JOINS.with(|joins| joins.demand.get().is_some_and(is_shut))
}

/// Counts a join of the calling thread. Returns whether the thread works alone and this join does not end the
/// round.
pub(super) fn counts_alone() -> bool {
    JOINS.with(|joins| {
        let left = joins.unoffered.get();
        joins.unoffered.set(left.saturating_sub(1));
        left > 0
    })
}

/// Gives the calling thread a demand flag, or removes the thread's flag. Returns its old flag.
pub(super) fn replace(demand: Option<&'static Demand>) -> Option<&'static Demand> {
    JOINS.with(|joins| joins.demand.replace(demand))
}

/// Makes the calling thread work alone for this number of rounds. If the pieces of a round are longer, the
/// thread stops working alone after that round. With 0, the thread offers pieces again.
pub(super) fn work_alone(rounds: u32) {
    JOINS.with(|joins| {
        joins.rounds.set(rounds);
        joins.since.set((rounds > 0).then(Instant::now));
        joins.unoffered.set(if rounds > 0 { ROUND - 1 } else { 0 });
    });
}

/// Ends a round, and returns whether the calling thread works alone for another round.
pub(super) fn stays_alone() -> bool {
    JOINS.with(|joins| {
        let Some(since) = joins.since.get() else { return false };
        let is_fine = since.elapsed() < FINE * ROUND;
        work_alone(if is_fine { joins.rounds.get() - 1 } else { 0 });
        joins.rounds.get() > 0
    })
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod spare {
    use super::{AtomicBool, Demand};
    use crate::sync::Mutex;
    use crate::sync::process::OnceLock;

    /// Returns the demand flags of dropped worker queues; new queues use these flags again. The flags are
    /// never freed, because thread-locals refer to them without a reference count.
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

/// A model checker allows the use of a flag only in the execution that has made the flag. So a model checker
/// never uses a flag again.
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
/// half. This function is used for a join that no pool can run.
pub(super) fn in_one_thread<R>(f: impl FnOnce() -> R) -> R {
    let demand = take_one();
    demand.set_shut(true);
    let before = replace(Some(demand));
    let result = contain(f);
    replace(before);
    give_back(demand);
    result.unwrap_or_else(|panic| panic.resume())
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;
    use crate::sync::thread;

    #[test]
    fn a_thread_works_alone_only_for_so_many_rounds() {
        const ROUNDS: u32 = 3;
        let joins_alone = || {
            work_alone(ROUNDS);
            (0..=ROUNDS * ROUND).take_while(|_| counts_alone() || stays_alone()).count()
        };
        // On a busy machine, a round can take a long time.
        let most = (0..10_000).map(|_| joins_alone()).max();
        assert_eq!(most, Some((ROUNDS * ROUND - 1) as usize));
    }

    #[test]
    fn a_thread_that_works_alone_offers_pieces_again_after_a_round_that_took_long() {
        work_alone(5);
        thread::sleep(2 * FINE * ROUND);
        assert_eq!((0..2 * ROUND).take_while(|_| counts_alone()).count(), ROUND as usize - 1);
        assert!(!stays_alone() && !counts_alone());
    }
}
