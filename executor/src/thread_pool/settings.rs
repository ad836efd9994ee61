//! The settings of a pool, how they are checked against each other, and how they change while the pool runs.
//!
//! Some combinations of settings can only be a mistake, such as a maximum that is never reached. So the
//! builder and each setter check all settings together. If a change fails the check, the setter changes
//! nothing.
//!
//! # How a change takes effect
//!
//! A setter changes the settings under the lock of the state. The setter makes the threads that relied on the
//! old settings look again:
//!
//! | a thread | relies on | so the setter |
//! |---|---|---|
//! | a submitter that uses the inbox | the pool has all its threads | closes the inbox |
//! | a worker that claims from the batch | there are not too many workers | reclaims the batch |
//! | a worker that sleeps | its keep-alive time; there are not too many workers | wakes all workers |
//! | a submitter that waits for room | no thread can be started for its task | wakes all such submitters |
//!
//! If the core size has grown, the setter starts threads for the waiting tasks.
//!
//! # Invariants
//!
//! 1. At every moment, the settings of a pool satisfy [`PoolSettings::check`].
//! 2. When a factory or a handler is replaced, the old one is dropped outside the lock: its `Drop` is user
//!    code.

use std::any::Any;
use std::error::Error;
use std::fmt;

use super::ThreadPoolExecutor;
use super::factory::ThreadFactory;
use super::rejection::RejectionHandler;
use crate::panics::discard;
use crate::sync::{Arc, Duration};
use crate::waiting::error::into_io_error;

/// The settings of a pool, and two facts that never change.
#[derive(Clone)]
pub(super) struct PoolSettings {
    pub(super) core: usize,
    pub(super) maximum: usize,
    pub(super) keep_alive: Duration,
    pub(super) core_timeout: bool,
    /// True if the pool starts threads up to the maximum before it queues tasks. Never changes.
    pub(super) threads_first: bool,
    /// True if the queue has a bound, so that the queue can refuse a task. Never changes.
    pub(super) bounded: bool,
    pub(super) factory: Arc<dyn ThreadFactory>,
    /// The name that the factory gives to its threads.
    pub(super) name: Option<Arc<str>>,
    pub(super) rejection: Arc<dyn RejectionHandler>,
}

impl PoolSettings {
    /// Returns the number of threads below which the pool starts a new thread for each task.
    pub(super) fn grows_to(&self) -> usize {
        if self.threads_first { self.maximum } else { self.core }
    }

    // ANCHOR: check
    /// Checks that the settings do not contradict each other.
    pub(super) fn check(&self) -> Result<(), PoolConfigError> {
        let (core, maximum) = (self.core, self.maximum);
        if maximum == 0 {
            return Err(PoolConfigError::ZeroThreads);
        }
        if core > maximum {
            return Err(PoolConfigError::CoreAboveMaximum { core, maximum });
        }
        if maximum > core.max(1) && !(self.threads_first || self.bounded) {
            return Err(PoolConfigError::MaximumNeverReached { core, maximum });
        }
        if self.core_timeout && self.keep_alive.is_zero() {
            return Err(PoolConfigError::ZeroKeepAlive);
        }
        Ok(())
    }
    // ANCHOR_END: check
}

/// Puts a user's value into an `Arc`, unless it is an `Arc<D>` already. So a caller can pass the result of a
/// getter to a setter again and again, without a new layer of `Arc` each time.
pub(super) fn in_arc<H: 'static, D: ?Sized + 'static>(given: H, share: impl FnOnce(H) -> Arc<D>) -> Arc<D> {
    let mut given = Some(given);
    let is_shared = (&mut given as &mut dyn Any).downcast_mut::<Option<Arc<D>>>().and_then(Option::take);
    is_shared.unwrap_or_else(|| share(given.take().expect("an `Arc` was not taken above")))
}

/// The error for settings that contradict each other. The error's message names the settings that contradict
/// each other.
///
/// ```
/// use executor::{PoolConfigError, ThreadPoolExecutor};
///
/// let error = ThreadPoolExecutor::builder().threads(0).build().unwrap_err();
/// assert_eq!(error, PoolConfigError::ZeroThreads);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolConfigError {
    /// A pool needs at least one thread.
    ZeroThreads,
    /// The core size is above the maximum size.
    CoreAboveMaximum {
        /// The core size.
        core: usize,
        /// The maximum size.
        maximum: usize,
    },
    /// The maximum size is above the core size, but the queue has no bound. A queue without a bound never
    /// refuses a task, so the pool would never have more threads than its core size.
    MaximumNeverReached {
        /// The core size.
        core: usize,
        /// The maximum size.
        maximum: usize,
    },
    /// Core threads time out, but the keep-alive time is zero. With these settings, each core thread would
    /// end as soon as it is idle.
    ZeroKeepAlive,
}

impl fmt::Display for PoolConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroThreads => {
                f.write_str("the maximum size is 0: a pool without threads would run nothing")
            }
            Self::CoreAboveMaximum { core, maximum } => {
                write!(f, "the core size ({core}) is above the maximum size ({maximum})")
            }
            Self::MaximumNeverReached { core, maximum } => write!(
                f,
                "the maximum size ({maximum}) is above the core size ({core}) but the queue has no bound: it never \
                 refuses a task, so the pool would never grow; bound the queue, or start threads first"
            ),
            Self::ZeroKeepAlive => f.write_str(
                "core threads are to time out but the keep-alive time is 0: each would end when idle",
            ),
        }
    }
}

impl Error for PoolConfigError {}

into_io_error!(PoolConfigError => kind InvalidInput);

impl ThreadPoolExecutor {
    /// Returns the core size: a pool with fewer threads starts a thread for a new task, even if the queue has
    /// room.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// assert_eq!(ThreadPoolExecutor::fixed(4).core_threads(), 4);
    /// assert_eq!(ThreadPoolExecutor::cached().core_threads(), 0);
    /// ```
    #[doc(alias = "getCorePoolSize")]
    pub fn core_threads(&self) -> usize {
        self.shared.state.lock().settings.core
    }

    /// Changes the core size. If the new size is lower, surplus idle threads end after the keep-alive time.
    /// If the new size is higher, threads start for the waiting tasks.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// let pool = ThreadPoolExecutor::cached();
    /// pool.set_core_threads(4)?; // from now on, four threads stay when they are idle
    /// assert_eq!(pool.core_threads(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PoolConfigError`] if the new size contradicts the other settings. After an error, the settings stay
    /// as they are. If the queue has no bound, core size and maximum size must be equal;
    /// [`set_threads`](Self::set_threads) changes both sizes at once.
    #[doc(alias = "setCorePoolSize")]
    pub fn set_core_threads(&self, threads: usize) -> Result<(), PoolConfigError> {
        self.change(|settings| settings.core = threads)?;
        self.start_threads_for_what_waits();
        Ok(())
    }

    /// Returns the maximum size: the largest number of threads that the pool may have.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// assert_eq!(ThreadPoolExecutor::fixed(4).maximum_threads(), 4);
    /// ```
    #[doc(alias = "getMaximumPoolSize")]
    pub fn maximum_threads(&self) -> usize {
        self.shared.state.lock().settings.maximum
    }

    /// Changes the maximum size. If the new size is lower, surplus threads end as soon as they have finished
    /// their task.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// let pool = ThreadPoolExecutor::cached();
    /// pool.set_maximum_threads(100)?;
    /// assert_eq!(pool.maximum_threads(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PoolConfigError`] if the new size contradicts the other settings. After an error, the settings stay
    /// as they are.
    #[doc(alias = "setMaximumPoolSize")]
    pub fn set_maximum_threads(&self, threads: usize) -> Result<(), PoolConfigError> {
        self.change(|settings| settings.maximum = threads)
    }

    /// Changes core and maximum size to the same number, like
    /// [`ThreadPoolBuilder::threads`](super::ThreadPoolBuilder::threads). Use this call to resize a
    /// [`fixed`](Self::fixed) pool. If the number is lower, surplus threads end as soon as they have finished
    /// their task. If the number is higher, threads start for the waiting tasks.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// pool.set_threads(8)?;
    /// assert_eq!((pool.core_threads(), pool.maximum_threads()), (8, 8));
    /// # Ok::<(), executor::PoolConfigError>(())
    /// ```
    ///
    /// # Errors
    /// [`PoolConfigError::ZeroThreads`] if `threads` is zero.
    pub fn set_threads(&self, threads: usize) -> Result<(), PoolConfigError> {
        self.change(|settings| (settings.core, settings.maximum) = (threads, threads))?;
        self.start_threads_for_what_waits();
        Ok(())
    }

    fn start_threads_for_what_waits(&self) {
        let at_most = self.queued().min(self.core_threads()); // a failed start is not repeated
        let started = (0..at_most).take_while(|_| self.prestart_core_thread());
        started.for_each(drop);
    }

    /// Returns the keep-alive time: how long a thread above core size may be idle before it ends.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// assert_eq!(ThreadPoolExecutor::cached().keep_alive(), Duration::from_secs(60));
    /// ```
    #[doc(alias = "getKeepAliveTime")]
    pub fn keep_alive(&self) -> Duration {
        self.shared.state.lock().settings.keep_alive
    }

    /// Changes the keep-alive time: how long a thread above core size may be idle. The new time also applies to
    /// threads that are idle now.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPoolExecutor::cached();
    /// pool.set_keep_alive(Duration::from_secs(5))?;
    /// assert_eq!(pool.keep_alive(), Duration::from_secs(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PoolConfigError::ZeroKeepAlive`] if `time` is zero and core threads time out.
    #[doc(alias = "setKeepAliveTime")]
    pub fn set_keep_alive(&self, time: Duration) -> Result<(), PoolConfigError> {
        self.change(|settings| settings.keep_alive = time)
    }

    /// Returns whether core threads end when they have been idle for the keep-alive time.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// assert!(!ThreadPoolExecutor::fixed(4).core_timeout());
    /// ```
    #[doc(alias = "allowsCoreThreadTimeOut")]
    pub fn core_timeout(&self) -> bool {
        self.shared.state.lock().settings.core_timeout
    }

    /// Changes whether core threads end when they have been idle for the keep-alive time.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPoolExecutor::fixed(8);
    /// // At night the pool needs no threads: all of them may end.
    /// pool.set_keep_alive(Duration::from_secs(30))?;
    /// pool.set_core_timeout(true)?;
    /// assert!(pool.core_timeout());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PoolConfigError::ZeroKeepAlive`] if the keep-alive time is zero.
    pub fn set_core_timeout(&self, allowed: bool) -> Result<(), PoolConfigError> {
        self.change(|settings| settings.core_timeout = allowed)
    }

    /// Returns the factory that starts the threads.
    ///
    /// ```
    /// use executor::{NamedThreads, ThreadFactory, ThreadPoolExecutor};
    ///
    /// let pool = ThreadPoolExecutor::builder().name("fetch").build()?;
    /// let before = pool.thread_factory();
    /// pool.set_thread_factory(NamedThreads::new("burst"));
    /// pool.set_thread_factory(before); // put back
    /// assert_eq!(pool.thread_factory().name(), Some("fetch"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "getThreadFactory")]
    pub fn thread_factory(&self) -> Arc<dyn ThreadFactory> {
        Arc::clone(&self.shared.state.lock().settings.factory)
    }

    /// Replaces the factory: the new factory starts the threads from now on. A caller can put the previous
    /// factory back if the caller got it from [`thread_factory`](Self::thread_factory) before.
    ///
    /// ```
    /// use executor::{NamedThreads, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// pool.set_thread_factory(NamedThreads::new("import").stack_size(4 << 20));
    /// let name = pool.submit(|| std::thread::current().name().map(str::to_owned))?.join()?;
    /// assert_eq!(name.as_deref(), Some("import-thread-1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_thread_factory(&self, factory: impl ThreadFactory + 'static) {
        let factory = in_arc::<_, dyn ThreadFactory>(factory, |factory| Arc::new(factory));
        let name = factory.name().map(Arc::from);
        let mut state = self.shared.state.lock();
        state.settings.name = name;
        let before = std::mem::replace(&mut state.settings.factory, factory);
        state.backoff.reset(); // the old factory has failed, not the new one
        drop(state);
        discard(before);
    }

    /// Returns the handler that decides about refused tasks.
    ///
    /// ```
    /// use executor::{Discard, ThreadPoolExecutor, prelude::*};
    ///
    /// let careful = ThreadPoolExecutor::fixed(1);
    /// let careless = ThreadPoolExecutor::builder().rejection_handler(Discard).build()?;
    /// careful.set_rejection_handler(careless.rejection_handler()); // the same policy for both
    /// careful.shutdown();
    /// assert!(careful.execute(|| println!("late")).is_ok()); // dropped
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "getRejectedExecutionHandler")]
    pub fn rejection_handler(&self) -> Arc<dyn RejectionHandler> {
        Arc::clone(&self.shared.state.lock().settings.rejection)
    }

    /// Replaces the handler that decides about refused tasks. A handler that
    /// [`rejection_handler`](Self::rejection_handler) has returned can be put back:
    ///
    /// ```
    /// use executor::{CallerRuns, FifoQueue, ThreadPoolExecutor};
    ///
    /// let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(10)).build()?;
    /// let before = pool.rejection_handler();
    /// pool.set_rejection_handler(CallerRuns);
    /// // … a burst of tasks …
    /// pool.set_rejection_handler(before);
    /// # Ok::<(), executor::PoolConfigError>(())
    /// ```
    pub fn set_rejection_handler(&self, handler: impl RejectionHandler + 'static) {
        let handler = in_arc::<_, dyn RejectionHandler>(handler, |handler| Arc::new(handler));
        let before = std::mem::replace(&mut self.shared.state.lock().settings.rejection, handler);
        discard(before);
    }

    /// Changes the settings, unless the new settings contradict each other.
    fn change(&self, change: impl FnOnce(&mut PoolSettings)) -> Result<(), PoolConfigError> {
        let mut state = self.shared.state.lock();
        self.shared.inbox.close(&state); // perhaps a submitter must start a thread now
        self.shared.inbox.reclaim(&mut state); // and perhaps a worker that claims from the batch must leave
        let mut changed = state.settings.clone();
        change(&mut changed);
        changed.check()?;
        state.settings = changed;
        // After the change, workers may have to leave, or to sleep for a shorter or longer time. Perhaps
        // submitters have room now.
        self.shared.work.notify_all();
        state.wake_all_submitters();
        Ok(())
    }
}
