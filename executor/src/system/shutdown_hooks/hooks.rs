//! What a program has of it: the builder, the guard, the hooks.

use std::error::Error;
use std::fmt;
use std::io;
use std::ops::Deref;

use super::bell::Signals;
use super::state::{HooksShared, Shutdown, ShutdownCause};
use crate::executor::ExecutorService;
use crate::panics::discard;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Duration, thread};

/// The hooks of this process: what runs before it ends. The [page of the module](super) says when, and in
/// which order.
///
/// Clones are the same; a part of the program that has something to register is given one.
#[doc(alias = "Runtime.addShutdownHook")]
#[derive(Clone)]
pub struct ShutdownHooks {
    shared: Arc<HooksShared>,
}

/// Runs the hooks of the process when it is dropped. Keep it in a variable of `main`.
///
/// # Blocking
/// The drop runs the hooks and waits for them, until their deadline at most: then the process ends. If a
/// signal or [`exit`](ShutdownHooks::exit) has begun the shutdown, it does not return, so that `main` does
/// not end the process first.
#[must_use = "dropping it runs the hooks"]
pub struct ShutdownGuard {
    hooks: ShutdownHooks,
}

/// A registered hook. Dropping this leaves it registered.
pub struct ShutdownHook {
    hooks: ShutdownHooks,
    key: u64,
}

/// The shutdown of the process has begun, so no hook can be added or removed.
#[doc(alias = "IllegalStateException")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShutdownBegun;

/// Settings of the [`ShutdownHooks`].
#[derive(Debug, Clone)]
pub struct ShutdownBuilder {
    deadline: Duration,
    status_at_deadline: Option<i32>,
}

impl ShutdownHooks {
    /// Begins with a deadline of ten seconds.
    pub fn builder() -> ShutdownBuilder {
        ShutdownBuilder { deadline: Duration::from_secs(10), status_at_deadline: None }
    }

    /// Registers a hook. It runs when the process ends, before those that are registered already, on a thread
    /// of its own.
    ///
    /// A panic in it goes to the [panic handler](crate::panics) of the process, and the next hook runs. One
    /// that blocks holds up the others, until the deadline ends the process. It may call
    /// [`exit`](Self::exit), which ends the hook.
    ///
    /// # Errors
    /// [`ShutdownBegun`] if the hooks run or have run. The hook is dropped.
    pub fn add(
        &self,
        name: impl Into<String>,
        hook: impl FnOnce(&Shutdown<'_>) + Send + 'static,
    ) -> Result<ShutdownHook, ShutdownBegun> {
        let key = self.shared.add(name.into(), Box::new(hook)).ok_or(ShutdownBegun)?;
        Ok(ShutdownHook { hooks: self.clone(), key })
    }

    /// Registers a hook that ends a pool: it shuts the pool down and waits for its tasks, for `grace` at
    /// most; then it cancels those that run, drops those that wait, and waits again, until the deadline of
    /// all hooks.
    ///
    /// The hook does not keep the pool: one that was dropped before has ended.
    ///
    /// # Errors
    /// As for [`add`](Self::add).
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

    /// Begins the shutdown as a signal does, but does not end the process: that is left to `main`, which
    /// returns when it has finished, or calls [`exit`](Self::exit). The deadline holds for it, too, until the
    /// [guard](ShutdownGuard) is dropped; and the next signal ends the process at once.
    ///
    /// For a program that can be asked to stop in another way than by a signal. Returns at once; false if the
    /// shutdown had begun.
    pub fn begin(&self) -> bool {
        self.shared.begin(ShutdownCause::Requested)
    }

    /// What has begun the shutdown; none if it has not begun.
    pub fn cause(&self) -> Option<ShutdownCause> {
        self.shared.cause()
    }

    /// Runs the hooks and ends the process with this status. For where a program would call
    /// [`std::process::exit`].
    ///
    /// If the shutdown has begun, only the status is new: the process ends when the hooks have run. Called by
    /// a hook, it ends this hook, by unwinding, and the others run. No panic handler hears of that.
    ///
    /// A hook may also come here by way of the library: by a callback that its `cancel` runs, a task that it
    /// runs itself, a destructor. Such code is unwound, and the hook does not go on either; but what lies
    /// between the two is not left, because the library cannot be left in the middle of something. The thread
    /// stays there, and another one runs the hooks that are left. So what the hook itself has on its stack is
    /// not dropped, and what it was in the middle of, such as a task, does not end. It is the same if a
    /// `catch_unwind` of your own, or of another library, catches the unwinding and drops it; one that
    /// forgets it has the hook go on.
    ///
    /// # Blocking
    /// Never returns. Locks that the calling thread holds stay locked, so let go of those that hooks take.
    #[doc(alias = "System.exit")]
    pub fn exit(&self, code: i32) -> ! {
        self.shared.exit(code)
    }
}

impl ShutdownBuilder {
    /// How long all hooks together may take. Then the process ends, whatever blocks.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// With which status the process ends at the deadline, in place of 128 + n after a signal, and 1
    /// otherwise.
    #[must_use]
    pub fn status_at_deadline(mut self, status: i32) -> Self {
        self.status_at_deadline = Some(status);
        self
    }

    /// Catches SIGINT and SIGTERM from now on. Do this early in `main`, and keep what it returns there.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if it was done before: a process has one set of hooks.
    /// Whatever the system says if it gives no thread or no descriptor.
    pub fn install(self) -> io::Result<ShutdownGuard> {
        static INSTALLED: AtomicBool = AtomicBool::new(false);
        // Relaxed: only one of those that come at the same time may go on, and nothing is passed between
        // them.
        if INSTALLED.swap(true, Ordering::Relaxed) {
            let twice = "this process has shutdown hooks already";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, twice));
        }
        self.start().inspect_err(|_| INSTALLED.store(false, Ordering::Relaxed))
    }

    fn start(self) -> io::Result<ShutdownGuard> {
        let (signals, bell) = Signals::new()?;
        let shared = Arc::new(HooksShared::new(signals, self.deadline, self.status_at_deadline));
        let (runner, timekeeper) = (Arc::clone(&shared), Arc::clone(&shared));
        thread::Builder::new().name("shutdown time".into()).spawn(move || timekeeper.keep_time(bell))?;
        thread::Builder::new().name("shutdown hooks".into()).spawn(move || runner.run_hooks())?;
        // Last: a signal that nobody waits for would be lost.
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
    /// Takes the hook out; it is dropped and will not run.
    ///
    /// # Errors
    /// [`ShutdownBegun`] if the hooks run or have run.
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

impl fmt::Debug for ShutdownGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownGuard").field("cause", &self.cause()).finish_non_exhaustive()
    }
}

impl fmt::Debug for ShutdownHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShutdownHook").finish_non_exhaustive()
    }
}
