//! The parker of a thread: the place where the thread waits for a wake-up. The thread spins for a short time
//! before it sleeps.
//!
//! # Invariants
//!
//! 1. A wake-up that comes before the sleep is stored, so no wake-up is lost.
//! 2. A waiter first spins, for a bounded time and under no lock, and only then sleeps. A thread that wakes
//!    the waiter makes a system call only if the waiter sleeps.
//!
//! # First spin, then sleep
//!
//! Putting a thread to sleep and waking it again takes some microseconds, both for the sleeper and for the
//! thread that wakes the sleeper. Many waits are shorter: another thread is already doing the awaited work.
//! So a waiter first spins: it looks at the parker's signal, again and again, for some hundred pauses of the
//! processor. The number of pauses depends on the thread's recent waits ([`AdaptiveSpin`]). A spin that ended
//! without a wake-up makes the next spin shorter, down to almost nothing. A wake-up that came late in a spin
//! makes the next spin longer. For a long wait, spinning costs at most a few microseconds of processor time
//! more than sleeping at once.
//!
//! | | |
//! |---|---|
//! | one processor for this process | no spinning: the other thread cannot run meanwhile |
//! | the wait is cancelled | its token wakes the parker, so the spinning ends at once |
//! | the deadline has passed | the waiter sees it before the first pause, and after every 32 pauses |
//! | a wait that is long by its nature, such as a sleep | no spinning |

use std::task::{Wake, Waker};
use std::{hint, ptr};

use crate::sync::atomic::{AtomicU8, Ordering};
use crate::sync::process::OnceLock;
use crate::sync::{Arc, Condvar, Duration, Instant, Mutex, spinning_helps};

/// The place where one thread waits for one thing. A parker holds at most one wake-up.
///
/// ```text
///            wake                      wake: and notify the sleeper
///    QUIET ────────▶ WOKEN ◀─────────────────────────────┐
///      │ ▲             │                                 │
///      │ └──used up────┘                                 │
///      └──────────── park, when spinning was in vain ──▶ ASLEEP
/// ```
#[derive(Default)]
pub(crate) struct Parker {
    signal: AtomicU8,
    /// The waiter holds this lock from just before it sets `ASLEEP` until the condition variable has put it
    /// to sleep. A thread that reads `ASLEEP` takes this lock before it notifies. So the waiter is already
    /// asleep on the condition variable when it is notified.
    falling_asleep: Mutex<()>,
    wake_up: Condvar,
}

/// No wake-up has come: the initial value.
const QUIET: u8 = 0;
/// A wake-up has come, and the waiter has not used it up yet.
const WOKEN: u8 = 1;
/// No wake-up has come, and the waiter sleeps: a thread that wakes the waiter must notify it.
const ASLEEP: u8 = 2;

impl Parker {
    /// Returns true if there is a wake-up that the waiter has not used up. After a wake-up, the waiter checks
    /// the awaited thing again before it sleeps.
    pub(crate) fn is_woken(&self) -> bool {
        self.signal.load(Ordering::Acquire) == WOKEN
    }

    /// Uses up the wake-up, if there is one.
    pub(crate) fn use_up(&self) {
        // Acquire: pairs with the Release in `wake_by_ref`, so that the waiter sees the change for which it
        // was woken.
        self.signal.swap(QUIET, Ordering::Acquire);
    }

    /// Spins: looks at the signal again and again, until a wake-up or the deadline has come, or the spin
    /// budget is used up. Returns true if a wake-up has come.
    pub(crate) fn spin(&self, deadline: Deadline, spin_budget: &mut AdaptiveSpin) -> bool {
        for used in 0..spin_budget.of_this_wait() {
            // Relaxed: `use_up` reads the wake-up again, with Acquire.
            if self.signal.load(Ordering::Relaxed) == WOKEN {
                spin_budget.has_paid(used);
                return true;
            }
            if used % 32 == 0 && deadline.has_passed() {
                return false;
            }
            hint::spin_loop();
        }
        spin_budget.was_in_vain();
        false
    }

    /// Sleeps until a wake-up or the deadline comes. Returns true if the deadline came first. Does not use up
    /// the wake-up.
    pub(crate) fn sleep(&self, deadline: Deadline) -> bool {
        if deadline.has_passed() {
            return true; // a timed sleep would still take the timer slack, 50 µs on Linux
        }
        let mut falling_asleep = self.falling_asleep.lock();
        let mut timed_out = false;
        // The code uses a compare-exchange, because a store could overwrite a wake-up that came meanwhile.
        let asleep = self.signal.compare_exchange(QUIET, ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
        while asleep.is_ok() && self.signal.load(Ordering::Relaxed) == ASLEEP && !timed_out {
            (falling_asleep, timed_out) = match deadline.0 {
                None => (self.wake_up.wait(falling_asleep), false),
                Some(at) => self.wake_up.wait_until(falling_asleep, &self.falling_asleep, at),
            };
        }
        timed_out
    }
}

impl Wake for Parker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release: pairs with the Acquire in `use_up`.
        if self.signal.swap(WOKEN, Ordering::Release) == ASLEEP {
            drop(self.falling_asleep.lock());
            self.wake_up.notify_one();
        }
    }
}

/// The vtables of parkers' wakers. [`wakes_a_thread`] recognises these wakers by their vtables. The first
/// vtable is the vtable of a waker from [`waker_of`], and the second vtable is the vtable of a clone of this
/// waker, because the compiler may make two vtables.
static WAKERS: OnceLock<[usize; 2]> = OnceLock::new();

/// Makes the waker of a parker. [`wakes_a_thread`] recognises the wakers that this function makes.
#[inline(never)] // an inlined copy could have a third vtable
pub(crate) fn waker_of(parker: &Arc<Parker>) -> Waker {
    let waker = Waker::from(Arc::clone(parker));
    WAKERS.get_or_init(|| [table_of(&waker), table_of(&waker.clone())]);
    waker
}

/// Returns whether this waker wakes a thread that waits in this crate. A waker that wakes a thread runs no
/// user code and returns quickly.
pub(crate) fn wakes_a_thread(waker: &Waker) -> bool {
    WAKERS.get().is_some_and(|known| known.contains(&table_of(waker)))
}

fn table_of(waker: &Waker) -> usize {
    ptr::from_ref(waker.vtable()).addr()
}

/// The number of pauses for which a thread spins before it sleeps, adapted to the thread's recent
/// waits.
pub(crate) struct AdaptiveSpin {
    pauses: u32,
    waits: u32,
}

impl AdaptiveSpin {
    const LEAST: u32 = 8;
    const MOST: u32 = 400;
    /// One of every `PROBE` waits spins for `MOST` pauses, whatever the budget is. Without these probes, a
    /// thread with a small budget would never learn that its waits have become short.
    const PROBE: u32 = 32;

    /// Makes a budget of `MOST` pauses. Later the waits of the thread change the budget.
    pub(crate) fn new() -> Self {
        Self { pauses: Self::MOST, waits: 0 }
    }

    fn of_this_wait(&mut self) -> u32 {
        if !spinning_helps() {
            return 0;
        }
        self.waits = self.waits.wrapping_add(1);
        if self.waits.is_multiple_of(Self::PROBE) { Self::MOST } else { self.pauses }
    }

    /// Records that a wake-up came after this many pauses. The budget becomes at least twice this number,
    /// but not more than `MOST`.
    fn has_paid(&mut self, used: u32) {
        self.pauses = self.pauses.max(2 * used).min(Self::MOST);
    }

    /// Records that no wake-up came during the spin. The budget shrinks more slowly than it grows, because an
    /// unsuccessful spin costs less than an avoidable sleep.
    fn was_in_vain(&mut self) {
        self.pauses = (self.pauses - self.pauses / 8).max(Self::LEAST);
    }
}

/// The time at which a wait times out. `None`: the wait has no time limit, or the limit is beyond the range
/// of the clock.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) const NEVER: Self = Self(None);

    pub(crate) fn is_never(self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn after(timeout: Duration) -> Self {
        Self(Instant::now().checked_add(timeout))
    }

    pub(crate) fn has_passed(self) -> bool {
        self.0.is_some_and(|at| Instant::now() >= at)
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    #[test]
    fn patience_stays_within_its_bounds_shrinks_when_it_is_in_vain_and_grows_when_it_pays() {
        let mut spin_budget = AdaptiveSpin::new();
        assert_eq!(spin_budget.pauses, AdaptiveSpin::MOST);
        for _ in 0..100 {
            let before = spin_budget.pauses;
            spin_budget.was_in_vain();
            assert!(spin_budget.pauses < before || spin_budget.pauses == AdaptiveSpin::LEAST);
        }
        assert_eq!(spin_budget.pauses, AdaptiveSpin::LEAST);
        spin_budget.has_paid(3);
        assert_eq!(spin_budget.pauses, AdaptiveSpin::LEAST, "it has paid as it is");
        spin_budget.has_paid(100);
        assert_eq!(spin_budget.pauses, 200);
        spin_budget.has_paid(300);
        assert_eq!(spin_budget.pauses, AdaptiveSpin::MOST);
    }

    #[test]
    fn a_thread_without_patience_tries_a_long_spin_now_and_then() {
        let mut spin_budget = AdaptiveSpin { pauses: AdaptiveSpin::LEAST, waits: 0 };
        let spins: Vec<_> = (0..2 * AdaptiveSpin::PROBE).map(|_| spin_budget.of_this_wait()).collect();
        let long = spins.iter().filter(|&&spin| spin == AdaptiveSpin::MOST).count();
        let short = spins.iter().filter(|&&spin| spin == AdaptiveSpin::LEAST).count();
        let expected = if spinning_helps() { (2, spins.len() - 2) } else { (0, 0) };
        assert_eq!((long, short), expected);
    }

    #[test]
    fn the_wakers_of_parkers_are_told_from_others() {
        struct Other;
        impl Wake for Other {
            fn wake(self: Arc<Self>) {}
        }
        let ours = waker_of(&Arc::default());
        assert!([ours.clone(), ours.clone().clone(), ours].iter().all(wakes_a_thread));
        assert!(![Waker::from(Arc::new(Other)), Waker::noop().clone()].iter().any(wakes_a_thread));
    }

    #[test]
    fn spinning_ends_at_once_with_a_wake_up_or_a_passed_deadline() {
        let parker = Arc::new(Parker::default());
        let mut spin_budget = AdaptiveSpin::new();
        assert!(!parker.spin(Deadline::after(Duration::ZERO), &mut spin_budget));
        // On a machine with one processor, the parker does not spin, and counts each attempt as an
        // unsuccessful spin.
        let is_unharmed = spin_budget.pauses == AdaptiveSpin::MOST || !spinning_helps();
        assert!(is_unharmed, "it has not spun in vain: there was no time to spin");
        parker.wake_by_ref();
        assert_eq!(parker.spin(Deadline::NEVER, &mut spin_budget), spinning_helps());
        assert!(!parker.sleep(Deadline::NEVER));
        parker.use_up();
        assert_eq!(parker.signal.load(Ordering::Relaxed), QUIET, "the wake-up is used up");
    }
}
