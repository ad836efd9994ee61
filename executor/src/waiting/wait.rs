//! The function `wait`, in which every blocking call waits.
//!
//! Every blocking call of this crate (a join, a latch, a semaphore, a sleep, a wait for termination) blocks
//! in [`wait`]. So each of these calls can be cancelled and can have a deadline, and all follow the same
//! rules. (There is one exception: a thread that waits for a channel sleeps in crossbeam's `select`. See the
//! module `channel`.)
//!
//! # How a wait works
//!
//! Each thread sleeps in a *parker* of its own, not on a condition variable of the awaited thing. Before a
//! thread sleeps, it registers a [`Waker`] of its parker in two places: with the awaited thing, and with the
//! current [`CancelToken`]. Then the thread parks. The first wake-up ends the sleep, and the thread checks
//! the awaited thing again. An asynchronous task registers its own waker instead of a parker's waker. So the
//! same code serves a join and an `await` of a handle.
//!
//! ```text
//!   thing.finish()  ──wake──▶ ┌────────┐
//!   token.cancel()  ──wake──▶ │ parker │ ◀──park── waiting thread ──▶ look again
//!   deadline        ────────▶ └────────┘
//! ```
//!
//! # Invariants
//!
//! 1. *Look, register the waker, and only then park.* The first two steps are made under one lock, the lock
//!    of the awaited thing. The parker remembers a wake-up that comes before the thread parks. So no wake-up
//!    is lost.
//! 2. A wake-up is only a hint: the waiter checks the awaited thing again. A stray wake-up (from a waker that
//!    an earlier wait on the same thread left behind) costs one more check.
//! 3. A ready result has priority over a cancellation, and a cancellation has priority over a timeout. If the
//!    awaited thing is ready, the wait succeeds, even if the token is cancelled or the deadline has passed.
//! 4. No two waits share a parker at the same time. User code can run inside a wait, for example a deferred
//!    callback, or the `Drop` of a waker that the library's waker replaces. If this user code waits, too, the
//!    inner wait uses another parker. So the wake-ups of the outer wait are kept.
//! 5. A thread of an executor does not sleep if the detector finds that the wait can never end: see
//!    `awaited`.
//! 6. A waiter is identified by a [`Ticket`], because a comparison of two wakers is not reliable.
//!
//! The callers of [`wait`] decide whether a cancelled task still gets a thing that is ready. Latches,
//! semaphores and sleeps do not give the thing to a cancelled task: they call [`check_current`] first. A join
//! returns the outcome, because an outcome that exists should not be hidden.

use std::cell::Cell;
use std::collections::VecDeque;
use std::task::Waker;

use super::awaited::{Awaited, DETECTOR, Relief};
use super::error::{CutShort, WaitError};
pub(crate) use super::parker::Deadline;
use super::parker::{self, AdaptiveSpin, Parker};
use super::worker_context::{concerns_this_thread, helper};
use crate::cancel::callbacks;
use crate::cancel::cancelled::Cancelled;
use crate::cancel::{CancelToken, check_current, current_for_wait, interrupted, is_shielded_from};
use crate::sync::{Arc, Duration, thread_local};

/// The parker, waker and spin budget that a thread keeps from one wait to the next.
struct KeptParker {
    parker: Arc<Parker>,
    waker: Waker,
    spin_budget: AdaptiveSpin,
}

thread_local! {
    /// `None` before the first wait, and while a wait uses the kept parker.
    static KEPT: Cell<Option<KeptParker>> = Cell::new(None);
}

impl KeptParker {
    /// Takes the kept parker of the thread. Makes a new parker at the first wait, inside another wait, and if
    /// the thread-local values are gone.
    fn take() -> Self {
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        kept.unwrap_or_else(|| {
            let parker = Arc::new(Parker::default());
            let waker = parker::waker_of(&parker);
            Self { parker, waker, spin_budget: AdaptiveSpin::new() }
        })
    }
}

/// The thing that a thread waits for, as seen by that thread.
pub(crate) trait Look {
    type Found;

    /// Checks whether the thing has come. If the thing has not come, the implementation must register the
    /// waker with the thing and return `None`. The check and the registration must happen under the lock of
    /// the thing. If the wait ends with an error, the caller of the wait removes the waker again.
    fn look(&mut self, waker: &Waker) -> Option<Self::Found>;

    /// Returns the thing for which the thread waits, if the wait may never end. See the module `awaited`.
    fn what(&self) -> Option<Awaited> {
        None
    }
}

impl<R, F: FnMut(&Waker) -> Option<R>> Look for F {
    type Found = R;

    fn look(&mut self, waker: &Waker) -> Option<R> {
        self(waker)
    }
}

/// The first closure checks for the awaited thing, and the second closure tells the detector what the wait is
/// for.
impl<R, L: FnMut(&Waker) -> Option<R>, W: Fn() -> Option<Awaited>> Look for (L, W) {
    type Found = R;

    fn look(&mut self, waker: &Waker) -> Option<R> {
        (self.0)(waker)
    }

    fn what(&self) -> Option<Awaited> {
        (self.1)()
    }
}

/// Blocks until `look` finds the awaited thing. The detector can check this wait.
pub(crate) fn wait_for<L: Look>(deadline: Deadline, look: L) -> Result<L::Found, WaitError> {
    wait_as(true, deadline, look)
}

/// Blocks as [`wait_for`] does, but makes nothing ready for a wait before the first look. Use `look_and_wait`
/// for waits that are rare. Each look must undo the registration of the previous look.
pub(crate) fn look_and_wait<L: Look>(deadline: Deadline, mut thing: L) -> Result<L::Found, WaitError> {
    match thing.look(Waker::noop()) {
        Some(found) => Ok(found),
        None => wait_for(deadline, thing),
    }
}

/// Blocks until `look` finds the awaited thing. The detector does not check this wait.
pub(crate) fn wait<R>(deadline: Deadline, look: impl FnMut(&Waker) -> Option<R>) -> Result<R, WaitError> {
    wait_as(true, deadline, look)
}

/// Blocks as [`wait`] does, but does not spin before it sleeps. Use `wait_long` for waits that are usually
/// long.
pub(crate) fn wait_long<R>(
    deadline: Deadline,
    look: impl FnMut(&Waker) -> Option<R>,
) -> Result<R, WaitError> {
    wait_as(false, deadline, look)
}

fn wait_as<L: Look>(spins: bool, deadline: Deadline, thing: L) -> Result<L::Found, WaitError> {
    let mut parker = KeptParker::take();
    let result = wait_at(&mut parker, spins, deadline, thing);
    let _ = KEPT.try_with(|kept| kept.set(Some(parker)));
    result
}

fn wait_at<L: Look>(
    KeptParker { parker, waker, spin_budget }: &mut KeptParker,
    spins: bool,
    deadline: Deadline,
    mut thing: L,
) -> Result<L::Found, WaitError> {
    if let Some(found) = thing.look(waker) {
        return Ok(found);
    }
    callbacks::about_to_block();
    let token = current_for_wait();
    let registration = token.as_ref().map(|token| token.wake_on_cancel(waker));
    if matches!(registration, Some(None)) {
        waker.wake_by_ref(); // the token is cancelled already
    }
    let mut relief = Relief::default();
    loop {
        let woken = help(&thing, waker) || spins && parker.spin(deadline, spin_budget);
        let timed_out = !woken && sleep(deadline, token.as_ref(), parker, &thing, &mut relief)?;
        parker.use_up();
        if let Some(found) = thing.look(waker) {
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

/// Lets the worker on this thread work towards the awaited thing, if the worker helps. Returns true if the
/// worker has done some work.
fn help(thing: &impl Look, waker: &Waker) -> bool {
    helper().is_some_and(|helper| thing.what().is_some_and(|what| helper.help(&what, waker)))
}

/// Sleeps until a wake-up or the deadline comes. Returns true if the deadline came first. Fails if the wait
/// can never end. A wait with a deadline, or under a token with a deadline, is not checked by the detector.
fn sleep(
    deadline: Deadline,
    token: Option<&CancelToken>,
    parker: &Arc<Parker>,
    thing: &impl Look,
    relief: &mut Relief,
) -> Result<bool, WaitError> {
    if deadline.is_never()
        && concerns_this_thread()
        && !token.is_some_and(CancelToken::has_deadline)
        && let Some(detector) = DETECTOR.get()
        && let Some(what) = thing.what()
    {
        detector(what, parker, relief).map_err(WaitError::Starved)?;
        return Ok(false);
    }
    Ok(parker.sleep(deadline))
}

/// Turns the error of a wait without a deadline into the error that the caller gets.
#[cold]
pub(crate) fn cut_short(why: WaitError) -> CutShort {
    match why {
        WaitError::Starved(starvation) => CutShort::Starved(starvation),
        _ => CutShort::Interrupted(interrupted()),
    }
}

impl CancelToken {
    /// Sleeps for `duration`, or until this token or the thread's current token is cancelled. Inside
    /// [`masked`](crate::masked) the sleep ignores the current token, even if `self` is that token.
    ///
    /// # Errors
    /// [`struct@Cancelled`] if the sleep was cut short, or was not begun because a token had already been
    /// cancelled.
    ///
    /// ```
    /// use std::time::Duration;
    /// let token = executor::CancelToken::new();
    /// assert!(token.sleep(Duration::from_millis(1)).is_ok());
    /// token.cancel();
    /// assert!(token.sleep(Duration::from_secs(3600)).is_err());
    /// ```
    ///
    /// # Blocking
    /// Blocks for `duration` at most. A worker that sleeps here runs no other task meanwhile.
    #[doc(alias = "Thread.sleep")]
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
            Err(_) => Err(interrupted()),
        }
    }
}

// ----- waiters -----

/// The waiters for one thing, in the order of their arrival.
pub(crate) struct WaitList<W = Waker> {
    waiting: VecDeque<(Ticket, W)>,
    tickets: u64,
}

/// Identifies one waiter in a [`WaitList`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

impl<W> WaitList<W> {
    pub(crate) fn new() -> Self {
        Self { waiting: VecDeque::new(), tickets: 0 }
    }

    /// Puts a waiter at the end of the wait list.
    pub(crate) fn join(&mut self, waiter: W) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.waiting.push_back((ticket, waiter));
        ticket
    }

    /// Takes a waiter out of the wait list, if the waiter is still in the list.
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

    pub(crate) fn iter(&self) -> impl Iterator<Item = &W> {
        self.waiting.iter().map(|(_, waiter)| waiter)
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}
