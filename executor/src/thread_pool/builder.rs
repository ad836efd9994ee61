//! The builder of a pool: each setting, its effect, and its interaction with the other settings.

use std::fmt;

use super::ThreadPoolExecutor;
use super::ending::DropPolicy;
use super::factory::{NamedThreads, ThreadFactory};
use super::hooks::Hooks;
use super::queue::{FifoQueue, WorkQueue};
use super::rejection::{Abort, RejectionHandler};
use super::settings::{PoolConfigError, PoolSettings, in_arc};
use super::shared::PoolShared;
use super::watchdog::{LongTask, Watchdog};
use crate::cancel::CancelToken;
use crate::panics::PanicHandler;
use crate::sync::{Arc, Duration};
use crate::waiting::starvation::OnStarvation;

/// Builds a [`ThreadPoolExecutor`] from its settings.
///
/// # Sizes and queue
///
/// For a new task, the pool takes the first of these rules that applies:
///
/// 1. the pool has fewer threads than [`core_threads`](Self::core_threads): a new thread starts with the
///    task, even if other threads are idle;
/// 2. the [`queue`](Self::queue) accepts the task: it waits there;
/// 3. the pool has fewer threads than [`maximum_threads`](Self::maximum_threads): a new thread starts with
///    the task;
/// 4. the [saturation policy](Self::rejection_handler) decides about the task.
///
/// So a pool with an unbounded queue never has more threads than its core size, and the maximum size matters
/// only with a queue that can be full. [`threads_first`](Self::threads_first) swaps rules 2 and 3. Threads
/// above the core size end when they have been idle for the [`keep_alive`](Self::keep_alive) time.
///
/// A running pool has a getter and a setter for each setting that can be changed later. The getter has the
/// name of the setting; the setter has `set_` before that name:
/// [`core_threads`](ThreadPoolExecutor::core_threads) and
/// [`set_core_threads`](ThreadPoolExecutor::set_core_threads), for instance.
///
/// ```
/// use std::time::Duration;
/// use executor::{CallerRuns, FifoQueue, ThreadPoolExecutor};
///
/// let pool = ThreadPoolExecutor::builder()
///     .core_threads(4)
///     .maximum_threads(16)
///     .keep_alive(Duration::from_secs(30))
///     .queue(FifoQueue::bounded(100))
///     .rejection_handler(CallerRuns)
///     .build()?;
/// # Ok::<(), executor::PoolConfigError>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct ThreadPoolBuilder {
    core: usize,
    maximum: Option<usize>,
    keep_alive: Duration,
    core_timeout: bool,
    threads_first: bool,
    prestart: bool,
    queue: Box<dyn WorkQueue>,
    rejection: Arc<dyn RejectionHandler>,
    factory: Option<Arc<dyn ThreadFactory>>,
    hooks: Option<Box<dyn Hooks>>,
    watchdog: Option<Watchdog>,
    panic_handler: Option<Arc<dyn PanicHandler>>,
    on_drop: DropPolicy,
    token: Option<CancelToken>,
    on_starvation: OnStarvation,
}

impl ThreadPoolBuilder {
    pub(super) fn new() -> Self {
        Self {
            core: 1,
            maximum: None,
            keep_alive: Duration::from_secs(60),
            core_timeout: false,
            threads_first: false,
            prestart: false,
            queue: Box::new(FifoQueue::unbounded()),
            rejection: Arc::new(Abort),
            factory: None,
            hooks: None,
            watchdog: None,
            panic_handler: None,
            on_drop: DropPolicy::Finish,
            token: None,
            on_starvation: OnStarvation::Report,
        }
    }

    /// Sets the core size: as long as the pool has fewer threads, each new task starts a thread, and these
    /// threads are kept. Default: 1.
    ///
    /// Zero is allowed. A pool of core size zero has no threads while it is idle. Such a pool starts a thread
    /// for the first task, and further threads only when the queue refuses a task.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// let pool = ThreadPoolExecutor::builder().core_threads(2).build()?;
    /// assert_eq!((pool.core_threads(), pool.stats().threads), (2, 0)); // threads start with the tasks
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "corePoolSize")]
    pub fn core_threads(mut self, threads: usize) -> Self {
        self.core = threads;
        self
    }

    /// Sets the maximum size: the largest number of threads that the pool may have. Default: as many as
    /// `core_threads`, but at least one.
    ///
    /// ```
    /// use executor::{HandOffQueue, ThreadPoolExecutor};
    ///
    /// let pool = ThreadPoolExecutor::builder()
    ///     .core_threads(1)
    ///     .maximum_threads(8)
    ///     .queue(HandOffQueue::new()) // refuses a task while all threads are busy, so the pool grows
    ///     .build()?;
    /// assert_eq!(pool.maximum_threads(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "maximumPoolSize")]
    pub fn maximum_threads(mut self, threads: usize) -> Self {
        self.maximum = Some(threads);
        self
    }

    /// Sets `core_threads` and `maximum_threads` to the same number, for a pool of fixed size.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// let pool = ThreadPoolExecutor::builder().threads(4).build()?;
    /// assert_eq!((pool.core_threads(), pool.maximum_threads()), (4, 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn threads(self, threads: usize) -> Self {
        self.core_threads(threads).maximum_threads(threads)
    }

    /// Sets the time for which a thread above the core size may be idle before it ends. Default: 60 s. If the
    /// time is too long for the clock, idle threads never end.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPoolExecutor::builder().keep_alive(Duration::from_secs(5)).build()?;
    /// assert_eq!(pool.keep_alive(), Duration::from_secs(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "keepAliveTime")]
    pub fn keep_alive(mut self, time: Duration) -> Self {
        self.keep_alive = time;
        self
    }

    /// Sets whether core threads also end when they have been idle for the keep-alive time. Default: no.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// let pool = ThreadPoolExecutor::builder().threads(4).core_timeout(true).build()?;
    /// assert!(pool.core_timeout()); // after a minute without tasks, the pool has no thread
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "allowCoreThreadTimeOut")]
    pub fn core_timeout(mut self, allowed: bool) -> Self {
        self.core_timeout = allowed;
        self
    }

    /// Starts threads up to the maximum size before tasks are queued, and not only when the queue is full.
    /// With this setting the pool reaches the maximum even if the queue has no bound. Default: tasks are
    /// queued first.
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let pool = ThreadPoolExecutor::builder().core_threads(1).maximum_threads(2).threads_first().build()?;
    /// let end = Arc::new(Latch::new(1));
    /// for _ in 0..2 {
    ///     let until = Arc::clone(&end);
    ///     pool.execute(move || until.wait().unwrap())?;
    /// }
    /// assert_eq!((pool.stats().threads, pool.stats().queued), (2, 0));
    /// end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn threads_first(mut self) -> Self {
        self.threads_first = true;
        self
    }

    /// Starts the core threads during [`build`](Self::build), and not only when the first tasks arrive.
    ///
    /// ```
    /// use executor::ThreadPoolExecutor;
    ///
    /// let pool = ThreadPoolExecutor::builder().threads(2).prestart().build()?;
    /// assert_eq!(pool.stats().threads, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "prestartAllCoreThreads")]
    pub fn prestart(mut self) -> Self {
        self.prestart = true;
        self
    }

    /// Sets the queue in which tasks wait. Default: [`FifoQueue::unbounded`].
    ///
    /// To choose a queue at run time, put it into a box:
    ///
    /// ```
    /// use executor::{FifoQueue, PriorityQueue, ThreadPoolExecutor, WorkQueue};
    ///
    /// # let urgent_first = true;
    /// let queue: Box<dyn WorkQueue> =
    ///     if urgent_first { Box::new(PriorityQueue::new()) } else { Box::new(FifoQueue::unbounded()) };
    /// let pool = ThreadPoolExecutor::builder().queue(queue).build()?;
    /// # Ok::<(), executor::PoolConfigError>(())
    /// ```
    pub fn queue(mut self, queue: impl WorkQueue + 'static) -> Self {
        self.queue = Box::new(queue);
        self
    }

    /// Sets the handler that decides about a task for which there is no room. Default: [`Abort`].
    ///
    /// ```
    /// use executor::{CallerRuns, HandOffQueue, ThreadPoolExecutor, prelude::*};
    /// use std::thread;
    ///
    /// let pool = ThreadPoolExecutor::builder()
    ///     .core_threads(0)
    ///     .queue(HandOffQueue::new())
    ///     .rejection_handler(CallerRuns)
    ///     .build()?;
    /// # let end = std::sync::Arc::new(executor::Latch::new(1));
    /// # let until = end.clone();
    /// # let keep_busy = move || until.wait().unwrap();
    /// pool.execute(keep_busy)?; // the only thread has a task now
    /// assert_eq!(pool.submit(|| thread::current().id())?.join()?, thread::current().id());
    /// # end.count_down();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rejection_handler(mut self, handler: impl RejectionHandler + 'static) -> Self {
        self.rejection = in_arc::<_, dyn RejectionHandler>(handler, |handler| Arc::new(handler));
        self
    }

    /// Sets the factory that starts the threads. Default: [`NamedThreads`] called `pool-1`, `pool-2`, …
    ///
    /// ```
    /// use executor::{NamedThreads, ThreadPoolExecutor, prelude::*};
    ///
    /// let small_stacks = NamedThreads::new("probe").stack_size(64 * 1024);
    /// let pool = ThreadPoolExecutor::builder().thread_factory(small_stacks).build()?;
    /// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread_factory(mut self, factory: impl ThreadFactory + 'static) -> Self {
        self.factory = Some(in_arc::<_, dyn ThreadFactory>(factory, |factory| Arc::new(factory)));
        self
    }

    /// Names the threads `NAME-thread-1`, …, by a [`NamedThreads`] factory.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::builder().name("import").build()?;
    /// let name = pool.submit(|| std::thread::current().name().map(str::to_owned))?.join()?;
    /// assert_eq!(name.as_deref(), Some("import-thread-1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(self, name: impl Into<String>) -> Self {
        self.thread_factory(NamedThreads::new(name))
    }

    /// Sets the hooks that the pool calls around each task. Default: none.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, Timing, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let timing = Arc::new(Timing::new());
    /// let pool = ThreadPoolExecutor::builder().hooks(Arc::clone(&timing)).build()?;
    /// pool.submit(|| 6 * 7)?.join()?;
    /// assert_eq!(timing.tasks(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hooks(mut self, hooks: impl Hooks + 'static) -> Self {
        self.hooks = Some(Box::new(hooks));
        self
    }

    /// Sets a watchdog, which calls the handler once for each task that runs for longer than `limit`.
    /// Default: none.
    ///
    /// The watchdog looks at the running tasks four times in each period of `limit`, but at most once every
    /// millisecond. So when a task has run for 1.25 times the limit, the handler has been told of it. A task
    /// that ends between the limit and that time may be missed. The handler is never told of a task that ends
    /// within the limit. The pool does not read the clock for each task. The watchdog has no thread of its
    /// own: the timer of the process looks at the tasks, even while the pool is idle.
    ///
    /// The handler runs on a thread of the timer, outside all locks, and may block. For example, it may make
    /// a [dump](crate::dump()). A panic in the handler goes to the [panic handler](crate::panics). The tasks
    /// of a [`SerialExecutor`](crate::SerialExecutor) or of a stripe run inside a drain task. The handler,
    /// like [hooks](crate::TaskInfo), is told only of a long turn of the drain task, and not of each task in
    /// that turn. The watchdog does not watch a pool that was dropped or has terminated.
    ///
    /// ```
    /// use executor::{LongTask, ThreadPoolExecutor, prelude::*};
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    ///
    /// let (tell, told) = mpsc::channel();
    /// let handler = move |task: &LongTask<'_>| {
    ///     eprintln!("{task}");
    ///     tell.send((task.id, task.ran)).unwrap();
    /// };
    /// let limit = Duration::from_millis(20);
    /// let pool = ThreadPoolExecutor::builder().watchdog(limit, handler).build()?;
    /// let slow = pool.submit_cancellable(|token| token.sleep(Duration::from_secs(3600)))?;
    /// let (id, ran) = told.recv()?;
    /// assert!(id == slow.id() && ran >= limit);
    /// slow.cancel();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn watchdog(
        mut self,
        limit: Duration,
        handler: impl Fn(&LongTask<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.watchdog = Some(Watchdog::new(limit, handler));
        self
    }

    /// Sets the handler for the panics of this pool's tasks, if no client reads the panic from a handle.
    /// Default: [the handler of the process](crate::panics::set_handler). In an [`Arc`],
    /// several pools can share a handler:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use executor::{ThreadPoolExecutor, panics::{PanicHandler, PanicReport}};
    ///
    /// let log: Arc<dyn PanicHandler> = Arc::new(|report: &PanicReport<'_>| eprintln!("{report}"));
    /// let pages = ThreadPoolExecutor::builder().name("pages").panic_handler(Arc::clone(&log)).build()?;
    /// let images = ThreadPoolExecutor::builder().name("images").panic_handler(log).build()?;
    /// # Ok::<(), executor::PoolConfigError>(())
    /// ```
    #[doc(alias = "uncaughtExceptionHandler")]
    pub fn panic_handler(mut self, handler: impl PanicHandler + 'static) -> Self {
        self.panic_handler = Some(Arc::new(handler));
        self
    }

    /// Sets what the pool does with its tasks when the pool is dropped. Default: [`DropPolicy::Finish`].
    ///
    /// ```
    /// use executor::{DropPolicy, JoinError, ThreadPoolExecutor, prelude::*};
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPoolExecutor::builder().on_drop(DropPolicy::Cancel).build()?;
    /// let nap = pool.submit_cancellable(|token| token.sleep(Duration::from_secs(3600)))?;
    /// drop(pool);
    /// assert!(matches!(nap.join(), Err(JoinError::Cancelled(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_drop(mut self, policy: DropPolicy) -> Self {
        self.on_drop = policy;
        self
    }

    /// Connects the pool with `token`: the pool's root token becomes a child of `token`, and cancelling
    /// `token` stops the pool. Default: no parent.
    ///
    /// When `token` is cancelled, the tokens of all tasks of the pool are cancelled, too, so the running
    /// tasks see the request and its [reason](CancelToken::reason) at once. Next, a callback of the token
    /// stops the pool, as [`shutdown_now`](crate::ExecutorService::shutdown_now) does, and drops the tasks
    /// that have not begun. So the handles of the dropped tasks complete as cancelled. (A task that a thread
    /// takes in between begins with a cancelled token.) The pool accepts no more tasks, and is terminated
    /// when the running tasks have ended. The token and the pool can be dropped in any order. A shutdown of
    /// the pool does not cancel the token.
    ///
    /// Use a token for a service of several pools that end together, or for a pool with a deadline:
    ///
    /// ```
    /// use std::time::Duration;
    /// use executor::{CancelToken, ThreadPoolExecutor, prelude::*};
    ///
    /// let service = CancelToken::new();
    /// let pages = ThreadPoolExecutor::builder().threads(2).cancel_token(&service).build()?;
    /// let images = ThreadPoolExecutor::builder().threads(4).cancel_token(&service).build()?;
    /// images.submit_cancellable(|token| token.sleep(Duration::from_secs(3600)))?;
    /// service.cancel();
    /// assert!(pages.await_termination(Duration::from_secs(30)) && images.await_termination(Duration::from_secs(30)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel_token(mut self, token: &CancelToken) -> Self {
        self.token = Some(token.clone());
        self
    }

    /// Sets what the pool does when all its threads wait, directly or through other tasks, for tasks in the
    /// queue, so that these waits could never end. Default: [`OnStarvation::Report`], an error.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use executor::{OnStarvation, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::builder().on_starvation(OnStarvation::Help { depth: 8 }).build()?;
    /// let pool = Arc::new(pool); // of one thread
    /// let own = Arc::clone(&pool);
    /// let page = pool.submit(move || own.submit(|| "<h1>").unwrap().join().unwrap())?;
    /// assert_eq!(page.join()?, "<h1>");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_starvation(mut self, what: OnStarvation) -> Self {
        self.on_starvation = what;
        self
    }

    /// Makes the pool. No thread is started yet, unless [`prestart`](Self::prestart) was called.
    ///
    /// ```
    /// use executor::{PoolConfigError, ThreadPoolExecutor};
    ///
    /// assert!(ThreadPoolExecutor::builder().threads(2).build().is_ok());
    /// let error = ThreadPoolExecutor::builder().threads(0).build().unwrap_err();
    /// assert_eq!(error, PoolConfigError::ZeroThreads);
    /// ```
    ///
    /// # Errors
    /// [`PoolConfigError`] if settings contradict each other.
    pub fn build(self) -> Result<ThreadPoolExecutor, PoolConfigError> {
        let factory = self.factory.unwrap_or_else(|| Arc::new(NamedThreads::of_next_pool()));
        let settings = PoolSettings {
            core: self.core,
            maximum: self.maximum.unwrap_or(self.core.max(1)),
            keep_alive: self.keep_alive,
            core_timeout: self.core_timeout,
            threads_first: self.threads_first,
            bounded: self.queue.capacity().is_some(),
            name: factory.name().map(Arc::from),
            factory,
            rejection: self.rejection,
        };
        settings.check()?;
        let root = self.token.as_ref().map_or_else(CancelToken::new, CancelToken::child);
        let shared = PoolShared::new(
            self.queue,
            settings,
            self.hooks,
            self.watchdog,
            self.panic_handler,
            root,
            self.on_starvation,
        );
        shared.watch();
        if let Some(token) = &self.token {
            shared.hang_on(token);
        }
        let pool = ThreadPoolExecutor { shared, on_drop: self.on_drop };
        if self.prestart {
            pool.prestart_all_core_threads();
        }
        Ok(pool)
    }
}

impl fmt::Debug for ThreadPoolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPoolBuilder")
            .field("core_threads", &self.core)
            .field("maximum_threads", &self.maximum)
            .field("keep_alive", &self.keep_alive)
            .field("core_timeout", &self.core_timeout)
            .finish_non_exhaustive()
    }
}
