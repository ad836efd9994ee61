//! Semaphores: the permits of a semaphore limit how much of a resource is in use at the same time.
//!
//! # Invariants
//!
//! 1. Waiters are served in the order of their arrival. Only the first waiter in the wait list takes permits,
//!    and this waiter stays first until it has its permits or gives up. A newcomer goes to the end of the
//!    wait list unless the list is empty. At an *unfair* semaphore, a newcomer first tries to take its
//!    permits at once.
//! 2. Each permit is in one of five states: *free*; *held* by a thread of an executor; *outside*, held by
//!    another thread or by an unknown holder; *with a task*; or *loose*, which means forgotten or drained. If
//!    a thread of an executor waits for permits that only waiting threads can give back, the wait ends with
//!    an error: see `wait_graph`.
//! 3. Three events can make it possible to serve the first waiter: permits are released, the previous first
//!    waiter gets its permits, or a waiter gives up its place. The thread that causes the event wakes the
//!    first waiter.
//! 4. After a release, or after a waiter has given up its place, there may still be too few permits for the
//!    first waiter. If the search of `wait_graph` has asked where permits could come from, the answer is then
//!    out of date, so all waiters are woken and check their waits again. If there are enough permits, the
//!    first waiter is awake, and the other waiters wait for that waiter.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::task::{Poll, Waker};

use super::awaited::{Awaited, ComesFrom, Source};
use super::error::{CutShort, WaitError};
use super::wait::{Deadline, Ticket, WaitList, cut_short, wait_for};
use super::worker_context::concerns_this_thread;
use crate::cancel::check_current;
use crate::ids::{Location, QueueId, ThreadKey, this_thread};
use crate::sync::{Arc, Duration, Mutex};
use crate::task::observer::TaskObserver;
use crate::task::outcome::Outcome;

/// A semaphore, which limits how much of a resource is in use at the same time. A semaphore has a number of
/// permits, and a thread waits until it gets a permit.
///
/// [`acquire`](Self::acquire) serves waiters in the order of their arrival. So a waiter that wants many
/// permits is not overtaken again and again by waiters that want few permits.
/// [`try_acquire`](Self::try_acquire) does not join the wait list and can overtake waiters. At an
/// [`unfair`](Self::unfair) semaphore, newcomers can overtake waiters, too.
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
/// Everything that a thread did before it gave a permit back is visible to the thread that gets this
/// permit next.
pub struct Semaphore(Arc<Mutex<SemaphoreState>>);

struct SemaphoreState {
    permits: usize,
    is_fair: bool,
    queue: WaitList<Waiter>,
    /// For each [`Permit`] that a thread of an executor holds: the thread and the number of permits.
    held: Vec<(ThreadKey, usize)>,
    /// For each permit that belongs to a task: the number of the permit, and the place of the task.
    with_tasks: BTreeMap<u64, Location>,
    /// The number of permits that were given to tasks so far.
    given: u64,
    /// The number of permits that other threads hold or that have no known holder.
    outside: usize,
    /// The number of permits that must be removed when they come back: see
    /// [`reduce`](Semaphore::reduce).
    owed: usize,
    /// The number of permits that were forgotten or drained, and were not given back by
    /// [`release`](Semaphore::release) yet.
    loose: usize,
    /// True if the search of `wait_graph` has asked where permits could come from.
    relied_on: bool,
}

struct Waiter {
    wants: usize,
    /// `None` if the thread belongs to no executor.
    thread: Option<ThreadKey>,
    waker: Waker,
}

impl Semaphore {
    /// Makes a semaphore with `permits` permits; zero is allowed.
    ///
    /// ```
    /// assert_eq!(executor::Semaphore::new(2).available_permits(), 2);
    /// ```
    pub fn new(permits: usize) -> Self {
        Self::made(permits, true)
    }

    /// Makes an unfair semaphore: a thread gets free permits at once, even if other threads wait.
    ///
    /// A fair semaphore leaves a permit idle until the thread that waited for it has woken up. An unfair
    /// semaphore gives the permit to the next thread that asks, so more work is done in the same time. But a
    /// waiter can wait for ever if newcomers never stop coming.
    ///
    /// ```
    /// use executor::Semaphore;
    ///
    /// // Parsers share two buffers. Which parser is next does not matter, but no buffer must lie idle.
    /// let buffers = Semaphore::unfair(2);
    /// let buffer = buffers.acquire()?;
    /// assert_eq!(buffers.available_permits(), 1);
    /// # drop(buffer);
    /// # Ok::<(), executor::Cancelled>(())
    /// ```
    pub fn unfair(permits: usize) -> Self {
        Self::made(permits, false)
    }

    fn made(permits: usize, is_fair: bool) -> Self {
        let state = SemaphoreState {
            permits,
            is_fair,
            queue: WaitList::new(),
            held: Vec::new(),
            with_tasks: BTreeMap::new(),
            given: 0,
            outside: 0,
            owed: 0,
            loose: 0,
            relied_on: false,
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Waits for a permit. A wait inside [`masked`](crate::masked) is not cut short by a cancellation.
    ///
    /// ```
    /// let connections = executor::Semaphore::new(1);
    /// let connection = connections.acquire()?;
    /// assert_eq!(connections.available_permits(), 0);
    /// drop(connection);
    /// assert_eq!(connections.available_permits(), 1);
    /// # Ok::<(), executor::CutShort>(())
    /// ```
    ///
    /// # Errors
    /// [`CutShort::Interrupted`] if the calling task was cancelled, before or during the wait.
    /// [`CutShort::Starved`] if all permits that could come back are held by tasks that wait, too. After an
    /// error the caller has taken no permit.
    ///
    /// # Blocking
    /// Blocks until the permit is free, or the calling task is cancelled, or no thread that holds permits can
    /// go on. A worker that waits for a permit sleeps. The worker runs other tasks only to end a deadlock, if
    /// its pool [allows](crate::OnStarvation::HelpOthers) that.
    #[doc(alias = "acquireUninterruptibly")]
    pub fn acquire(&self) -> Result<Permit<'_>, CutShort> {
        self.acquire_many(1)
    }

    /// Waits until this number of permits is free, and takes these permits together.
    ///
    /// ```
    /// let megabytes = executor::Semaphore::new(64);
    /// let upload = megabytes.acquire_many(48)?;
    /// assert_eq!(megabytes.available_permits(), 16);
    /// # drop(upload);
    /// # Ok::<(), executor::CutShort>(())
    /// ```
    ///
    /// # Errors
    /// [`CutShort`] as for [`acquire`](Self::acquire).
    ///
    /// # Blocking
    /// Blocks as [`acquire`](Self::acquire) does.
    pub fn acquire_many(&self, permits: usize) -> Result<Permit<'_>, CutShort> {
        check_current()?;
        self.acquire_until(permits, Deadline::NEVER).map_err(cut_short)
    }

    /// Waits for a permit, for `timeout` at most.
    ///
    /// ```
    /// use executor::{Semaphore, WaitError};
    /// use std::time::Duration;
    ///
    /// let connections = Semaphore::new(1);
    /// let connection = connections.acquire_timeout(Duration::from_millis(1))?;
    /// let refused = connections.acquire_timeout(Duration::from_millis(1));
    /// assert!(matches!(refused, Err(WaitError::TimedOut)));
    /// # drop(connection);
    /// # Ok::<(), WaitError>(())
    /// ```
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] if no permit came in time; [`WaitError::Interrupted`] if the calling task was
    /// cancelled, as for [`acquire`](Self::acquire).
    ///
    /// # Blocking
    /// Blocks as [`acquire`](Self::acquire) does, for `timeout` at most.
    pub fn acquire_timeout(&self, timeout: Duration) -> Result<Permit<'_>, WaitError> {
        self.acquire_many_timeout(1, timeout)
    }

    /// Waits until this number of permits is free, for `timeout` at most, and takes these permits together.
    ///
    /// ```
    /// use executor::Semaphore;
    /// use std::time::Duration;
    ///
    /// let megabytes = Semaphore::new(64);
    /// let upload = megabytes.acquire_many_timeout(48, Duration::from_secs(1))?;
    /// assert!(megabytes.acquire_many_timeout(48, Duration::from_millis(1)).is_err()); // try later
    /// drop(upload);
    /// # Ok::<(), executor::WaitError>(())
    /// ```
    ///
    /// # Errors
    /// [`WaitError`] as for [`acquire_timeout`](Self::acquire_timeout).
    ///
    /// # Blocking
    /// Blocks as [`acquire`](Self::acquire) does, for `timeout` at most.
    pub fn acquire_many_timeout(&self, permits: usize, timeout: Duration) -> Result<Permit<'_>, WaitError> {
        check_current()?;
        self.acquire_until(permits, Deadline::after(timeout))
    }

    /// Takes a permit if one is free now, even if other threads wait. Never blocks.
    ///
    /// ```
    /// let connections = executor::Semaphore::new(1);
    /// let connection = connections.try_acquire();
    /// assert!(connection.is_some());
    /// assert!(connections.try_acquire().is_none());
    /// ```
    #[doc(alias = "tryAcquire")]
    pub fn try_acquire(&self) -> Option<Permit<'_>> {
        self.try_acquire_many(1)
    }

    /// Takes this number of permits if they are free now, even if other threads wait. Never blocks.
    ///
    /// ```
    /// let megabytes = executor::Semaphore::new(64);
    /// assert!(megabytes.try_acquire_many(65).is_none());
    /// let upload = megabytes.try_acquire_many(48);
    /// assert_eq!(megabytes.available_permits(), 16);
    /// # drop(upload);
    /// ```
    pub fn try_acquire_many(&self, permits: usize) -> Option<Permit<'_>> {
        let mut state = self.0.lock();
        state.permits = state.permits.checked_sub(permits)?;
        Some(self.permit(&mut state, permits))
    }

    /// Adds permits: new permits, or the permits of a [`Permit`] that was [forgotten](Permit::forget).
    ///
    /// ```
    /// let semaphore = executor::Semaphore::new(0);
    /// semaphore.release(2);
    /// assert_eq!(semaphore.available_permits(), 2);
    /// ```
    ///
    /// # Panics
    /// Panics if the semaphore would then have more than `usize::MAX` permits.
    pub fn release(&self, permits: usize) {
        let mut state = self.0.lock();
        state.loose = state.loose.saturating_sub(permits);
        state.add(permits);
    }

    /// Removes permits permanently: first permits that are free now, and the rest as soon as they come back.
    /// Never blocks.
    ///
    /// ```
    /// use executor::Semaphore;
    ///
    /// let connections = Semaphore::new(3);
    /// let one = connections.try_acquire();
    /// connections.reduce(3); // the two that are free, and the one that is in use
    /// assert_eq!(connections.available_permits(), 0);
    /// drop(one);
    /// assert_eq!(connections.available_permits(), 0);
    /// connections.release(1);
    /// assert_eq!(connections.available_permits(), 1);
    /// ```
    ///
    /// # Panics
    /// Panics if more than `usize::MAX` permits must be removed when they come back.
    #[doc(alias = "reducePermits")]
    pub fn reduce(&self, permits: usize) {
        let mut state = self.0.lock();
        let at_once = permits.min(state.permits);
        state.owed = state.owed.checked_add(permits - at_once).expect("more permits than a usize counts");
        state.permits -= at_once;
    }

    /// Returns the number of permits that are free now.
    ///
    /// ```
    /// let semaphore = executor::Semaphore::new(2);
    /// let _permit = semaphore.try_acquire();
    /// assert_eq!(semaphore.available_permits(), 1);
    /// ```
    #[doc(alias = "availablePermits")]
    pub fn available_permits(&self) -> usize {
        self.0.lock().permits
    }

    /// Takes all permits that are free now, and returns their number. [`release`](Self::release) gives them
    /// back.
    ///
    /// ```
    /// let semaphore = executor::Semaphore::new(3);
    /// assert_eq!(semaphore.drain(), 3);
    /// assert!(semaphore.try_acquire().is_none());
    /// semaphore.release(3);
    /// assert!(semaphore.try_acquire().is_some());
    /// ```
    #[doc(alias = "drainPermits")]
    pub fn drain(&self) -> usize {
        let mut state = self.0.lock();
        let drained = std::mem::take(&mut state.permits);
        state.loose += drained;
        drained
    }

    /// Returns the number of threads that wait for permits now.
    ///
    /// ```
    /// let semaphore = executor::Semaphore::new(0);
    /// std::thread::scope(|scope| {
    ///     let waiter = scope.spawn(|| semaphore.acquire().is_ok());
    ///     while semaphore.waiting() == 0 {
    ///         std::thread::yield_now();
    ///     }
    ///     semaphore.release(1);
    ///     assert!(waiter.join().unwrap());
    /// });
    /// ```
    #[doc(alias = "getQueueLength")]
    pub fn waiting(&self) -> usize {
        self.0.lock().queue.len()
    }

    fn acquire_until(&self, permits: usize, deadline: Deadline) -> Result<Permit<'_>, WaitError> {
        let permit = self.wait_for_permits(permits, deadline, || false)?;
        Ok(permit.expect("`is_in_vain` is false in this call"))
    }

    /// Waits for a permit. Returns `None` if no permit is free and `is_in_vain` returns true, which means that
    /// the wait is useless. A thread that makes `is_in_vain` true must then call
    /// [`look_again`](Self::look_again).
    pub(crate) fn acquire_unless(
        &self,
        is_in_vain: impl Fn() -> bool,
        deadline: Deadline,
    ) -> Result<Option<Permit<'_>>, WaitError> {
        check_current()?;
        self.wait_for_permits(1, deadline, is_in_vain)
    }

    /// Wakes all waiters, so that they check their waits again.
    pub(crate) fn look_again(&self) {
        self.0.lock().queue.iter().for_each(|waiter| waiter.waker.wake_by_ref());
    }

    /// Returns the number of permits that belong to tasks.
    pub(crate) fn with_tasks(&self) -> usize {
        self.0.lock().with_tasks.len()
    }

    fn wait_for_permits(
        &self,
        permits: usize,
        deadline: Deadline,
        is_in_vain: impl Fn() -> bool,
    ) -> Result<Option<Permit<'_>>, WaitError> {
        let me = Cell::new(None); // set while this thread is in the queue
        let look = |waker: &Waker| match self.take_or_join(permits, &me, waker, &is_in_vain) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        };
        let what = || {
            let wanted = Wanted { semaphore: Arc::clone(&self.0), permits, me: me.get()? };
            Some(Awaited::Other(Arc::new(wanted) as Arc<dyn Source>))
        };
        let result = wait_for(deadline, (look, what));
        if let Some(me) = me.get() {
            let mut state = self.0.lock();
            state.queue.leave(me);
            state.look_again(); // this waiter may have held up the next waiter
        }
        result
    }

    /// Takes the permits. If the thread must wait, it joins the wait list.
    fn take_or_join(
        &self,
        permits: usize,
        me: &Cell<Option<Ticket>>,
        waker: &Waker,
        is_in_vain: impl Fn() -> bool,
    ) -> Poll<Option<Permit<'_>>> {
        let mut state = self.0.lock();
        let first = match me.get() {
            None => state.queue.is_empty() || !state.is_fair,
            Some(me) => state.queue.first().is_some_and(|(first, _)| *first == me),
        };
        if first && state.permits >= permits {
            state.permits -= permits;
            if me.take().is_some() {
                state.queue.take_first();
                state.wake_first(); // perhaps there are enough permits for the next waiter, too
            }
            return Poll::Ready(Some(self.permit(&mut state, permits)));
        }
        if me.get().is_none() {
            let thread = concerns_this_thread().then(this_thread);
            me.set(Some(state.queue.join(Waiter { wants: permits, thread, waker: waker.clone() })));
        }
        drop(state);
        // This thread has joined the wait list before this call of `is_in_vain`. A thread that makes
        // `is_in_vain` true wakes the waiters in the wait list.
        if is_in_vain() { Poll::Ready(None) } else { Poll::Pending }
    }

    /// Records that the calling thread holds these permits from now on.
    fn permit(&self, state: &mut SemaphoreState, permits: usize) -> Permit<'_> {
        let holder = concerns_this_thread().then(this_thread);
        match holder {
            _ if permits == 0 => {}
            Some(thread) => state.held.push((thread, permits)),
            None => state.outside += permits,
        }
        Permit { semaphore: self, permits, holder, on_its_thread: PhantomData }
    }
}

/// The permits that a thread of an executor waits for.
struct Wanted {
    semaphore: Arc<Mutex<SemaphoreState>>,
    permits: usize,
    me: Ticket,
}

impl Source for Wanted {
    fn comes_from(&self) -> ComesFrom {
        let mut state = self.semaphore.lock();
        state.relied_on = true;
        let there = state.permits;
        if there >= self.permits {
            // There are enough permits for this waiter. But the first waiter wants more permits, or it was
            // woken and will take its permits first.
            let first = state.queue.first().filter(|(ticket, _)| *ticket != self.me);
            let before = first.and_then(|(_, waiter)| waiter.thread);
            return before
                .map_or(ComesFrom::Elsewhere, |thread| ComesFrom::Places(vec![Location::On(thread)]));
        }
        let held: usize = state.held.iter().map(|(_, permits)| permits).sum();
        let in_all = there.saturating_add(held).saturating_add(state.with_tasks.len());
        let in_all = in_all.saturating_sub(state.owed);
        if state.outside > 0 || state.loose > 0 || in_all < self.permits {
            return ComesFrom::Elsewhere;
        }
        let threads = state.held.iter().map(|(thread, _)| Location::On(*thread));
        ComesFrom::Places(threads.chain(state.with_tasks.values().copied()).collect())
    }
}

impl SemaphoreState {
    fn add(&mut self, permits: usize) {
        let vanishing = permits.min(self.owed);
        self.owed -= vanishing;
        let added = permits - vanishing;
        self.permits = self.permits.checked_add(added).expect("more permits than a usize counts");
        self.look_again();
    }

    /// Wakes the first waiter if there are enough permits for it. If there are too few permits, and the search
    /// of `wait_graph` has relied on the old state, wakes all waiters.
    fn look_again(&mut self) {
        if !self.wake_first() && std::mem::take(&mut self.relied_on) {
            self.queue.iter().for_each(|waiter| waiter.waker.wake_by_ref());
        }
    }

    /// Records that the holder no longer holds these permits.
    fn let_go(&mut self, holder: Option<ThreadKey>, permits: usize) {
        let Some(holder) = holder else {
            self.outside -= permits;
            return;
        };
        let own = self.held.iter().position(|held| *held == (holder, permits));
        self.held.swap_remove(own.expect("it was noted when they were taken"));
    }

    /// Wakes the first waiter if there are enough permits for it. The waiter stays in the wait list until it
    /// has taken its permits. It is safe to wake a parker under the semaphore's lock: the call takes only the
    /// parker's own lock.
    fn wake_first(&self) -> bool {
        let first = self.queue.first().filter(|(_, first)| first.wants <= self.permits);
        first.inspect(|(_, first)| first.waker.wake_by_ref()).is_some()
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        f.debug_struct("Semaphore")
            .field("permits", &state.permits)
            .field("waiting", &state.queue.len())
            .finish()
    }
}

/// Permits that were taken from a [`Semaphore`]; dropping the `Permit` gives the permits back.
///
/// A `Permit` stays on the thread that took it, like the guard of a lock. So the library knows which task
/// holds which permits, and finds tasks that [wait for each other's permits](crate::Starvation). To give
/// permits back on another thread, or at the end of a task, turn the `Permit` into an
/// [`OwnedPermit`](Self::into_owned).
///
/// ```compile_fail,E0277
/// let semaphore = executor::Semaphore::new(1);
/// let permit = semaphore.acquire().unwrap();
/// std::thread::scope(|scope| {
///     scope.spawn(move || drop(permit));
/// });
/// ```
#[must_use = "dropping it gives the permit back at once"]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
    /// The thread that took the permits, if this thread belongs to an executor.
    holder: Option<ThreadKey>,
    on_its_thread: PhantomData<std::sync::MutexGuard<'static, ()>>,
}

impl Permit<'_> {
    /// Ends this guard without giving the permits back, and returns their number. [`Semaphore::release`] can
    /// give the permits back later, from any thread.
    ///
    /// ```
    /// let semaphore = executor::Semaphore::new(1);
    /// assert_eq!(semaphore.acquire()?.forget(), 1);
    /// assert_eq!(semaphore.available_permits(), 0);
    /// semaphore.release(1);
    /// assert_eq!(semaphore.available_permits(), 1);
    /// # Ok::<(), executor::CutShort>(())
    /// ```
    #[expect(clippy::must_use_candidate, reason = "a caller that took one permit knows the number")]
    pub fn forget(mut self) -> usize {
        let permits = std::mem::take(&mut self.permits);
        if permits > 0 {
            let mut state = self.semaphore.0.lock();
            state.let_go(self.holder, permits);
            state.loose += permits;
        }
        permits
    }
}

/// Permits of a [`Semaphore`] that can move to any thread, for example into a task; dropping the
/// `OwnedPermit` gives the permits back, on any thread.
///
/// ```
/// use executor::{Semaphore, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(4);
/// let downloads = Semaphore::new(2);
/// for _ in 0..10 {
///     let permit = downloads.acquire()?.into_owned();
///     pool.execute(move || {
///         // … download …
///         drop(permit);
///     })?;
/// }
/// pool.close();
/// assert_eq!(downloads.available_permits(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A task that panics, is refused or is dropped also drops its permit. An `OwnedPermit` keeps the semaphore's
/// count of permits alive, but not the `Semaphore` itself.
///
/// The library does not know which task has an `OwnedPermit`. So while an `OwnedPermit` exists, a thread
/// that waits for permits of the same semaphore is never reported as [starving](crate::Starvation). A
/// [`BoundedExecutor`](crate::BoundedExecutor) knows where its permits are.
#[must_use = "dropping it gives the permit back at once"]
pub struct OwnedPermit {
    semaphore: Arc<Mutex<SemaphoreState>>,
    permits: usize,
}

impl Permit<'_> {
    /// Turns this permit into an owned permit, which can move to another thread and does not borrow the
    /// semaphore.
    ///
    /// ```
    /// let semaphore = executor::Semaphore::new(1);
    /// let permit = semaphore.acquire()?.into_owned();
    /// std::thread::spawn(move || drop(permit)).join().unwrap();
    /// assert_eq!(semaphore.available_permits(), 1);
    /// # Ok::<(), executor::CutShort>(())
    /// ```
    pub fn into_owned(mut self) -> OwnedPermit {
        let permits = std::mem::take(&mut self.permits);
        if permits > 0 {
            let mut state = self.semaphore.0.lock();
            state.let_go(self.holder, permits);
            state.outside += permits;
        }
        OwnedPermit { semaphore: Arc::clone(&self.semaphore.0), permits }
    }
}

impl OwnedPermit {
    /// Ends this guard without giving the permits back, as [`Permit::forget`] does.
    ///
    /// ```
    /// let semaphore = executor::Semaphore::new(1);
    /// let permit = semaphore.acquire()?.into_owned();
    /// assert_eq!(permit.forget(), 1);
    /// assert_eq!(semaphore.available_permits(), 0);
    /// # Ok::<(), executor::CutShort>(())
    /// ```
    #[expect(clippy::must_use_candidate, reason = "a caller that took one permit knows the number")]
    pub fn forget(mut self) -> usize {
        let permits = std::mem::take(&mut self.permits);
        let mut state = self.semaphore.lock();
        state.outside -= permits;
        state.loose += permits;
        permits
    }
}

impl Drop for OwnedPermit {
    fn drop(&mut self) {
        if self.permits > 0 {
            let mut state = self.semaphore.lock();
            state.outside -= self.permits;
            state.add(self.permits);
        }
    }
}

impl fmt::Debug for OwnedPermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").field("permits", &self.permits).finish_non_exhaustive()
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.permits > 0 {
            let mut state = self.semaphore.0.lock();
            state.let_go(self.holder, self.permits);
            state.add(self.permits);
        }
    }
}

impl Permit<'_> {
    /// Turns a single permit into the permit of a task. The task's permit is given back when the task has
    /// ended or is dropped.
    pub(crate) fn for_task(mut self) -> TaskPermit {
        debug_assert_eq!(self.permits, 1);
        self.permits = 0;
        let semaphore = Arc::clone(&self.semaphore.0);
        let mut state = semaphore.lock();
        state.let_go(self.holder, 1);
        state.given += 1;
        let number = state.given;
        state.with_tasks.insert(number, Location::Elsewhere);
        drop(state);
        TaskPermit { semaphore, number }
    }
}

/// A permit that belongs to a task, and not to a thread.
pub(crate) struct TaskPermit {
    semaphore: Arc<Mutex<SemaphoreState>>,
    number: u64,
}

impl TaskPermit {
    fn is_at(&self, place: Location) {
        self.semaphore.lock().with_tasks.insert(self.number, place);
    }

    /// Gives the permit back. A second call does nothing.
    fn give_back(&self) {
        let mut state = self.semaphore.lock();
        if state.with_tasks.remove(&self.number).is_some() {
            state.add(1);
        }
    }
}

impl TaskObserver for TaskPermit {
    fn queued(&self, queue: QueueId) {
        self.is_at(Location::In(queue));
    }

    fn dequeued(&self) {
        self.is_at(Location::Elsewhere);
    }

    fn started(&self) {
        self.is_at(Location::On(this_thread()));
    }

    fn finished(&self, _outcome: &Outcome) {
        self.give_back();
    }
}

impl Drop for TaskPermit {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("permits", &self.permits).finish_non_exhaustive()
    }
}
