//! A gate that opens once: "all of these have happened".
//!
//! # Invariants
//!
//! 1. Whether the gate is open and who waits for it are behind one lock, so nobody joins the wait list of an
//!    open gate.
//! 2. The last [`count_down`](Latch::count_down) takes the whole wait list out and wakes it when the lock is
//!    free.
//! 3. A waiter that gives up takes its waker out of the wait list.

use std::fmt;
use std::task::Waker;

use super::error::WaitError;
use super::wait::{Deadline, WaitList, wait};
use crate::cancel::cancelled::Cancelled;
use crate::cancel::{check_current, interrupted};
use crate::sync::{Duration, Mutex};

/// A gate that opens when it was counted down to zero, and stays open.
///
/// For "all of these have happened": a number of tasks have ended, a service is ready. Any number of threads
/// may wait.
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
/// What a thread did before it counted down is visible to whoever has waited.
///
/// # What is not found
/// Anybody who has the latch may count it down, so the library does not know who will. A wait for one is
/// therefore never reported as [starvation](crate::Starvation), and a thread that waits here counts as one
/// that may go on, also for those who wait for *it*. If all threads of a pool wait for a latch that a task in
/// the queue of this pool is to count down, they wait for ever. To wait for tasks,
/// [join](crate::TaskHandle::join) their handles: that is found.
#[doc(alias = "CountDownLatch")]
pub struct Latch {
    state: Mutex<LatchState>,
}

struct LatchState {
    count: usize,
    waiters: WaitList,
}

impl Latch {
    /// Makes a latch that opens after `count` calls of [`count_down`](Self::count_down); one with zero is
    /// open.
    pub fn new(count: usize) -> Self {
        Self { state: Mutex::new(LatchState { count, waiters: WaitList::new() }) }
    }

    /// Counts down by one and, at zero, lets every waiter go. At zero it does nothing.
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

    /// How many calls of [`count_down`](Self::count_down) are missing.
    #[doc(alias = "getCount")]
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
    /// [`struct@Cancelled`] if the calling task was cancelled, before or during the wait.
    #[doc(alias = "await")]
    pub fn wait(&self) -> Result<(), Cancelled> {
        check_current()?;
        self.wait_until(Deadline::NEVER).map_err(|_| interrupted())
    }

    /// Waits until the latch is open, for `timeout` at most.
    ///
    /// # Errors
    /// [`WaitError::TimedOut`] if it is still closed then, [`WaitError::Interrupted`] as for
    /// [`wait`](Self::wait).
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
