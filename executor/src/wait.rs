//! The one wait under every blocking call.
//!
//! Whatever blocks in this crate (a join, a latch, a semaphore, a sleep, a wait for termination) blocks in [`wait`],
//! so all of it can be cancelled, can have a deadline, and behaves alike at the edges.
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
//!
//! Whether a cancelled task may *begin* a wait whose thing is ready is the caller's choice. Latches, semaphores and
//! sleeps refuse ([`check_current`] first); a join does not, because an outcome that exists should not be hidden.

use std::cell::Cell;
use std::collections::VecDeque;
use std::task::{Wake, Waker};

use crate::callbacks;
use crate::cancel::{CancelToken, check_current, current_for_wait, is_shielded_from};
use crate::error::{Cancelled, WaitError};
use crate::sync::{Arc, Condvar, Duration, Instant, Mutex, thread_local};

// ----- parking -----

/// Where one thread waits for one thing. It holds at most one wake-up.
#[derive(Default)]
struct Parker {
    woken: Mutex<bool>,
    wake_up: Condvar,
}

impl Parker {
    /// Waits for a wake-up and uses it up. Returns true if the deadline came first.
    fn park(&self, deadline: Deadline) -> bool {
        let mut woken = self.woken.lock();
        let mut timed_out = false;
        while !*woken && !timed_out {
            (woken, timed_out) = match deadline.0 {
                None => (self.wake_up.wait(woken), false),
                Some(at) => self.wake_up.wait_until(woken, &self.woken, at),
            };
        }
        *woken = false;
        timed_out
    }
}

impl Wake for Parker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        *self.woken.lock() = true;
        self.wake_up.notify_one();
    }
}

/// A parker in use, and a waker to it.
struct Parking(Option<(Arc<Parker>, Waker)>);

thread_local! {
    /// Kept from one wait of the thread to the next. It is not here while a wait uses it.
    static PARKER: Cell<Option<(Arc<Parker>, Waker)>> = Cell::new(None);
}

impl Parking {
    /// The thread's parker; or a new one if that is in use by a wait around this one, or if the thread's locals are gone.
    fn begin() -> Self {
        let kept = PARKER.try_with(Cell::take).ok().flatten();
        Self(Some(kept.unwrap_or_else(|| {
            let parker = Arc::new(Parker::default());
            let waker = Waker::from(Arc::clone(&parker));
            (parker, waker)
        })))
    }

    fn get(&self) -> &(Arc<Parker>, Waker) {
        self.0.as_ref().expect("it is given back by drop only")
    }
}

impl Drop for Parking {
    fn drop(&mut self) {
        let _ = PARKER.try_with(|kept| kept.set(self.0.take()));
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
pub(crate) fn wait<R>(deadline: Deadline, mut look: impl FnMut(&Waker) -> Option<R>) -> Result<R, WaitError> {
    let parking = Parking::begin();
    let (parker, waker) = parking.get();
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
        let timed_out = parker.park(deadline);
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
    wait(Deadline::NEVER, look).map_err(|_| Cancelled)
}

impl CancelToken {
    /// Sleeps for `duration`, or until this token or the thread's current one is cancelled. Inside
    /// [`masked`](crate::masked) the current one is ignored, also if it is this one.
    ///
    /// # Errors
    /// [`Cancelled`] if the sleep was cut short, or not begun because the request was there already.
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
        let slept = wait(deadline, |waker| {
            if obeys_this && self.is_cancelled() {
                return Some(Cancelled);
            }
            if obeys_this && registration.is_none() {
                registration = self.wake_on_cancel(waker);
                if registration.is_none() {
                    return Some(Cancelled);
                }
            }
            None
        });
        match slept {
            Err(WaitError::TimedOut) => Ok(()),
            Ok(Cancelled) | Err(WaitError::Interrupted) => Err(Cancelled),
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
