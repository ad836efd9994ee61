//! The builder of a fork/join pool.

use std::error::Error;
use std::fmt;

use super::pool::ForkJoinPool;
use super::registry::{ForkJoinSettings, Registry};
use crate::panics::PanicHandler;
use crate::sync::ids::{AtomicU64, Ordering};
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
use crate::sync::thread;
use crate::sync::{Arc, Duration, lazy_static};
use crate::waiting::error::into_io_error;

/// Builds a [`ForkJoinPool`].
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
    /// True if this builder makes the common pool, which cannot be shut down.
    is_common: bool,
}

impl ForkJoinBuilder {
    /// The upper limit for the number of threads in a pool, spare threads included.
    pub const MAX_THREADS: usize = 0x7fff;

    /// Sets how many workers run at the same time. Default: one for each processor that the process may use.
    ///
    /// A worker is started when there is work for it.
    ///
    /// ```
    /// use executor::fork_join::ForkJoinPool;
    ///
    /// assert_eq!(ForkJoinPool::builder().threads(4).build()?.threads(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "parallelism")]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the upper limit for the number of spare workers. A spare worker takes the place of a worker that
    /// [blocks](super::blocking()). Default: as many as [`threads`](Self::threads).
    ///
    /// ```
    /// use executor::fork_join::{ForkJoinPool, blocking};
    ///
    /// let pool = ForkJoinPool::builder().threads(2).spare_threads(8).build()?;
    /// assert_eq!(pool.invoke(|| blocking(|| 6 * 7))?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spare_threads(mut self, threads: usize) -> Self {
        self.spares = Some(threads);
        self
    }

    /// Sets the name that reports give to the pool. The pool's threads are named `NAME-worker-0`, and so on.
    /// Default: `fork-join-1`, with a different number for each pool.
    ///
    /// ```
    /// use executor::{fork_join::ForkJoinPool, prelude::*};
    ///
    /// let pool = ForkJoinPool::builder().threads(1).name("sort").build()?;
    /// let name = pool.submit(|| std::thread::current().name().map(str::to_owned))?.join()?;
    /// assert_eq!(name.as_deref(), Some("sort-worker-0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the size of each worker's stack, in bytes. Default: 2 MiB, as for threads of the standard
    /// library.
    ///
    /// While a worker waits, it may run pieces of other workers' jobs on top of its own job. So a deep
    /// recursion needs more stack in a pool than on one thread.
    ///
    /// ```
    /// use executor::{fork_join::ForkJoinPool, prelude::*};
    ///
    /// let pool = ForkJoinPool::builder().threads(1).stack_size(16 * 1024 * 1024).build()?;
    /// let on_the_stack = pool.submit(|| std::hint::black_box([1_u8; 4 * 1024 * 1024]).len())?;
    /// assert_eq!(on_the_stack.join()?, 4 * 1024 * 1024);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Sets how long a worker without work waits before its thread ends. Default: 60 s.
    ///
    /// ```
    /// use executor::{fork_join::ForkJoinPool, prelude::*};
    /// use std::time::Duration;
    ///
    /// let pool = ForkJoinPool::builder().threads(2).keep_alive(Duration::from_secs(5)).build()?;
    /// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.keep_alive = time;
        self
    }

    /// Makes workers take their own forked tasks in the order of forking: the oldest task first, instead of
    /// the youngest. Use this setting for tasks that no caller joins, such as events. The setting does not
    /// affect joins.
    ///
    /// ```
    /// use executor::{fork_join::ForkJoinPool, prelude::*};
    /// use std::sync::{Arc, Mutex};
    ///
    /// let pool = Arc::new(ForkJoinPool::builder().threads(1).oldest_first().build()?);
    /// let (own, order) = (Arc::clone(&pool), Arc::new(Mutex::new(Vec::new())));
    /// # let events = Arc::clone(&order);
    /// pool.execute(move || {
    ///     for n in 0..3 {
    ///         let events = Arc::clone(&events);
    ///         own.execute(move || events.lock().unwrap().push(n)).expect("the pool runs");
    ///     }
    /// })?;
    /// pool.await_quiescence(std::time::Duration::MAX);
    /// assert_eq!(*order.lock().unwrap(), [0, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "asyncMode")]
    pub fn oldest_first(mut self) -> Self {
        self.oldest_first = true;
        self
    }

    /// Sets the handler of panics that no caller receives: see [`panics`](crate::panics).
    ///
    /// ```
    /// use executor::{fork_join::ForkJoinPool, panics::PanicReport, prelude::*};
    /// use std::sync::mpsc;
    ///
    /// let (sender, receiver) = mpsc::channel();
    /// let handler = move |report: &PanicReport<'_>| sender.send(report.message.to_owned()).unwrap();
    /// let pool = ForkJoinPool::builder().threads(1).panic_handler(handler).build()?;
    /// pool.execute(|| panic!("no such page"))?;
    /// assert_eq!(receiver.recv()?, "no such page");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn panic_handler(mut self, handler: impl PanicHandler + 'static) -> Self {
        self.panic_handler = Some(Arc::new(handler));
        self
    }

    /// Builds the pool. No thread is started yet.
    ///
    /// ```
    /// use executor::fork_join::{ForkJoinConfigError, ForkJoinPool};
    ///
    /// assert!(ForkJoinPool::builder().threads(2).build().is_ok());
    /// let error = ForkJoinPool::builder().threads(0).build().unwrap_err();
    /// assert_eq!(error, ForkJoinConfigError::NoThreads);
    /// ```
    ///
    /// # Errors
    /// [`ForkJoinConfigError`] if the pool would have no threads, or more than
    /// [`MAX_THREADS`](Self::MAX_THREADS).
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
    /// Builds a pool of `threads` workers. Each worker is started when there is work for it.
    ///
    /// ```
    /// use executor::fork_join::ForkJoinPool;
    ///
    /// assert_eq!(ForkJoinPool::new(2)?.invoke(|| 6 * 7)?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`ForkJoinBuilder::build`].
    pub fn new(threads: usize) -> Result<Self, ForkJoinConfigError> {
        Self::builder().threads(threads).build()
    }

    /// Returns a builder, which has all settings of a pool.
    ///
    /// ```
    /// use executor::fork_join::ForkJoinPool;
    ///
    /// let pool = ForkJoinPool::builder().threads(2).name("sort").build()?;
    /// assert_eq!(pool.invoke(|| 6 * 7)?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> ForkJoinBuilder {
        ForkJoinBuilder {
            threads: processors(),
            spares: None,
            name: None,
            stack_size: None,
            keep_alive: Duration::from_secs(60),
            oldest_first: false,
            panic_handler: None,
            is_common: false,
        }
    }

    /// Builds a pool for tasks that submit other tasks and are not joined. The pool has one worker for each
    /// processor. Each worker takes the tasks of its own queue in the order in which they were added.
    ///
    /// ```
    /// use executor::{fork_join::ForkJoinPool, prelude::*};
    ///
    /// let pool = ForkJoinPool::work_stealing();
    /// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn work_stealing() -> Self {
        Self::builder().oldest_first().build().expect("there is a processor")
    }

    /// Returns the common pool. The common pool serves [`join`](super::join()) and the other functions of this
    /// module when they are called outside any pool.
    ///
    /// The first use makes the pool, with one worker for each processor that the process may use. If the
    /// environment variable `EXECUTOR_COMMON_THREADS` is a number from 1 to 16383 at the first use, the pool
    /// has that number of workers instead. Any other value of the variable is ignored.
    ///
    /// The common pool cannot be shut down. When `main` returns, the threads of this pool end in the middle
    /// of their jobs. So `main` should wait for all computations before it returns.
    ///
    /// ```
    /// use executor::fork_join::{ForkJoinPool, join};
    ///
    /// let (a, b) = ForkJoinPool::common().invoke(|| join(|| 6, || 7))?;
    /// assert_eq!(a * b, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "commonPool")]
    pub fn common() -> &'static Self {
        &COMMON
    }
}

lazy_static! {
    static ref COMMON: ForkJoinPool = make_common();
}

fn make_common() -> ForkJoinPool {
    let asked_for = std::env::var("EXECUTOR_COMMON_THREADS").ok().and_then(|number| number.parse().ok());
    let asked_for = asked_for.filter(|number| (1..=ForkJoinBuilder::MAX_THREADS / 2).contains(number));
    let builder = ForkJoinBuilder { is_common: true, ..ForkJoinPool::builder().name("common") };
    let builder = asked_for.into_iter().fold(builder, ForkJoinBuilder::threads);
    builder.build().expect("the number was checked")
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
fn processors() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Returns the number of workers that a pool has by default under a model checker.
#[cfg(any(feature = "loom", feature = "shuttle"))]
fn processors() -> usize {
    2
}

impl fmt::Debug for ForkJoinBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForkJoinBuilder").field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// The reason why a fork/join pool cannot be built.
///
/// ```
/// use executor::fork_join::{ForkJoinConfigError, ForkJoinPool};
///
/// assert_eq!(ForkJoinPool::new(0).unwrap_err(), ForkJoinConfigError::NoThreads);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForkJoinConfigError {
    /// The pool would have no threads.
    NoThreads,
    /// The pool would have more threads than [`ForkJoinBuilder::MAX_THREADS`].
    TooManyThreads {
        /// The requested number of threads.
        threads: usize,
        /// The number of spare threads that the pool would have.
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

into_io_error!(ForkJoinConfigError => kind InvalidInput);
