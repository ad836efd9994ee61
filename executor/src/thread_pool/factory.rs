//! Where a pool's threads come from.

use std::fmt;
use std::io;

use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::ids::AtomicU64 as IdCounter;
use crate::sync::{Arc, Duration, Instant, Mutex, thread};

/// Starts the threads of a pool.
///
/// Implement it to give threads what the pool knows nothing of: a priority of the operating system, a place
/// in a scheduler's group, thread-locals set up before the first task. [`NamedThreads`] does what most pools
/// want.
///
/// It is called by the thread that submits a task, outside all locks. It must not submit to the pool that it
/// works for: while that pool has no other thread, such a task is refused. If the factory panics or fails,
/// the task that needed the thread is queued if other workers live, and refused otherwise. A factory whose
/// threads do not come is not asked again for a millisecond, then two, then four, up to a second, as long as
/// the pool has other threads.
///
/// # Blocking
/// A worker may be handed on and run later, but not much later. While the pool has no other thread, a call
/// that submits a task to be queued waits until the worker has begun or was dropped, or until the pool is
/// shut down. Otherwise a task could be accepted that no thread will ever run.
pub trait ThreadFactory: Send + Sync {
    /// Starts a thread that calls [`worker.run()`](Worker::run).
    ///
    /// # Errors
    /// Whatever kept the thread from being started. On failure, drop the worker; do not keep it or pass it
    /// on.
    fn start(&self, worker: Worker) -> io::Result<()>;

    /// What its threads are called together, for reports that name their pool, such as a
    /// [`Starvation`](crate::Starvation). Asked once, when a pool is given the factory. Nothing unless it is
    /// overridden.
    fn name(&self) -> Option<&str> {
        None
    }
}

/// The work of one thread of a pool: what a [`ThreadFactory`] has to run on the thread that it starts.
///
/// Dropping it tells the pool that this thread will not come.
#[must_use = "the pool counts on it to be run or dropped"]
pub struct Worker(Mutex<Option<WorkerBody>>); // never contended: the lock makes it `Sync`, so that an error can carry it

/// What to do with what becomes of the thread: true on the new thread, false if there will be none.
type WorkerBody = Box<dyn FnOnce(bool) + Send>;

impl Worker {
    /// `body` is called once.
    pub(super) fn new(body: impl FnOnce(bool) + Send + 'static) -> Self {
        Self(Mutex::new(Some(Box::new(body))))
    }

    /// Takes tasks from the pool and runs them, until the pool has no more use for this thread.
    pub fn run(self) {
        if let Some(body) = self.take() {
            body(true);
        }
    }

    fn take(&self) -> Option<WorkerBody> {
        self.0.lock().take()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(body) = self.take() {
            body(false);
        }
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Worker")
    }
}

/// Keeps submitters from asking a factory that fails again and again, as long as there are other threads:
/// after each worker that did not come they wait twice as long as before, 1 ms at first and about a second at
/// most.
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

    /// A worker has come, or the factory is another one.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    pub(super) fn is_over(&self) -> bool {
        self.until.is_none_or(|until| Instant::now() >= until)
    }
}

/// The usual factory: threads with numbered names, a stack of chosen size, and a count of them.
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
/// With the crate's feature `tracing`, each thread is an event when it begins and when it ends, and so is one
/// that the system refuses to start. They are of level *debug* and have the target `executor::threads`, with
/// the fields `thread` (its name), `alive` (how many threads of this factory there are now) and, of a refused
/// one, `error`. So `RUST_LOG=executor=debug` shows them in a program whose subscriber obeys that variable.
pub struct NamedThreads {
    name: String,
    stack_size: Option<usize>,
    created: AtomicU64,
    alive: Arc<AtomicUsize>,
}

impl NamedThreads {
    /// Threads are named `NAME-thread-1`, `NAME-thread-2`, …
    pub fn new(name: impl Into<String>) -> Self {
        let (created, alive) = (AtomicU64::new(0), Arc::new(AtomicUsize::new(0)));
        Self { name: name.into(), stack_size: None, created, alive }
    }

    /// The names that a pool's threads have by default: `pool-1-thread-1`, with a number for each pool.
    pub(super) fn of_next_pool() -> Self {
        static POOLS: IdCounter = IdCounter::new(1);
        Self::new(format!("pool-{}", POOLS.fetch_add(1, Ordering::Relaxed)))
    }

    /// How much stack each thread gets, in bytes. By default as much as the standard library's threads: 2
    /// MiB, of which only what is touched takes memory.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// How many threads it has started so far.
    pub fn created(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }

    /// How many of them have not ended.
    pub fn alive(&self) -> usize {
        self.alive.load(Ordering::Relaxed)
    }
}

impl ThreadFactory for NamedThreads {
    fn start(&self, worker: Worker) -> io::Result<()> {
        let number = self.created.fetch_add(1, Ordering::Relaxed) + 1;
        let name = format!("{}-thread-{number}", self.name);
        let mut life = AliveThread::new(&name, &self.alive); // dropped with the closure if there is no thread
        let mut builder = thread::Builder::new().name(name.clone());
        if let Some(bytes) = self.stack_size {
            builder = builder.stack_size(bytes);
        }
        let started = builder.spawn(move || {
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

/// Counts a thread as alive, from when it is ordered until this is dropped, and says when it begins and ends.
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

/// What is said of threads. Subscribers run outside all locks: on the thread itself, or on that of the
/// submitter.
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
