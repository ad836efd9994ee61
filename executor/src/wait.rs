//! The one wait under every blocking call, and the two synchronisers built on it.
//!
//! Whatever blocks in this crate (a join, a latch, a semaphore, a sleep, a wait for termination) blocks in [`wait`],
//! so all of it can be cancelled, can have a deadline, and behaves alike at the edges.
//!
//! # How a wait works
//!
//! A thread waits on a *parker* of its own, not on a condition variable of the thing it waits for. It leaves a [`Waker`] to
//! its parker in two places: with the thing, and with the current [`CancelToken`]. Then it parks; the first of the two
//! to be ready wakes it, and it looks again. An asynchronous task leaves its waker in the same place as a thread does,
//! which is how a handle can be joined and awaited by the same code.
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
//! 5. A waiter is known by its [`Ticket`]. Wakers cannot be told apart for certain.
//!
//! Whether a cancelled task may *begin* a wait whose thing is ready is the caller's choice. Latches, semaphores and
//! sleeps refuse ([`check_current`] first); a join does not, because an outcome that exists should not be hidden.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
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
            return Err(WaitError::Cancelled);
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
            Ok(Cancelled) | Err(WaitError::Cancelled) => Err(Cancelled),
        }
    }
}

// ----- waiters -----

/// The waiters for one thing, in the order in which they came.
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

// ----- latch -----

/// A gate that opens when it was counted down to zero, and stays open.
///
/// For "all of these have happened": a number of tasks have ended, a service is ready. Any number of threads may wait.
///
/// ```
/// use std::sync::Arc;
/// use executor::Latch;
///
/// let done = Arc::new(Latch::new(2));
/// for _ in 0..2 {
///     let done = Arc::clone(&done);
///     std::thread::spawn(move || done.count_down());
/// }
/// done.wait()?;
/// # Ok::<(), executor::Cancelled>(())
/// ```
///
/// What a thread did before it counted down is visible to every thread that has waited.
#[doc(alias = "CountDownLatch")]
pub struct Latch {
    state: Mutex<LatchState>,
}

struct LatchState {
    count: usize,
    waiters: Line,
}

impl Latch {
    /// Makes a latch that opens after `count` calls of [`count_down`](Self::count_down); one with zero is open.
    pub fn new(count: usize) -> Self {
        Self { state: Mutex::new(LatchState { count, waiters: Line::new() }) }
    }

    /// Counts down by one and, at zero, lets every waiter go. At zero it does nothing.
    pub fn count_down(&self) {
        let mut state = self.state.lock();
        state.count = state.count.saturating_sub(1);
        if state.count > 0 {
            return;
        }
        let waiters = state.waiters.take_all();
        drop(state);
        waiters.for_each(Waker::wake);
    }

    /// How many calls of [`count_down`](Self::count_down) are missing.
    pub fn count(&self) -> usize {
        self.state.lock().count
    }

    /// How many threads wait for it now.
    pub fn waiting(&self) -> usize {
        self.state.lock().waiters.len()
    }

    /// Waits until the latch is open.
    ///
    /// # Errors
    /// [`Cancelled`] if the calling task was cancelled, before or during the wait.
    pub fn wait(&self) -> Result<(), Cancelled> {
        check_current()?;
        self.wait_until(Deadline::NEVER).map_err(|_| Cancelled)
    }

    /// Waits until the latch is open, for `timeout` at most.
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] if it is still closed then, [`WaitError::Cancelled`] as for [`wait`](Self::wait).
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), WaitError> {
        check_current()?;
        self.wait_until(Deadline::after(timeout))
    }

    fn wait_until(&self, deadline: Deadline) -> Result<(), WaitError> {
        let mut me = None; // set while this thread is in the line
        let result = wait(deadline, |waker| {
            let mut state = self.state.lock();
            if state.count == 0 {
                return Some(());
            }
            me.get_or_insert_with(|| state.waiters.join(waker.clone()));
            None
        });
        if let (Err(_), Some(me)) = (&result, me) {
            self.state.lock().waiters.leave(me);
        }
        result
    }
}

impl fmt::Debug for Latch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("Latch").field("count", &state.count).field("waiting", &state.waiters.len()).finish()
    }
}

// ----- semaphore -----

/// A number of permits; a thread that wants one waits until there is one.
///
/// Bounds how much of something is in use at once. [`acquire`](Self::acquire) serves waiters in the order in which they
/// came, so a waiter for many is not overtaken for ever by waiters for few; [`try_acquire`](Self::try_acquire) does
/// not queue and may overtake.
///
/// ```
/// use executor::Semaphore;
///
/// let connections = Semaphore::new(2);
/// let first = connections.acquire()?;
/// let _second = connections.acquire()?;
/// assert!(connections.try_acquire().is_none());
/// drop(first);
/// assert!(connections.try_acquire().is_some());
/// # Ok::<(), executor::Cancelled>(())
/// ```
///
/// What a thread did before it gave a permit back is visible to the thread that gets it next.
pub struct Semaphore {
    state: Mutex<SemaphoreState>,
}

struct SemaphoreState {
    permits: usize,
    queue: Line<(usize, Waker)>, // how many permits each of them wants
}

impl Semaphore {
    /// Makes a semaphore with `permits` permits, which may be none.
    pub fn new(permits: usize) -> Self {
        Self { state: Mutex::new(SemaphoreState { permits, queue: Line::new() }) }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// [`Cancelled`] if the calling task was cancelled, before or during the wait. Then it has taken nothing.
    pub fn acquire(&self) -> Result<Permit<'_>, Cancelled> {
        self.acquire_many(1)
    }

    /// Waits until `permits` are free at once and takes them together.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    pub fn acquire_many(&self, permits: usize) -> Result<Permit<'_>, Cancelled> {
        check_current()?;
        self.acquire_until(permits, Deadline::NEVER).map_err(|_| Cancelled)
    }

    /// Waits for a permit, for `timeout` at most.
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] if none came, [`WaitError::Cancelled`] as for [`acquire`](Self::acquire).
    pub fn acquire_timeout(&self, timeout: Duration) -> Result<Permit<'_>, WaitError> {
        self.acquire_many_timeout(1, timeout)
    }

    /// Waits until `permits` are free at once, for `timeout` at most.
    ///
    /// # Errors
    /// As [`acquire_timeout`](Self::acquire_timeout).
    pub fn acquire_many_timeout(&self, permits: usize, timeout: Duration) -> Result<Permit<'_>, WaitError> {
        check_current()?;
        self.acquire_until(permits, Deadline::after(timeout))
    }

    /// Takes a permit if one is free now, even if others wait for one. Never blocks.
    pub fn try_acquire(&self) -> Option<Permit<'_>> {
        self.try_acquire_many(1)
    }

    /// Takes `permits` if they are free now, even if others wait. Never blocks.
    pub fn try_acquire_many(&self, permits: usize) -> Option<Permit<'_>> {
        let mut state = self.state.lock();
        state.permits = state.permits.checked_sub(permits)?;
        Some(Permit { semaphore: self, permits })
    }

    /// Adds permits: new ones, or those of a [`Permit`] that was [forgotten](Permit::forget).
    ///
    /// # Panics
    /// If the number of permits passes `usize::MAX`.
    pub fn release(&self, permits: usize) {
        let mut state = self.state.lock();
        state.permits = state.permits.checked_add(permits).expect("more permits than a usize counts");
        state.wake_first();
    }

    /// How many permits are free now.
    pub fn available_permits(&self) -> usize {
        self.state.lock().permits
    }

    /// Takes all the permits that are free now and returns how many. [`release`](Self::release) gives
    /// them back.
    #[doc(alias = "drainPermits")]
    pub fn drain(&self) -> usize {
        std::mem::take(&mut self.state.lock().permits)
    }

    /// How many threads wait for permits now.
    #[doc(alias = "getQueueLength")]
    pub fn waiting(&self) -> usize {
        self.state.lock().queue.len()
    }

    fn acquire_until(&self, permits: usize, deadline: Deadline) -> Result<Permit<'_>, WaitError> {
        let mut me: Option<Ticket> = None; // set while this thread is in the queue
        let result = wait(deadline, |waker| {
            let mut state = self.state.lock();
            let first = match me {
                None => state.queue.is_empty(),
                Some(me) => state.queue.first().is_some_and(|(first, _)| *first == me),
            };
            if first && state.permits >= permits {
                state.permits -= permits;
                if me.take().is_some() {
                    state.queue.take_first();
                    state.wake_first(); // there may be enough for the next one, too
                }
                return Some(Permit { semaphore: self, permits });
            }
            me.get_or_insert_with(|| state.queue.join((permits, waker.clone())));
            None
        });
        if let Some(me) = me {
            let mut state = self.state.lock();
            state.queue.leave(me);
            state.wake_first(); // it may have stood in the way of the next one
        }
        result
    }
}

impl SemaphoreState {
    /// Wakes the first waiter if there is enough for it. It stays in the queue until it has taken its permits. Waking a
    /// parker under our lock is fine: it takes no lock but its own.
    fn wake_first(&self) {
        if let Some((_, (wanted, waker))) = self.queue.first()
            && *wanted <= self.permits
        {
            waker.wake_by_ref();
        }
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("Semaphore")
            .field("permits", &state.permits)
            .field("waiting", &state.queue.len())
            .finish()
    }
}

/// Permits taken from a [`Semaphore`]; dropping it gives them back.
#[must_use = "dropping it gives the permit back at once"]
#[derive(Debug)]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
}

impl Permit<'_> {
    /// Keeps the permits taken without this guard, to be given back with [`Semaphore::release`] from elsewhere.
    /// Returns how many there are.
    #[expect(clippy::must_use_candidate, reason = "whoever took one permit knows the number")]
    pub fn forget(mut self) -> usize {
        std::mem::take(&mut self.permits)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.permits > 0 {
            self.semaphore.release(self.permits);
        }
    }
}
