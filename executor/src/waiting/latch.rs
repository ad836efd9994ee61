//! Latches: gates that open once, after a number of events.
//!
//! # Invariants
//!
//! 1. One lock guards the count and the wait list, so no thread joins the wait list of an open
//!    latch.
//! 2. The last [`count_down`](Latch::count_down) takes all waiters out of the wait list under the lock,
//!    releases the lock, and then wakes the waiters.
//! 3. A waiter that gives up takes its waker out of the wait list.

use std::fmt;
use std::task::Waker;

use super::error::WaitError;
use super::wait::{Deadline, WaitList, wait};
use crate::cancel::cancelled::Cancelled;
use crate::cancel::{check_current, interrupted};
use crate::sync::{Duration, Mutex};

/// A gate that opens when it has been counted down to zero, and stays open.
///
/// Use a latch to wait for a number of events, such as the ends of several tasks, or the start of a service.
/// Any number of threads can wait for one latch.
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
/// Everything that a thread did before it counted the latch down is visible to every thread whose wait has
/// ended.
///
/// # What is not found
/// Every thread that has the latch can count it down, so the library does not know which thread will count it
/// down. A wait for a latch is therefore never reported as [starvation](crate::Starvation). A thread that
/// waits for a latch counts as able to go on, even if other threads wait for that thread. Suppose that all
/// threads of a pool wait for a latch, and that only a task in the queue of this pool would count it down.
/// Then the threads wait for ever, and no error reports this deadlock. To wait for tasks,
/// [join](crate::TaskHandle::join) their handles, because the library finds a deadlock of joins.
#[doc(alias = "CountDownLatch")]
pub struct Latch {
    state: Mutex<LatchState>,
}

struct LatchState {
    count: usize,
    waiters: WaitList,
}

impl Latch {
    /// Makes a latch that opens after `count` calls of [`count_down`](Self::count_down). A latch with a count
    /// of zero is open.
    ///
    /// ```
    /// let latch = executor::Latch::new(1);
    /// assert_eq!(latch.count(), 1);
    /// assert_eq!(executor::Latch::new(0).wait(), Ok(())); // open from the start
    /// ```
    pub fn new(count: usize) -> Self {
        Self { state: Mutex::new(LatchState { count, waiters: WaitList::new() }) }
    }

    /// Counts down by one. When the count reaches zero, the latch opens, and all waiters go on. On an open
    /// latch the call does nothing.
    ///
    /// ```
    /// let latch = executor::Latch::new(1);
    /// latch.count_down();
    /// latch.count_down(); // does nothing
    /// assert_eq!(latch.count(), 0);
    /// assert_eq!(latch.wait(), Ok(()));
    /// ```
    #[doc(alias = "countDown")]
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

    /// Returns the number of further calls of [`count_down`](Self::count_down) that are needed to
    /// open the latch.
    ///
    /// ```
    /// let latch = executor::Latch::new(2);
    /// latch.count_down();
    /// assert_eq!(latch.count(), 1);
    /// ```
    #[doc(alias = "getCount")]
    pub fn count(&self) -> usize {
        self.state.lock().count
    }

    /// Returns the number of threads that wait for the latch now.
    ///
    /// ```
    /// let latch = executor::Latch::new(1);
    /// std::thread::scope(|scope| {
    ///     let waiter = scope.spawn(|| latch.wait());
    ///     while latch.waiting() == 0 {
    ///         std::thread::yield_now();
    ///     }
    ///     latch.count_down();
    ///     assert_eq!(waiter.join().unwrap(), Ok(()));
    /// });
    /// ```
    pub fn waiting(&self) -> usize {
        self.state.lock().waiters.len()
    }

    /// Waits until the latch is open.
    ///
    /// ```
    /// use executor::{CancelToken, Latch};
    ///
    /// let latch = Latch::new(1);
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| latch.count_down());
    ///     assert!(latch.wait().is_ok());
    /// });
    /// let token = CancelToken::new();
    /// token.cancel();
    /// assert!(token.attach(|| latch.wait()).is_err());
    /// ```
    ///
    /// # Errors
    /// [`struct@Cancelled`] if the calling task was cancelled, before or during the wait.
    ///
    /// # Blocking
    /// Blocks until the latch is open, or until the calling task is cancelled. A worker that waits for a
    /// latch sleeps, and runs no other task meanwhile.
    #[doc(alias = "await")]
    pub fn wait(&self) -> Result<(), Cancelled> {
        check_current()?;
        self.wait_until(Deadline::NEVER).map_err(|_| interrupted())
    }

    /// Waits until the latch is open, for `timeout` at most.
    ///
    /// ```
    /// use executor::{Latch, WaitError};
    /// use std::time::Duration;
    ///
    /// let latch = Latch::new(1);
    /// assert_eq!(latch.wait_timeout(Duration::from_millis(1)), Err(WaitError::TimedOut));
    /// latch.count_down();
    /// assert_eq!(latch.wait_timeout(Duration::ZERO), Ok(()));
    /// ```
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] if the latch is still closed after `timeout`; [`WaitError::Interrupted`] if
    /// the calling task was cancelled, as for [`wait`](Self::wait).
    ///
    /// # Blocking
    /// Blocks as [`wait`](Self::wait) does, for `timeout` at most.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), WaitError> {
        check_current()?;
        self.wait_until(Deadline::after(timeout))
    }

    fn wait_until(&self, deadline: Deadline) -> Result<(), WaitError> {
        let mut me = None; // set while this thread is in the wait list
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
