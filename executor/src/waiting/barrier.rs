//! Barriers: the threads of a group meet at a barrier, again and again, and then all go on together.
//!
//! # Invariants
//!
//! 1. One lock guards all of the state. Under this lock, a thread decides that a meeting is complete or that
//!    the barrier breaks. In the same step the thread takes all waiters out of the wait list.
//! 2. `missing` is never zero: the thread that would set `missing` to zero completes the meeting instead.
//! 3. The number of a meeting tells a waiter whether its own meeting is complete. A complete meeting stays
//!    complete: if the barrier breaks later, this does not affect the waiters of that meeting, even if they
//!    have not woken up yet.
//! 4. A broken barrier stays broken.

use std::error::Error;
use std::fmt;
use std::task::Waker;

use super::error::{WaitError, into_io_error};
use super::wait::{Deadline, WaitList, wait};
use crate::cancel::cancelled::Cancelled;
use crate::cancel::{check_current, interrupted};
use crate::sync::{Duration, Mutex};

/// A meeting point for a fixed number of parties. Each party waits until all parties have come; then all go
/// on, and the barrier is ready for the next meeting.
///
/// Use a barrier for work in rounds, if each round needs the results of all parties from the previous round:
/// the steps of a simulation, or the passes of a filter over the bands of a picture. Give each party a thread
/// of its own: a pool must have at least as many threads as there are parties. If threads wait for events but
/// do not meet, use a [`Latch`](crate::Latch).
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use executor::{Barrier, ThreadPoolExecutor, prelude::*};
///
/// let barrier = Arc::new(Barrier::new(2));
/// let (pool, steps) = (ThreadPoolExecutor::fixed(2), Arc::new(AtomicU32::new(0)));
/// for _party in 0..2 {
///     let (barrier, steps) = (Arc::clone(&barrier), Arc::clone(&steps));
///     pool.execute(move || {
///         for round in 1..=3 {
///             steps.fetch_add(1, Ordering::Relaxed);
///             barrier.wait().expect("no party leaves");
///             assert_eq!(steps.load(Ordering::Relaxed), 2 * round); // both have made their steps
///             barrier.wait().expect("no party leaves"); // and both have looked
///         }
///     })?;
/// }
/// pool.close();
/// assert_eq!(steps.load(Ordering::Relaxed), 6);
/// # Ok::<(), executor::RejectedExecution>(())
/// ```
///
/// Everything that a party did before it came to the barrier is visible to all parties after the meeting.
///
/// # When a party does not come
/// If the wait of a party is cancelled or times out, that party is missing, and the meeting can never be
/// complete. So the barrier *breaks*: all parties that wait now or come later get [`BarrierError::Broken`]. A
/// broken barrier stays broken; a new group needs a new barrier. So the other parties do not wait for ever.
/// (The barrier of the standard library ignores tokens.)
///
/// A party that panics or returns early does not break the barrier, because the barrier cannot notice this.
/// If a party can panic or return early, use [`wait_timeout`](Self::wait_timeout).
///
/// # What is not found
/// As with a [latch](crate::Latch#what-is-not-found), the library does not know which threads will come. So a
/// wait at a barrier is never reported as [starvation](crate::Starvation). If the parties are tasks of a pool
/// that has fewer threads than there are parties, the parties wait for ever.
#[doc(alias = "CyclicBarrier")]
#[doc(alias = "Phaser")]
pub struct Barrier {
    parties: usize,
    state: Mutex<BarrierState>,
}

struct BarrierState {
    /// The number of the current meeting.
    meeting: u64,
    /// The number of parties that have not come to the current meeting yet.
    missing: usize,
    is_broken: bool,
    waiters: WaitList,
}

/// The reason why a party of a [`Barrier`] did not meet the other parties.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BarrierError {
    /// The *waiting* task was cancelled. The barrier is broken now.
    #[doc(alias = "InterruptedException")]
    Interrupted(Cancelled),
    /// The time limit has passed. The barrier is broken now.
    #[doc(alias = "TimeoutException")]
    TimedOut,
    /// The wait of another party was cancelled or has timed out, at this meeting or at an earlier meeting.
    #[doc(alias = "BrokenBarrierException")]
    Broken,
}

impl Barrier {
    /// Makes a barrier at which `parties` threads meet.
    ///
    /// ```
    /// use executor::Barrier;
    ///
    /// assert_eq!(Barrier::new(1).wait(), Ok(0)); // nobody else is awaited
    /// ```
    ///
    /// # Panics
    /// Panics if `parties` is zero.
    pub fn new(parties: usize) -> Self {
        assert!(parties > 0, "a meeting of nobody can never begin");
        let state = BarrierState { meeting: 0, missing: parties, is_broken: false, waiters: WaitList::new() };
        Self { parties, state: Mutex::new(state) }
    }

    /// Waits until all parties have come. Returns how many parties were still missing when the caller came to
    /// the barrier.
    ///
    /// Exactly one party of a meeting gets 0: the party that came last. This party can do work that is needed
    /// only once for each meeting, for instance combine the results of the parties. The other parties do not
    /// wait for that work, unless all parties meet again.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use executor::Barrier;
    ///
    /// let barrier = Arc::new(Barrier::new(2));
    /// let other = std::thread::spawn({
    ///     let barrier = Arc::clone(&barrier);
    ///     move || barrier.wait()
    /// });
    /// let places = [barrier.wait()?, other.join().unwrap()?];
    /// assert!(places == [0, 1] || places == [1, 0]); // one of them came last
    /// # Ok::<(), executor::BarrierError>(())
    /// ```
    ///
    /// # Errors
    /// [`BarrierError::Interrupted`] if the calling task was cancelled, before or during the wait; then the
    /// barrier is broken. [`BarrierError::Broken`] if another party has broken the barrier. If the caller is
    /// cancelled after the meeting is complete, the call succeeds.
    ///
    /// # Blocking
    /// Blocks until the last party comes, or the barrier breaks.
    ///
    /// # Cancellation
    /// A cancellation point. If one party is cancelled, the waits of all parties end.
    #[doc(alias = "await")]
    #[doc(alias = "arriveAndAwaitAdvance")]
    pub fn wait(&self) -> Result<usize, BarrierError> {
        self.wait_until(Deadline::NEVER)
    }

    /// Waits until all parties have come, for `timeout` at most.
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{Barrier, BarrierError};
    ///
    /// let barrier = Barrier::new(2);
    /// assert_eq!(barrier.wait_timeout(Duration::from_millis(1)), Err(BarrierError::TimedOut));
    /// assert_eq!(barrier.wait(), Err(BarrierError::Broken)); // the second party is told
    /// ```
    ///
    /// # Errors
    /// [`BarrierError::TimedOut`] if a party is still missing after `timeout`; then the barrier is broken.
    /// The other errors are the errors of [`wait`](Self::wait).
    ///
    /// # Blocking
    /// Blocks for `timeout` at most.
    ///
    /// # Cancellation
    /// The rules of [`wait`](Self::wait) apply.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<usize, BarrierError> {
        self.wait_until(Deadline::after(timeout))
    }

    fn wait_until(&self, deadline: Deadline) -> Result<usize, BarrierError> {
        if check_current().is_err() {
            return self.give_up(&WaitError::Interrupted, None);
        }
        let mut place = None; // the meeting to which this thread has come, and the number of missing parties
        let result = wait(deadline, |waker| match place {
            None => match self.come(waker) {
                Ok(came) if came.1 > 0 => {
                    place = Some(came);
                    None
                }
                Ok((_, last)) => Some(Ok(last)),
                Err(broken) => Some(Err(broken)),
            },
            Some((meeting, missing)) => {
                let state = self.state.lock();
                match (state.meeting == meeting, state.is_broken) {
                    (true, true) => Some(Err(BarrierError::Broken)),
                    (true, false) => None,
                    (false, _) => Some(Ok(missing)),
                }
            }
        });
        result.unwrap_or_else(|why| self.give_up(&why, place))
    }

    /// Records that a party has come. Returns the number of the meeting, and the number of missing parties.
    /// If no party is missing, all parties go on. If a party is missing, the waker joins the wait list.
    fn come(&self, waker: &Waker) -> Result<(u64, usize), BarrierError> {
        let mut state = self.state.lock();
        if state.is_broken {
            return Err(BarrierError::Broken);
        }
        let meeting = state.meeting;
        if state.missing > 1 {
            state.missing -= 1;
            state.waiters.join(waker.clone());
            return Ok((meeting, state.missing));
        }
        state.meeting += 1;
        state.missing = self.parties;
        let waiters = state.waiters.take_all();
        drop(state);
        waiters.for_each(Waker::wake);
        Ok((meeting, 0))
    }

    /// Ends a wait that was cut short: breaks the barrier, unless the meeting was completed just now.
    fn give_up(&self, why: &WaitError, place: Option<(u64, usize)>) -> Result<usize, BarrierError> {
        let mut state = self.state.lock();
        match place {
            Some((meeting, missing)) if state.meeting != meeting => return Ok(missing),
            _ => state.is_broken = true,
        }
        let waiters = state.waiters.take_all();
        drop(state);
        waiters.for_each(Waker::wake);
        Err(match why {
            WaitError::TimedOut => BarrierError::TimedOut,
            _ => BarrierError::Interrupted(interrupted()),
        })
    }

    /// Returns the number of parties that meet here.
    ///
    /// ```
    /// assert_eq!(executor::Barrier::new(3).parties(), 3);
    /// ```
    pub fn parties(&self) -> usize {
        self.parties
    }

    /// Returns the number of parties that wait here now.
    ///
    /// ```
    /// assert_eq!(executor::Barrier::new(3).waiting(), 0);
    /// ```
    #[doc(alias = "getNumberWaiting")]
    pub fn waiting(&self) -> usize {
        self.state.lock().waiters.len()
    }

    /// Returns whether the barrier is broken, because a party was cancelled or has timed out. No more
    /// meetings take place.
    ///
    /// ```
    /// use executor::{Barrier, CancelToken};
    ///
    /// let (barrier, token) = (Barrier::new(2), CancelToken::new());
    /// token.cancel();
    /// assert!(token.attach(|| barrier.wait()).is_err());
    /// assert!(barrier.is_broken());
    /// ```
    pub fn is_broken(&self) -> bool {
        self.state.lock().is_broken
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock();
        f.debug_struct("Barrier")
            .field("parties", &self.parties)
            .field("waiting", &state.waiters.len())
            .field("is_broken", &state.is_broken)
            .finish()
    }
}

impl fmt::Display for BarrierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted(cancelled) => cancelled.fmt(f),
            Self::TimedOut => f.write_str("not all parties came to the barrier in time"),
            Self::Broken => f.write_str("another party of the barrier was cancelled or has timed out"),
        }
    }
}

impl Error for BarrierError {}

into_io_error!(BarrierError => BarrierError);
