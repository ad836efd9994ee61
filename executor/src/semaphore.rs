//! A number of permits that bounds how much of something is in use at once.
//!
//! # Invariants
//!
//! 1. Waiters are served in the order in which they came: of those in the line only the first takes permits, and it stays
//!    there until it has them or gives up.
//! 2. Whoever makes it possible that the first waiter can be served wakes it: a release, the waiter before it when it is
//!    served, and one that gives up its place.

use std::fmt;
use std::task::Waker;

use crate::cancel::{check_current, interrupted};
use crate::error::{Cancelled, WaitError};
use crate::sync::{Duration, Mutex};
use crate::wait::{Deadline, Line, Ticket, wait};

/// A number of permits; whoever wants one waits until there is one.
///
/// Bounds how much of something is in use at once. [`acquire`](Self::acquire) serves waiters in the order in which they
/// came, so one who wants many is not overtaken for ever by those who want few; [`try_acquire`](Self::try_acquire) does
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
/// What a thread did before it gave a permit back is visible to whoever gets it next.
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
    /// [`struct@Cancelled`] if the calling task was cancelled, before or during the wait. Then it has taken nothing.
    pub fn acquire(&self) -> Result<Permit<'_>, Cancelled> {
        self.acquire_many(1)
    }

    /// Waits until `permits` are free at once and takes them together.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    pub fn acquire_many(&self, permits: usize) -> Result<Permit<'_>, Cancelled> {
        check_current()?;
        self.acquire_until(permits, Deadline::NEVER).map_err(|_| interrupted())
    }

    /// Waits for a permit, for `timeout` at most.
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] if none came, [`WaitError::Interrupted`] as for [`acquire`](Self::acquire).
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

    /// Takes all the permits that are free now and returns how many; whoever wants to give them back has
    /// [`release`](Self::release).
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
