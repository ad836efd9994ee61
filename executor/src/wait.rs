//! The one wait under every blocking call.
//!
//! Whatever blocks in this crate (a join, a latch, a semaphore, a sleep, a wait for termination) blocks in [`wait`],
//! so all of it can be cancelled, can have a deadline, and behaves alike at the edges. (There is one exception: a thread
//! that waits for a channel sleeps in crossbeam's `select`. See the module `channel`.)
//!
//! # How a wait works
//!
//! A thread waits on a *parker* of its own, not on a condition variable of the thing it waits for. It leaves a [`Waker`] to
//! its parker in two places: with the thing, and with the current [`CancelToken`]. Then it parks; whoever comes first
//! wakes it, and it looks again. An asynchronous task leaves its waker in the same place as a thread does, which is how
//! a handle can be joined and awaited by the same code.
//!
//! ```text
//!   thing.finish()  ──wake──▶ ┌────────┐
//!   token.cancel()  ──wake──▶ │ parker │ ◀──park── waiting thread ──▶ look again
//!   deadline        ────────▶ └────────┘
//! ```
//!
//! # Invariants
//!
//! 1. *Look, leave the waker, and only then park*: the thing's lock makes the first two one step, and a parker remembers
//!    a wake-up that comes before the park. So no wake-up is lost.
//! 2. A wake-up is only a hint. The waiter looks again, and a stray one (a waker left behind by an earlier wait on the
//!    same thread) costs one more look.
//! 3. Ready beats cancelled beats timed out: a wait whose thing is ready says so even if the other two came true.
//! 4. No two waits share a parker at the same time. A user's code that runs inside a wait (the `Drop` of the waker that
//!    ours replaces, a callback that was put off) may wait for something itself; it parks elsewhere, and the wake-ups of
//!    the wait around it are kept.
//! 5. Who waits is known by a [`Ticket`]. Wakers cannot be told apart for certain.
//! 6. A waiter spins for a bounded time and under no lock, and only then sleeps. A thread that wakes it makes a system call
//!    only if it sleeps.
//!
//! # First spin, then sleep
//!
//! To put a thread to sleep and to wake it again takes the system some microseconds, on both sides. Many waits are over
//! sooner: another thread has begun what this one waits for. So a waiter first looks at the parker's signal for some
//! hundred pauses of the processor. How many depends on the thread's waits of late ([`Patience`]): spinning that was in
//! vain makes the next spin shorter, down to almost none, and spinning that has paid makes it longer. A long wait
//! therefore costs a few microseconds of processor time more than sleeping at once would, and never more than that.
//!
//! | | |
//! |---|---|
//! | one processor for this process | no spinning: the other thread cannot run meanwhile |
//! | the wait is cancelled | its token wakes the parker, so the spinning ends at once |
//! | the deadline has passed | seen before the first pause, and after each 32 |
//! | a wait that is long by its nature, such as a sleep | no spinning: [`wait_long`] |
//!
//! Whether a cancelled task may *begin* a wait whose thing is ready is the caller's choice. Latches, semaphores and
//! sleeps refuse ([`check_current`] first); a join does not, because an outcome that exists should not be hidden.

use std::cell::Cell;
use std::collections::VecDeque;
use std::hint;
use std::task::{Wake, Waker};

use crate::callbacks;
use crate::cancel::{CancelToken, check_current, current_for_wait, interrupted, is_shielded_from};
use crate::error::{Cancelled, WaitError};
use crate::sync::atomic::{AtomicU8, Ordering};
use crate::sync::{Arc, Condvar, Duration, Instant, Mutex, spinning_helps, thread_local};

// ----- parking -----

/// Where one thread waits for one thing. It holds at most one wake-up.
///
/// ```text
///            wake                      wake: and notify the sleeper
///    QUIET ────────▶ WOKEN ◀─────────────────────────────┐
///      │ ▲             │                                 │
///      │ └──used up────┘                                 │
///      └──────────── park, when spinning was in vain ──▶ ASLEEP
/// ```
#[derive(Default)]
struct Parker {
    signal: AtomicU8,
    /// Held by the waiter from the moment in which it says that it sleeps until it does. So a thread that reads
    /// `ASLEEP` and then takes this lock notifies a thread that can be notified.
    falling_asleep: Mutex<()>,
    wake_up: Condvar,
}

/// No wake-up has come. This is the default of an atomic.
const QUIET: u8 = 0;
/// A wake-up has come and was not used up.
const WOKEN: u8 = 1;
/// No wake-up has come, and the waiter has to be notified of one.
const ASLEEP: u8 = 2;

impl Parker {
    /// Waits for a wake-up and uses it up. Returns true if the deadline came first.
    fn park(&self, deadline: Deadline, patience: Option<&mut Patience>) -> bool {
        let woken = patience.is_some_and(|patience| self.spin(deadline, patience));
        let timed_out = !woken && self.sleep(deadline);
        // Acquire: pairs with the Release in `wake_by_ref`, so that the waiter sees what it is woken for.
        self.signal.swap(QUIET, Ordering::Acquire);
        timed_out
    }

    /// Looks at the signal for as long as the thread's patience lasts. True if a wake-up has come.
    fn spin(&self, deadline: Deadline, patience: &mut Patience) -> bool {
        for used in 0..patience.of_this_wait() {
            // Relaxed: who finds a wake-up takes it with Acquire.
            if self.signal.load(Ordering::Relaxed) == WOKEN {
                patience.has_paid(used);
                return true;
            }
            if used % 32 == 0 && deadline.has_passed() {
                return false;
            }
            hint::spin_loop();
        }
        patience.was_in_vain();
        false
    }

    /// Sleeps until a wake-up comes. True if the deadline came first.
    fn sleep(&self, deadline: Deadline) -> bool {
        let mut falling_asleep = self.falling_asleep.lock();
        let mut timed_out = false;
        // One step, so that a wake-up that came meanwhile is not overwritten.
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
        // Release: pairs with the Acquire in `park`.
        if self.signal.swap(WOKEN, Ordering::Release) == ASLEEP {
            drop(self.falling_asleep.lock());
            self.wake_up.notify_one();
        }
    }
}

/// How many pauses a thread spins before it sleeps: as many as its waits of late have made worth while.
struct Patience {
    pauses: u32,
    waits: u32,
}

impl Patience {
    const LEAST: u32 = 8;
    const MOST: u32 = 400;
    /// One wait of so many spins for long in any case. Otherwise a thread that has lost its patience would never learn that
    /// its waits have become short.
    const PROBE: u32 = 32;

    /// The first wait of a thread spins for long. The later ones know better.
    fn new() -> Self {
        Self { pauses: Self::MOST, waits: 0 }
    }

    fn of_this_wait(&mut self) -> u32 {
        if !spinning_helps() {
            return 0;
        }
        self.waits = self.waits.wrapping_add(1);
        if self.waits.is_multiple_of(Self::PROBE) { Self::MOST } else { self.pauses }
    }

    /// A wake-up has come after so many pauses. One that takes twice as long shall pay, too.
    fn has_paid(&mut self, used: u32) {
        self.pauses = self.pauses.max(2 * used).min(Self::MOST);
    }

    /// Slower than it grows: a spin in vain costs less than a sleep that it would have spared.
    fn was_in_vain(&mut self) {
        self.pauses = (self.pauses - self.pauses / 8).max(Self::LEAST);
    }
}

/// A parker in use.
struct Parking(Option<Place>);

/// What a thread keeps from one wait to the next.
struct Place {
    parker: Arc<Parker>,
    waker: Waker,
    patience: Patience,
}

thread_local! {
    /// It is not here while a wait uses it.
    static PLACE: Cell<Option<Place>> = Cell::new(None);
}

impl Parking {
    /// The thread's place; or a new one if that is in use by a wait around this one, or if the thread's locals are gone.
    fn begin() -> Self {
        let kept = PLACE.try_with(Cell::take).ok().flatten();
        Self(Some(kept.unwrap_or_else(|| {
            let parker = Arc::new(Parker::default());
            let waker = Waker::from(Arc::clone(&parker));
            Place { parker, waker, patience: Patience::new() }
        })))
    }

    fn place(&mut self) -> &mut Place {
        self.0.as_mut().expect("it is given back by drop only")
    }
}

impl Drop for Parking {
    fn drop(&mut self) {
        let _ = PLACE.try_with(|kept| kept.set(self.0.take()));
    }
}

/// The end of a timed wait; none for a wait without one, and none for a time so far away that the clock cannot say it.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    pub(crate) const NEVER: Self = Self(None);

    pub(crate) fn after(timeout: Duration) -> Self {
        Self(Instant::now().checked_add(timeout))
    }

    pub(crate) fn has_passed(self) -> bool {
        self.0.is_some_and(|at| Instant::now() >= at)
    }
}

/// Blocks until `look` gives something. While it gives nothing it must register the waker with the thing it inspects, under
/// that thing's lock. After an error the caller removes the waker again.
pub(crate) fn wait<R>(deadline: Deadline, look: impl FnMut(&Waker) -> Option<R>) -> Result<R, WaitError> {
    wait_as(true, deadline, look)
}

/// Blocks as [`wait`] does, but sleeps at once: for a wait that is not worth spinning.
pub(crate) fn wait_long<R>(
    deadline: Deadline,
    look: impl FnMut(&Waker) -> Option<R>,
) -> Result<R, WaitError> {
    wait_as(false, deadline, look)
}

fn wait_as<R>(
    spins: bool,
    deadline: Deadline,
    mut look: impl FnMut(&Waker) -> Option<R>,
) -> Result<R, WaitError> {
    let mut parking = Parking::begin();
    let Place { parker, waker, patience } = parking.place();
    if let Some(found) = look(waker) {
        return Ok(found);
    }
    callbacks::call_those_put_off(); // one of them may bring about what this waits for
    let token = current_for_wait();
    let registration = token.as_ref().map(|token| token.wake_on_cancel(waker));
    if matches!(registration, Some(None)) {
        waker.wake_by_ref(); // it is cancelled already
    }
    loop {
        let timed_out = parker.park(deadline, spins.then_some(&mut *patience));
        if let Some(found) = look(waker) {
            return Ok(found);
        }
        if token.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Err(WaitError::Interrupted);
        }
        if timed_out {
            return Err(WaitError::TimedOut);
        }
    }
}

/// The same without a deadline, so with one error fewer.
pub(crate) fn wait_untimed<R>(look: impl FnMut(&Waker) -> Option<R>) -> Result<R, Cancelled> {
    wait(Deadline::NEVER, look).map_err(|_| interrupted())
}

impl CancelToken {
    /// Sleeps for `duration`, or until this token or the thread's current one is cancelled. Inside
    /// [`masked`](crate::masked) the current one is ignored, also if it is this one.
    ///
    /// # Errors
    /// [`struct@Cancelled`] if the sleep was cut short, or not begun because the request was there already.
    ///
    /// ```
    /// use std::time::Duration;
    /// let token = executor::CancelToken::new();
    /// assert!(token.sleep(Duration::from_millis(1)).is_ok());
    /// token.cancel();
    /// assert!(token.sleep(Duration::from_secs(3600)).is_err());
    /// ```
    pub fn sleep(&self, duration: Duration) -> Result<(), Cancelled> {
        check_current()?;
        let deadline = Deadline::after(duration);
        let obeys_this = !is_shielded_from(self);
        let mut registration = None;
        let slept = wait_long(deadline, |waker| {
            if obeys_this && self.is_cancelled() {
                return Some(());
            }
            if obeys_this && registration.is_none() {
                registration = self.wake_on_cancel(waker);
                if registration.is_none() {
                    return Some(());
                }
            }
            None
        });
        match slept {
            Err(WaitError::TimedOut) => Ok(()),
            Ok(()) => Err(self.cancelled()),
            Err(WaitError::Interrupted) => Err(interrupted()),
        }
    }
}

// ----- those who wait -----

/// Those who wait for one thing, in the order in which they came.
pub(crate) struct Line<W = Waker> {
    waiting: VecDeque<(Ticket, W)>,
    tickets: u64,
}

/// Tells those in a [`Line`] apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl<W> Line<W> {
    pub(crate) fn new() -> Self {
        Self { waiting: VecDeque::new(), tickets: 0 }
    }

    /// Puts a waiter at the end of the line.
    pub(crate) fn join(&mut self, waiter: W) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.waiting.push_back((ticket, waiter));
        ticket
    }

    /// Takes a waiter out, if it is still there.
    pub(crate) fn leave(&mut self, ticket: Ticket) {
        self.waiting.retain(|(other, _)| *other != ticket);
    }

    pub(crate) fn first(&self) -> Option<&(Ticket, W)> {
        self.waiting.front()
    }

    pub(crate) fn take_first(&mut self) -> Option<W> {
        self.waiting.pop_front().map(|(_, waiter)| waiter)
    }

    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = W> + use<W> {
        std::mem::take(&mut self.waiting).into_iter().map(|(_, waiter)| waiter)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    #[test]
    fn patience_stays_within_its_bounds_shrinks_when_it_is_in_vain_and_grows_when_it_pays() {
        let mut patience = Patience::new();
        assert_eq!(patience.pauses, Patience::MOST);
        for _ in 0..100 {
            let before = patience.pauses;
            patience.was_in_vain();
            assert!(patience.pauses < before || patience.pauses == Patience::LEAST);
        }
        assert_eq!(patience.pauses, Patience::LEAST);
        patience.has_paid(3);
        assert_eq!(patience.pauses, Patience::LEAST, "it has paid as it is");
        patience.has_paid(100);
        assert_eq!(patience.pauses, 200);
        patience.has_paid(300);
        assert_eq!(patience.pauses, Patience::MOST);
    }

    #[test]
    fn a_thread_without_patience_tries_a_long_spin_now_and_then() {
        let mut patience = Patience { pauses: Patience::LEAST, waits: 0 };
        let spins: Vec<_> = (0..2 * Patience::PROBE).map(|_| patience.of_this_wait()).collect();
        let long = spins.iter().filter(|&&spin| spin == Patience::MOST).count();
        let short = spins.iter().filter(|&&spin| spin == Patience::LEAST).count();
        let expected = if spinning_helps() { (2, spins.len() - 2) } else { (0, 0) };
        assert_eq!((long, short), expected);
    }

    #[test]
    fn spinning_ends_at_once_with_a_wake_up_or_a_passed_deadline() {
        let parker = Arc::new(Parker::default());
        let mut patience = Patience::new();
        assert!(!parker.spin(Deadline::after(Duration::ZERO), &mut patience));
        // With one processor no spin is tried, and each counts as in vain.
        let is_unharmed = patience.pauses == Patience::MOST || !spinning_helps();
        assert!(is_unharmed, "it has not spun in vain: there was no time to spin");
        parker.wake_by_ref();
        assert_eq!(parker.spin(Deadline::NEVER, &mut patience), spinning_helps());
        assert!(!parker.park(Deadline::NEVER, Some(&mut patience)));
        assert_eq!(parker.signal.load(Ordering::Relaxed), QUIET, "the wake-up is used up");
    }
}
