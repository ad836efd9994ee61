//! The builder of a scheduled pool.

use std::fmt;

use super::ScheduledThreadPoolExecutor;
use super::schedule::AfterShutdown;
use super::shared::ScheduledShared;
use crate::panics::PanicHandler;
use crate::thread_pool::{Hooks, PoolConfigError, ThreadFactory, ThreadPoolBuilder, ThreadPoolExecutor};
use crate::waiting::starvation::OnStarvation;

/// Builds a [`ScheduledThreadPoolExecutor`].
///
/// ```
/// use executor::{ScheduledThreadPoolExecutor, prelude::*};
/// use std::time::Duration;
///
/// let pool = ScheduledThreadPoolExecutor::builder()
///     .threads(2)
///     .name("housekeeping")
///     .delayed_after_shutdown(false)
///     .build()?;
/// let tomorrow = pool.schedule(Duration::from_secs(86_400), || println!("good morning"))?;
/// pool.close(); // does not wait until then
/// assert!(tomorrow.is_finished());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a builder does nothing until `build`"]
pub struct ScheduledPoolBuilder {
    pool: ThreadPoolBuilder,
    name: String,
    after: AfterShutdown,
}

impl ScheduledPoolBuilder {
    pub(super) fn new() -> Self {
        let after = AfterShutdown { delayed: true, periodic: false };
        Self { pool: ThreadPoolExecutor::builder(), name: "executor-sleeper".to_owned(), after }
    }

    /// Sets the number of threads that run the tasks that are due. For each scheduled task, the pool starts
    /// one more thread, up to this number. The pool keeps each of these threads until the pool ends.
    /// Default: 1.
    ///
    /// ```
    /// use executor::ScheduledThreadPoolExecutor;
    ///
    /// let pool = ScheduledThreadPoolExecutor::builder().threads(4).build()?;
    /// assert_eq!(pool.stats().pool.core_threads, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "corePoolSize")]
    pub fn threads(mut self, threads: usize) -> Self {
        self.pool = self.pool.threads(threads);
        self
    }

    /// Sets the names of the threads. The pool's threads are named `NAME-thread-1`, `NAME-thread-2`, and so
    /// on. The thread that watches the time is named `NAME-sleeper`.
    ///
    /// ```
    /// use executor::{ScheduledThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ScheduledThreadPoolExecutor::builder().name("housekeeping").build()?;
    /// let name = pool.submit(|| std::thread::current().name().map(str::to_owned))?.join()?;
    /// assert_eq!(name.as_deref(), Some("housekeeping-thread-1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.name = format!("{name}-sleeper");
        self.pool = self.pool.name(name);
        self
    }

    /// Sets the thread factory, as [`ThreadPoolBuilder::thread_factory`] does. The pool does not use the
    /// factory for the thread that watches the time.
    ///
    /// ```
    /// use executor::{NamedThreads, ScheduledThreadPoolExecutor, prelude::*};
    ///
    /// let small_stacks = NamedThreads::new("beat").stack_size(64 * 1024);
    /// let pool = ScheduledThreadPoolExecutor::builder().thread_factory(small_stacks).build()?;
    /// assert_eq!(pool.submit(|| 6 * 7)?.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread_factory(mut self, factory: impl ThreadFactory + 'static) -> Self {
        self.pool = self.pool.thread_factory(factory);
        self
    }

    /// Sets the hooks, as [`ThreadPoolBuilder::hooks`] does. The hooks see each run of a series as a task.
    ///
    /// ```
    /// use executor::{ScheduledThreadPoolExecutor, Timing};
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let timing = Arc::new(Timing::new());
    /// let pool = ScheduledThreadPoolExecutor::builder().hooks(Arc::clone(&timing)).build()?;
    /// pool.schedule(Duration::from_millis(1), || ())?.join()?;
    /// assert_eq!(timing.tasks(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hooks(mut self, hooks: impl Hooks + 'static) -> Self {
        self.pool = self.pool.hooks(hooks);
        self
    }

    /// Sets the panic handler, as [`ThreadPoolBuilder::panic_handler`] does.
    ///
    /// ```
    /// use executor::{ScheduledThreadPoolExecutor, panics::PanicReport, prelude::*};
    /// use std::sync::mpsc;
    ///
    /// let (sender, receiver) = mpsc::channel();
    /// let handler = move |report: &PanicReport<'_>| sender.send(report.message.to_owned()).unwrap();
    /// let pool = ScheduledThreadPoolExecutor::builder().panic_handler(handler).build()?;
    /// pool.execute(|| panic!("no such page"))?;
    /// assert_eq!(receiver.recv()?, "no such page");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn panic_handler(mut self, handler: impl PanicHandler + 'static) -> Self {
        self.pool = self.pool.panic_handler(handler);
        self
    }

    /// Sets how the pool reacts to a wait that could never end, as [`ThreadPoolBuilder::on_starvation`]
    /// does.
    ///
    /// ```
    /// use executor::{OnStarvation, ScheduledThreadPoolExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let builder = ScheduledThreadPoolExecutor::builder().threads(1);
    /// let pool = Arc::new(builder.on_starvation(OnStarvation::Help { depth: 8 }).build()?);
    /// let own = Arc::clone(&pool);
    /// let page = pool.submit(move || own.submit(|| "<h1>").unwrap().join().unwrap())?;
    /// assert_eq!(page.join()?, "<h1>");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_starvation(mut self, what: OnStarvation) -> Self {
        self.pool = self.pool.on_starvation(what);
        self
    }

    /// Sets whether tasks that wait for their time still run after a shutdown. Default: yes. With `false`, a
    /// shutdown drops the tasks that wait for their time, and completes the handles of these tasks as
    /// cancelled.
    ///
    /// ```
    /// use executor::{JoinError, ScheduledThreadPoolExecutor, prelude::*};
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::builder().delayed_after_shutdown(false).build()?;
    /// let tomorrow = pool.schedule(Duration::from_secs(86_400), || "good morning")?;
    /// pool.shutdown();
    /// assert!(matches!(tomorrow.join(), Err(JoinError::Cancelled(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "setExecuteExistingDelayedTasksAfterShutdownPolicy")]
    pub fn delayed_after_shutdown(mut self, run: bool) -> Self {
        self.after.delayed = run;
        self
    }

    /// Sets whether series go on after a shutdown. Default: no. If series go on, the executor terminates only
    /// after every series was cancelled or has ended with a panic.
    ///
    /// ```
    /// use executor::{ScheduledThreadPoolExecutor, prelude::*};
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::builder().periodic_after_shutdown(true).build()?;
    /// let beat = pool.series(|_| ()).at_fixed_rate(Duration::from_millis(1))?;
    /// pool.shutdown();
    /// assert!(!pool.await_termination(Duration::from_millis(5))); // the heart goes on
    /// beat.cancel();
    /// assert!(pool.await_termination(Duration::from_secs(10)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "setContinueExistingPeriodicTasksAfterShutdownPolicy")]
    pub fn periodic_after_shutdown(mut self, go_on: bool) -> Self {
        self.after.periodic = go_on;
        self
    }

    /// Builds the executor. No thread is started yet.
    ///
    /// ```
    /// use executor::{PoolConfigError, ScheduledThreadPoolExecutor};
    ///
    /// assert!(ScheduledThreadPoolExecutor::builder().build().is_ok());
    /// let error = ScheduledThreadPoolExecutor::builder().threads(0).build().unwrap_err();
    /// assert_eq!(error, PoolConfigError::ZeroThreads);
    /// ```
    ///
    /// # Errors
    /// [`PoolConfigError::ZeroThreads`] if the executor would have no threads.
    pub fn build(self) -> Result<ScheduledThreadPoolExecutor, PoolConfigError> {
        let shared = ScheduledShared::new(self.pool.build()?, self.name);
        Ok(ScheduledThreadPoolExecutor { shared, after: self.after })
    }
}

impl fmt::Debug for ScheduledPoolBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduledPoolBuilder")
            .field("pool", &self.pool)
            .field("delayed_after_shutdown", &self.after.delayed)
            .field("periodic_after_shutdown", &self.after.periodic)
            .finish_non_exhaustive()
    }
}
