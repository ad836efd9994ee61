//! Thread factories, which start the threads of a pool.

use std::fmt;
use std::io;

use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::ids::AtomicU64 as IdCounter;
use crate::sync::{Arc, Duration, Instant, Mutex, system_name, thread};

/// Starts the threads of a pool.
///
/// [`NamedThreads`] is enough for most pools. Implement this trait to give threads other properties: a
/// priority of the operating system, for example, or thread-locals that are set before the first task.
///
/// The submitter of a task calls the factory, outside all locks. The factory must not submit a task to its
/// own pool: while that pool has no other thread, the pool refuses such a task. If the factory panics or
/// fails, the task that needed the thread is queued for the other workers. Without other workers, the task is
/// refused. A pool with other threads waits for a millisecond before it calls a failed factory again. After
/// each further failure the waiting time doubles, up to a second.
///
/// ```
/// use executor::{ThreadFactory, ThreadPoolExecutor, Worker, prelude::*};
/// use std::{io, thread};
///
/// struct PlainThreads;
///
/// impl ThreadFactory for PlainThreads {
///     fn start(&self, worker: Worker) -> io::Result<()> {
///         thread::Builder::new().spawn(|| worker.run()).map(drop)
///     }
/// }
///
/// let pool = ThreadPoolExecutor::builder().thread_factory(PlainThreads).build()?;
/// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Blocking
/// A factory may let another thread run the worker after a short delay, but not after a long delay. If a
/// submitter's task must be queued and the pool has no other thread, the submitter waits until the worker has
/// begun or was dropped, or until the pool is shut down. Without this wait, perhaps no thread would ever run
/// the accepted task.
pub trait ThreadFactory: Send + Sync {
    /// Starts a thread that calls [`worker.run()`](Worker::run).
    ///
    /// ```
    /// # use executor::{NamedThreads, ThreadFactory, ThreadPoolExecutor, Worker, prelude::*};
    /// # use std::io;
    /// /// Passes the work on to another factory.
    /// struct Logged(NamedThreads);
    ///
    /// impl ThreadFactory for Logged {
    ///     fn start(&self, worker: Worker) -> io::Result<()> {
    ///         println!("one more thread");
    ///         self.0.start(worker)
    ///     }
    /// }
    /// #
    /// # let logged = Logged(NamedThreads::new("fetch"));
    /// # let pool = ThreadPoolExecutor::builder().thread_factory(logged).build()?;
    /// # assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The reason why the thread was not started. On failure, the factory must drop the worker. The factory
    /// must not keep the worker or pass it on.
    fn start(&self, worker: Worker) -> io::Result<()>;

    /// Returns the name with which reports, such as a [`Starvation`](crate::Starvation), refer to the pool
    /// that has this factory. A pool calls this method once, when it gets the factory. The default is `None`.
    ///
    /// ```
    /// use executor::{NamedThreads, ThreadFactory};
    ///
    /// assert_eq!(NamedThreads::new("fetch").name(), Some("fetch"));
    /// ```
    fn name(&self) -> Option<&str> {
        None
    }
}

/// The work of one thread of a pool. A [`ThreadFactory`] calls [`run`](Self::run) on the new thread.
///
/// If a worker is dropped and was never run, the pool knows that no thread will start for this worker.
///
/// ```
/// use executor::{ThreadFactory, ThreadPoolExecutor, Worker, prelude::*};
/// use std::{io, thread};
///
/// struct NoMoreThreads;
///
/// impl ThreadFactory for NoMoreThreads {
///     fn start(&self, worker: Worker) -> io::Result<()> {
///         drop(worker);
///         Err(io::Error::other("the machine is full"))
///     }
/// }
///
/// let pool = ThreadPoolExecutor::builder().thread_factory(NoMoreThreads).build()?;
/// assert!(pool.execute(|| println!("hello")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the pool counts on it to be run or dropped"]
pub struct Worker(Mutex<Option<WorkerBody>>); // the lock makes it `Sync`, so that an error can carry it

/// The body of a worker. The body's argument is true if the new thread runs the body, and false if the worker
/// is dropped before it was run.
type WorkerBody = Box<dyn FnOnce(bool) + Send>;

impl Worker {
    /// Makes a worker that calls `body` once.
    pub(super) fn new(body: impl FnOnce(bool) + Send + 'static) -> Self {
        Self(Mutex::new(Some(Box::new(body))))
    }

    /// Takes tasks from the pool and runs them, until the pool no longer needs this thread.
    ///
    /// ```
    /// use executor::{ThreadFactory, ThreadPoolExecutor, Worker, prelude::*};
    /// use std::{cell::Cell, io, thread};
    ///
    /// thread_local!(static PREPARED: Cell<bool> = const { Cell::new(false) });
    ///
    /// struct PreparedThreads;
    ///
    /// impl ThreadFactory for PreparedThreads {
    ///     fn start(&self, worker: Worker) -> io::Result<()> {
    ///         let body = || {
    ///             PREPARED.set(true); // before the first task
    ///             worker.run();
    ///         };
    ///         thread::Builder::new().spawn(body).map(drop)
    ///     }
    /// }
    ///
    /// let pool = ThreadPoolExecutor::builder().thread_factory(PreparedThreads).build()?;
    /// assert!(pool.submit(|| PREPARED.get())?.join()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    /// Blocks until the thread has ended its work for the pool.
    pub fn run(self) {
        self.call(true);
    }

    fn call(&self, runs: bool) {
        let body = self.0.lock().take();
        if let Some(body) = body {
            body(runs);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.call(false);
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Worker")
    }
}

/// How long a pool with other threads waits before it calls a failed factory again: see
/// [`ThreadFactory`].
#[derive(Default)]
pub(super) struct Backoff {
    failures: u32,
    until: Option<Instant>,
}

impl Backoff {
    pub(super) fn after_failure(&mut self) {
        self.until = Instant::now().checked_add(Duration::from_millis(1 << self.failures));
        self.failures = (self.failures + 1).min(10);
    }

    /// Forgets the failures, because a worker has begun or the pool has a new factory now.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    pub(super) fn is_over(&self) -> bool {
        self.until.is_none_or(|until| Instant::now() >= until)
    }
}

/// The default factory, which names its threads, sets the size of their stacks, and counts the threads.
///
/// ```
/// use std::sync::Arc;
/// use executor::{NamedThreads, ThreadPoolExecutor, prelude::*};
///
/// let threads = Arc::new(NamedThreads::new("fetch").stack_size(256 * 1024));
/// let pool = ThreadPoolExecutor::builder().threads(2).thread_factory(threads.clone()).build()?;
/// let name = pool.submit(|| std::thread::current().name().map(str::to_owned))?.join()?;
/// assert_eq!(name.as_deref(), Some("fetch-thread-1"));
/// assert_eq!((threads.created(), threads.alive()), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Diagnostics
///
/// With the crate's feature `tracing`, the factory emits an event when a thread begins, when it ends, and
/// when the system refuses to start a thread. The events have the level *debug*, the target
/// `executor::threads`, and the fields `thread` (the name), `alive` (the number of living threads of this
/// factory) and, after a refusal, `error`. `RUST_LOG=executor=debug` shows these events in a program whose
/// subscriber reads this variable.
pub struct NamedThreads {
    name: String,
    stack_size: Option<usize>,
    created: AtomicU64,
    alive: Arc<AtomicUsize>,
}

impl NamedThreads {
    /// Makes a factory whose threads are named `NAME-thread-1`, `NAME-thread-2`, …
    ///
    /// Linux keeps 15 bytes of a thread's name. `top`, `ps` and debuggers show a longer name as the beginning
    /// of `NAME` and the whole number, for instance `orders-servi-12` for `orders-service-thread-12`.
    pub fn new(name: impl Into<String>) -> Self {
        let (created, alive) = (AtomicU64::new(0), Arc::new(AtomicUsize::new(0)));
        Self { name: name.into(), stack_size: None, created, alive }
    }

    /// Makes the default factory of a pool: its threads are named `pool-1-thread-1`, with a different first
    /// number for each pool.
    pub(super) fn of_next_pool() -> Self {
        static POOLS: IdCounter = IdCounter::new(1);
        Self::new(format!("pool-{}", POOLS.fetch_add(1, Ordering::Relaxed)))
    }

    /// Sets the stack size of each thread, in bytes. The default is 2 MiB, as for threads of the standard
    /// library; a stack takes memory only for the pages that the thread uses.
    ///
    /// ```
    /// use executor::{NamedThreads, ThreadPoolExecutor, prelude::*};
    ///
    /// let deep = NamedThreads::new("parse").stack_size(16 * 1024 * 1024);
    /// let pool = ThreadPoolExecutor::builder().thread_factory(deep).build()?;
    /// let on_the_stack = pool.submit(|| std::hint::black_box([1_u8; 4 * 1024 * 1024]).len())?;
    /// assert_eq!(on_the_stack.join()?, 4 * 1024 * 1024);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Returns the number of threads that the factory has started so far.
    ///
    /// ```
    /// use executor::{NamedThreads, ThreadPoolExecutor};
    /// use std::sync::Arc;
    ///
    /// let threads = Arc::new(NamedThreads::new("fetch"));
    /// let builder = ThreadPoolExecutor::builder().threads(2).prestart();
    /// let pool = builder.thread_factory(threads.clone()).build()?;
    /// assert_eq!(threads.created(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn created(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }

    /// Returns the number of threads of this factory that have not ended.
    ///
    /// ```
    /// use executor::{NamedThreads, ThreadPoolExecutor};
    /// use std::sync::Arc;
    ///
    /// let threads = Arc::new(NamedThreads::new("fetch"));
    /// let builder = ThreadPoolExecutor::builder().threads(2).prestart();
    /// let pool = builder.thread_factory(threads.clone()).build()?;
    /// assert_eq!(threads.alive(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn alive(&self) -> usize {
        self.alive.load(Ordering::Relaxed)
    }
}

impl ThreadFactory for NamedThreads {
    fn start(&self, worker: Worker) -> io::Result<()> {
        let number = self.created.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("{}-thread-{number}", self.name);
        let mut life = AliveThread::new(&name, &self.alive); // dropped with the closure if no thread starts
        let mut builder = thread::Builder::new().name(name.clone());
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(bytes);
        }
        let for_system = system_name::short(&name, &self.name, number);
        let started = builder.spawn(move || {
            if let Some(name) = for_system {
                system_name::set(&name);
            }
            life.begin();
            worker.run();
        });
        if let Err(error) = started {
            self.created.fetch_sub(1, Ordering::Relaxed);
            events::refused(&name, self.alive(), &error);
            return Err(error);
        }
        Ok(())
    }

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }
}

/// Counts a thread as alive until this value is dropped. Logs that the thread begins, and later that it ends.
struct AliveThread {
    thread: String,
    alive: Arc<AtomicUsize>,
    begun: bool,
}

impl AliveThread {
    fn new(thread: &str, alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self { thread: thread.to_owned(), alive: Arc::clone(alive), begun: false }
    }

    fn begin(&mut self) {
        events::began(&self.thread, self.alive.load(Ordering::Relaxed));
        self.begun = true;
    }
}

impl Drop for AliveThread {
    fn drop(&mut self) {
        let left = self.alive.fetch_sub(1, Ordering::Relaxed) - 1;
        if self.begun {
            events::ended(&self.thread, left);
        }
    }
}

/// Events about threads. Subscribers are called on the new thread or on the submitter's thread, outside all
/// locks.
#[cfg(feature = "tracing")]
mod events {
    use std::io;

    use tracing::debug;

    const TARGET: &str = "executor::threads";

    pub(super) fn began(thread: &str, alive: usize) {
        debug!(target: TARGET, thread, alive, "a thread begins");
    }

    pub(super) fn ended(thread: &str, alive: usize) {
        debug!(target: TARGET, thread, alive, "a thread has ended");
    }

    pub(super) fn refused(thread: &str, alive: usize, error: &io::Error) {
        debug!(target: TARGET, thread, alive, error = %error, "a thread could not be started");
    }
}
#[cfg(not(feature = "tracing"))]
mod events {
    use std::io;

    pub(super) fn began(_thread: &str, _alive: usize) {}
    pub(super) fn ended(_thread: &str, _alive: usize) {}
    pub(super) fn refused(_thread: &str, _alive: usize, _error: &io::Error) {}
}

impl<F: ThreadFactory + ?Sized> ThreadFactory for Arc<F> {
    fn start(&self, worker: Worker) -> io::Result<()> {
        (**self).start(worker)
    }

    fn name(&self) -> Option<&str> {
        (**self).name()
    }
}

impl fmt::Debug for NamedThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedThreads")
            .field("name", &self.name)
            .field("created", &self.created())
            .field("alive", &self.alive())
            .finish_non_exhaustive()
    }
}
