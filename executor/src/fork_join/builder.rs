//! How a fork/join pool is put together.

use std::error::Error;
use std::fmt;

use super::pool::ForkJoinPool;
use super::registry::{ForkJoinSettings, Registry};
use crate::panics::PanicHandler;
use crate::sync::ids::{AtomicU64, Ordering};
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
use crate::sync::thread;
use crate::sync::{Arc, Duration};

/// Puts a [`ForkJoinPool`] together.
///
/// ```
/// use executor::fork_join::ForkJoinPool;
///
/// let pool = ForkJoinPool::builder().threads(2).name("sort").build()?;
/// assert_eq!(pool.threads(), 2);
/// # Ok::<(), executor::fork_join::ForkJoinConfigError>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct ForkJoinBuilder {
    threads: usize,
    spares: Option<usize>,
    name: Option<String>,
    stack_size: Option<usize>,
    keep_alive: Duration,
    oldest_first: bool,
    panic_handler: Option<Arc<dyn PanicHandler>>,
    is_common: bool,
}

impl ForkJoinBuilder {
    /// The most threads a pool may have, spare ones included.
    pub const MAX_THREADS: usize = 0x7fff;

    fn new(threads: usize) -> Self {
        Self {
            threads,
            spares: None,
            name: None,
            stack_size: None,
            keep_alive: Duration::from_mins(1),
            oldest_first: false,
            panic_handler: None,
            is_common: false,
        }
    }

    /// The pool that nobody shuts down.
    pub(super) fn common(mut self) -> Self {
        self.is_common = true;
        self
    }

    /// How many workers run at the same time. Default: one for each processor that the process may use.
    ///
    /// They are started as there is work for them.
    #[doc(alias = "parallelism")]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// How many workers there may be beyond that, in place of those that [block](super::blocking). Default:
    /// as many again.
    pub fn spare_threads(mut self, threads: usize) -> Self {
        self.spares = Some(threads);
        self
    }

    /// What the pool is called in reports, and its threads: `NAME-worker-0`, and so on. Default:
    /// `fork-join-1`, with a number for each pool.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How much stack each worker gets, in bytes. Default: as much as the standard library's threads, 2 MiB.
    ///
    /// A worker that waits may have the pieces of others on top of its own, so deep recursions need more than
    /// on one thread.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// How long a worker without work stays. Default: 60 s.
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.keep_alive = time;
        self
    }

    /// Has workers take forked tasks of their own in the order in which they were forked, instead of the
    /// youngest first: for tasks that nobody joins, such as events. Joins are as ever.
    #[doc(alias = "asyncMode")]
    pub fn oldest_first(mut self) -> Self {
        self.oldest_first = true;
        self
    }

    /// Who hears of panics that nobody else hears of: see [`panics`](crate::panics).
    pub fn panic_handler(mut self, handler: impl PanicHandler + 'static) -> Self {
        self.panic_handler = Some(Arc::new(handler));
        self
    }

    /// Makes the pool. No thread is started yet.
    ///
    /// # Errors
    /// [`ForkJoinConfigError`] if there would be no threads, or more than [`MAX_THREADS`](Self::MAX_THREADS).
    pub fn build(self) -> Result<ForkJoinPool, ForkJoinConfigError> {
        static POOLS: AtomicU64 = AtomicU64::new(1);
        let spares = self.spares.unwrap_or(self.threads);
        let all = self.threads.checked_add(spares).filter(|&all| all <= Self::MAX_THREADS);
        if self.threads == 0 {
            return Err(ForkJoinConfigError::NoThreads);
        }
        if all.is_none() {
            return Err(ForkJoinConfigError::TooManyThreads { threads: self.threads, spares });
        }
        let next_name = || format!("fork-join-{}", POOLS.fetch_add(1, Ordering::Relaxed));
        let registry = Registry::new(ForkJoinSettings {
            name: self.name.unwrap_or_else(next_name),
            threads: self.threads,
            spares,
            stack_size: self.stack_size,
            keep_alive: self.keep_alive,
            oldest_first: self.oldest_first,
            panic_handler: self.panic_handler,
        });
        Ok(ForkJoinPool::of(registry, self.is_common))
    }
}

impl ForkJoinPool {
    /// Makes a pool of so many workers, which are started as there is work for them.
    ///
    /// # Errors
    /// See [`ForkJoinBuilder::build`].
    pub fn new(threads: usize) -> Result<Self, ForkJoinConfigError> {
        Self::builder().threads(threads).build()
    }

    /// Sets more than the number of workers.
    pub fn builder() -> ForkJoinBuilder {
        ForkJoinBuilder::new(processors())
    }

    /// A pool for tasks that submit other tasks, and that nobody joins: one worker for each processor, each
    /// of which takes its own tasks in the order in which they came.
    pub fn work_stealing() -> Self {
        Self::builder().oldest_first().build().expect("there is a processor")
    }
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
fn processors() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// A model has as many as its threads.
#[cfg(any(feature = "loom", feature = "shuttle"))]
fn processors() -> usize {
    2
}

impl fmt::Debug for ForkJoinBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForkJoinBuilder").field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// Why a fork/join pool cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForkJoinConfigError {
    /// It would have no threads.
    NoThreads,
    /// It would have more than [`ForkJoinBuilder::MAX_THREADS`].
    TooManyThreads {
        /// How many were asked for.
        threads: usize,
        /// How many spare ones.
        spares: usize,
    },
}

impl fmt::Display for ForkJoinConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoThreads => f.write_str("a fork/join pool needs a thread"),
            Self::TooManyThreads { threads, spares } => {
                let most = ForkJoinBuilder::MAX_THREADS;
                write!(f, "{threads} threads and {spares} spare ones are more than {most}")
            }
        }
    }
}

impl Error for ForkJoinConfigError {}
