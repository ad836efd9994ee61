//! The programming interface of the shutdown hooks: the builder, the guard and the hooks.

use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Deref;

use super::signals::Signals;
use super::state::{HooksShared, Shutdown, ShutdownCause};
use crate::executor::ExecutorService;
use crate::panics::discard;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Duration, thread};
use crate::thread_pool::Stopper;

/// The hooks of this process: they run before the process ends. The [module's page](super) says when the
/// hooks run, and in which order.
///
/// All clones share the same hooks. Give a clone to each part of the program that registers hooks.
///
/// ```
/// use executor::shutdown_hooks::ShutdownHooks;
/// use std::sync::mpsc;
///
/// let guard = ShutdownHooks::builder().install()?;
/// let (sender, receiver) = mpsc::channel();
/// for name in ["log", "pool"] {
///     let sender = sender.clone();
///     guard.add(name, move |_| sender.send(name).unwrap())?;
/// }
/// drop(guard); // at the end of `main`
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["pool", "log"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "Runtime.addShutdownHook")]
#[derive(Clone)]
pub struct ShutdownHooks {
    shared: Arc<HooksShared>,
}

/// A guard whose drop runs the hooks of the process. Keep the guard in a variable of `main`.
///
/// ```
/// use executor::shutdown_hooks::{ShutdownCause, ShutdownHooks};
///
/// let guard = ShutdownHooks::builder().install()?;
/// guard.add("log", |shutdown| assert_eq!(shutdown.cause(), ShutdownCause::End))?;
/// let hooks = guard.clone();
/// drop(guard); // runs the hook
/// assert_eq!(hooks.cause(), Some(ShutdownCause::End));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Blocking
/// The drop starts the hooks and waits until they have run. If the deadline passes before the last hook has
/// run, the process ends. If a signal or [`exit`](ShutdownHooks::exit) has begun the shutdown, the drop does
/// not return, because `main` must not end the process before the hooks have run.
#[must_use = "dropping it runs the hooks"]
#[derive(Debug)]
pub struct ShutdownGuard {
    hooks: ShutdownHooks,
}

/// A registered hook. The hook stays registered when this value is dropped.
///
/// ```
/// use executor::shutdown_hooks::ShutdownHooks;
///
/// let guard = ShutdownHooks::builder().install()?;
/// let hook = guard.add("temporary file", |_| unreachable!("the hook is removed"))?;
/// hook.remove()?; // the file was deleted earlier
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ShutdownHook {
    hooks: ShutdownHooks,
    key: u64,
}

/// The shutdown of the process has begun, so no hook can be added or removed.
///
/// ```
/// use executor::shutdown_hooks::{ShutdownBegun, ShutdownHooks};
///
/// let guard = ShutdownHooks::builder().install()?;
/// guard.begin();
/// assert!(matches!(guard.add("late", |_| ()), Err(ShutdownBegun { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "IllegalStateException")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShutdownBegun;

/// Settings of the [`ShutdownHooks`].
///
/// ```
/// use executor::shutdown_hooks::ShutdownHooks;
/// use std::time::Duration;
///
/// let builder = ShutdownHooks::builder().deadline(Duration::from_secs(30)).status_at_deadline(3);
/// let guard = builder.install()?;
/// assert_eq!(guard.cause(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ShutdownBuilder {
    deadline: Duration,
    status_at_deadline: Option<i32>,
}

impl ShutdownHooks {
    /// Returns a builder with a deadline of ten seconds.
    ///
    /// ```
    /// use executor::shutdown_hooks::ShutdownHooks;
    ///
    /// let guard = ShutdownHooks::builder().install()?;
    /// assert_eq!(guard.cause(), None); // no shutdown has begun
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> ShutdownBuilder {
        ShutdownBuilder { deadline: Duration::from_secs(10), status_at_deadline: None }
    }

    /// Registers a hook that runs when the process ends. The hook runs before all hooks that are registered
    /// already. All hooks run on one thread that runs nothing else.
    ///
    /// A panic in the hook goes to the [panic handler](crate::panics) of the process, and the next hook runs.
    /// A hook that blocks delays the other hooks, until the deadline ends the process. A hook may call
    /// [`exit`](Self::exit): the hook ends at that call.
    ///
    /// ```
    /// use executor::shutdown_hooks::ShutdownHooks;
    /// use std::sync::mpsc;
    ///
    /// let guard = ShutdownHooks::builder().install()?;
    /// let (sender, receiver) = mpsc::channel();
    /// guard.add("log", move |_| sender.send("flushed").unwrap())?;
    /// drop(guard); // at the end of `main`
    /// assert_eq!(receiver.try_recv()?, "flushed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ShutdownBegun`] if the hooks are running or have run. The refused hook is dropped.
    pub fn add(
        &self,
        name: impl Into<String>,
        hook: impl FnOnce(&Shutdown<'_>) + Send + 'static,
    ) -> Result<ShutdownHook, ShutdownBegun> {
        let key = self.shared.add(name.into(), Box::new(hook)).ok_or(ShutdownBegun)?;
        Ok(ShutdownHook { hooks: self.clone(), key })
    }

    /// Registers a hook that ends a pool. The hook shuts the pool down and waits until the pool's tasks have
    /// ended, but not longer than the time `grace`. Then the hook cancels the running tasks, drops the
    /// waiting tasks, and waits again, until the common deadline of all hooks.
    ///
    /// The hook holds a weak reference, and does nothing if the pool was dropped before. If the pool is not in
    /// an `Arc`, use [`add_stopper`](Self::add_stopper).
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, prelude::*, shutdown_hooks::ShutdownHooks};
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let guard = ShutdownHooks::builder().install()?;
    /// let pool = Arc::new(ThreadPoolExecutor::fixed(2));
    /// guard.add_pool("pool", &pool, Duration::from_secs(5))?;
    /// let answer = pool.submit(|| 6 * 7)?;
    /// drop(guard); // at the end of `main`
    /// assert!(answer.is_finished() && pool.is_terminated());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors are the same as for [`add`](Self::add).
    pub fn add_pool<S>(
        &self,
        name: impl Into<String>,
        pool: &Arc<S>,
        grace: Duration,
    ) -> Result<ShutdownHook, ShutdownBegun>
    where
        S: ExecutorService + ?Sized + 'static,
    {
        let pool = Arc::downgrade(pool);
        self.add(name, move |shutdown| {
            let Some(pool) = pool.upgrade() else { return };
            pool.shutdown();
            if !pool.await_termination(grace.min(shutdown.left())) {
                discard(pool.shutdown_now());
                pool.await_termination(shutdown.left());
            }
        })
    }

    /// Registers a hook that ends the pool of a [`Stopper`], as [`add_pool`](Self::add_pool) does.
    ///
    /// Use this method for a pool that another value owns, such as a variable of `main` or another executor.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use executor::ThreadPoolExecutor;
    /// use executor::shutdown_hooks::ShutdownHooks;
    ///
    /// fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let shutdown = ShutdownHooks::builder().install()?;
    ///     let pool = ThreadPoolExecutor::fixed(4);
    ///     shutdown.add_stopper("pool", pool.stopper(), Duration::from_secs(5))?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// The errors are the same as for [`add`](Self::add).
    pub fn add_stopper(
        &self,
        name: impl Into<String>,
        stopper: Stopper,
        grace: Duration,
    ) -> Result<ShutdownHook, ShutdownBegun> {
        self.add(name, move |shutdown| {
            stopper.shutdown();
            if !stopper.await_termination(grace.min(shutdown.left())) {
                discard(stopper.shutdown_now());
                stopper.await_termination(shutdown.left());
            }
        })
    }

    /// Begins the shutdown as a signal does, but does not end the process. `main` must end the process, by
    /// returning or by [`exit`](Self::exit). The deadline also applies to `main`, until the
    /// [guard](ShutdownGuard) is dropped. The next signal ends the process at once.
    ///
    /// Use this call in a program that clients can stop without a signal. The call returns at once, and
    /// returns false if the shutdown had begun already.
    ///
    /// ```
    /// use executor::shutdown_hooks::{ShutdownCause, ShutdownHooks};
    ///
    /// let guard = ShutdownHooks::builder().install()?;
    /// assert!(guard.begin()); // a client has sent the command to stop
    /// assert!(!guard.begin());
    /// assert_eq!(guard.cause(), Some(ShutdownCause::Requested));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn begin(&self) -> bool {
        self.shared.begin(ShutdownCause::Requested)
    }

    /// Returns the cause of the shutdown, or `None` if no shutdown has begun.
    ///
    /// ```
    /// use executor::shutdown_hooks::{ShutdownCause, ShutdownHooks};
    ///
    /// let guard = ShutdownHooks::builder().install()?;
    /// assert_eq!(guard.cause(), None);
    /// guard.begin();
    /// assert_eq!(guard.cause(), Some(ShutdownCause::Requested));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cause(&self) -> Option<ShutdownCause> {
        self.shared.cause()
    }

    /// Runs the hooks and ends the process with this status. Call this method in place of
    /// [`std::process::exit`].
    ///
    /// If the shutdown has begun already, the call only sets the status: the process ends when the hooks have
    /// run. A hook that calls `exit` is ended by unwinding, and the other hooks run. This unwinding is not
    /// reported to a panic handler.
    ///
    /// A hook can also call `exit` indirectly, through the library: in a callback that the hook's `cancel`
    /// runs, in a task that the hook runs itself, or in a destructor. After an indirect call, only the
    /// callback, task or destructor is unwound. The library's frames between the unwound code and the hook
    /// are not unwound, because an operation of the library must not stop half-way. The thread stays in the
    /// library's frames for ever, and another thread runs the remaining hooks. So the values on the hook's
    /// stack are not dropped, and an operation that the hook has begun, such as the run of a task, does not
    /// end. A `catch_unwind` of your own or of another library may catch the unwinding. If that code drops
    /// the payload, the hook still does not go on. If that code forgets the payload, the hook goes on.
    ///
    /// ```
    /// use executor::shutdown_hooks::{ShutdownCause, ShutdownHooks};
    ///
    /// let guard = ShutdownHooks::builder().install()?;
    /// guard.add("log", |shutdown| assert_eq!(shutdown.cause(), ShutdownCause::Exit(0)))?;
    /// guard.exit(0); // when the hook has run
    /// # #[allow(unreachable_code)]
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    /// Never returns. Locks that the calling thread holds stay locked. So before you call `exit`, release every
    /// lock that a hook needs.
    #[doc(alias = "System.exit")]
    pub fn exit(&self, code: i32) -> ! {
        self.shared.exit(code)
    }
}

impl ShutdownBuilder {
    /// Sets the time limit for all hooks together. When the time is over, the process ends, even if
    /// a hook is still blocked.
    ///
    /// ```
    /// use executor::shutdown_hooks::ShutdownHooks;
    /// use std::time::Duration;
    ///
    /// let guard = ShutdownHooks::builder().deadline(Duration::from_secs(5)).install()?;
    /// guard.add("log", |shutdown| assert!(shutdown.left() <= Duration::from_secs(5)))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the exit status of a process that ends at the deadline. The default is 128 + n after signal n,
    /// and 1 otherwise.
    ///
    /// ```
    /// use executor::shutdown_hooks::ShutdownHooks;
    /// use std::time::Duration;
    ///
    /// let builder = ShutdownHooks::builder().deadline(Duration::from_millis(1)).status_at_deadline(0);
    /// let guard = builder.install()?;
    /// guard.add("too slow", |_| loop { std::thread::park() })?;
    /// drop(guard); // the process ends here, after a millisecond, with the status 0
    /// unreachable!("the hook never ends");
    /// # #[allow(unreachable_code)]
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn status_at_deadline(mut self, status: i32) -> Self {
        self.status_at_deadline = Some(status);
        self
    }

    /// Catches SIGINT and SIGTERM from now on. Call this method early in `main`, and keep the guard in a
    /// variable there.
    ///
    /// ```
    /// use executor::shutdown_hooks::ShutdownHooks;
    ///
    /// let _guard = ShutdownHooks::builder().install()?;
    /// let second = ShutdownHooks::builder().install().map(drop).unwrap_err();
    /// assert_eq!(second.kind(), std::io::ErrorKind::AlreadyExists);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if hooks are installed already: a process has one set
    /// of hooks. Any other error means that the system has no thread or no file descriptor left.
    pub fn install(self) -> io::Result<ShutdownGuard> {
        static INSTALLED: AtomicBool = AtomicBool::new(false);
        // Relaxed: only one of several simultaneous callers may go on, and no data passes between them.
        if INSTALLED.swap(true, Ordering::Relaxed) {
            let twice = "this process has shutdown hooks already";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, twice));
        }
        self.start().inspect_err(|_| INSTALLED.store(false, Ordering::Relaxed))
    }

    fn start(self) -> io::Result<ShutdownGuard> {
        let (signals, notified) = Signals::new()?;
        let shared = Arc::new(HooksShared::new(signals, self.deadline, self.status_at_deadline));
        let (runner, timekeeper) = (Arc::clone(&shared), Arc::clone(&shared));
        thread::Builder::new().name("shutdown time".into()).spawn(move || timekeeper.keep_time(notified))?;
        thread::Builder::new().name("shutdown hooks".into()).spawn(move || runner.run_hooks())?;
        // This code catches the signals last, because a signal that is caught before the two threads run has
        // no effect.
        shared.signals().catch()?;
        Ok(ShutdownGuard { hooks: ShutdownHooks { shared } })
    }
}

impl Deref for ShutdownGuard {
    type Target = ShutdownHooks;

    fn deref(&self) -> &ShutdownHooks {
        &self.hooks
    }
}

impl Drop for ShutdownGuard {
    fn drop(&mut self) {
        self.hooks.shared.guard_dropped();
    }
}

impl ShutdownHook {
    /// Removes the hook and drops it without running it.
    ///
    /// ```
    /// use executor::shutdown_hooks::ShutdownHooks;
    ///
    /// let guard = ShutdownHooks::builder().install()?;
    /// let removed = guard.add("removed", |_| unreachable!())?;
    /// let too_late = guard.add("kept", |_| ())?;
    /// assert!(removed.remove().is_ok());
    /// guard.begin();
    /// assert!(too_late.remove().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ShutdownBegun`] if the hooks are running or have run.
    #[doc(alias = "Runtime.removeShutdownHook")]
    pub fn remove(self) -> Result<(), ShutdownBegun> {
        if self.hooks.shared.remove(self.key) { Ok(()) } else { Err(ShutdownBegun) }
    }
}

impl fmt::Display for ShutdownBegun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the process is shutting down")
    }
}

impl Error for ShutdownBegun {}

impl fmt::Debug for ShutdownHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownHooks").field("cause", &self.cause()).finish_non_exhaustive()
    }
}
