//! Runs tasks with equal keys one at a time and in order, and tasks with different keys at the same time, on
//! the threads of one executor.
//!
//! Often tasks must keep their order only within a group: the tasks of one connection, one account or one
//! document. A pool with one thread keeps the order of all tasks, not only the order within each group. A
//! separate pool for each group needs at least one thread for each group. In a striped executor, each group
//! has a *key*. A key with tasks has a *stripe*: a strand, as in a [`SerialExecutor`](crate::SerialExecutor).
//! A key without tasks occupies no memory.
//!
//! ```text
//!                  ┌ "Ada"   ─▶ ■ ■ ■ ── drain task ─┐
//!   execute_in ──▶ │ "Grace" ─▶ ■ ───── drain task ──┼─▶ the underlying executor
//!                  └ …                         │
//!   execute ───────────────────────────────────┘   (no stripe: straight through)
//! ```
//!
//! The module [`strand`](super::strand) describes the states of a strand.
//!
//! # What was considered
//!
//! * One alternative is a fixed number of lanes: the hash of a task's key selects the lane of the task. This
//!   design needs no map, and it makes and drops no stripes. But keys that share a lane delay each other: a
//!   task may wait behind a long task of another key. If the first of two tasks in a lane waits for the
//!   second task, these two tasks never end.
//! * Another alternative is an ordinary pool with a queue that never gives out two tasks of one stripe at the
//!   same time. The workers of this pool must search the queue for a task that they are allowed to run now.
//!   If a worker finds no task that is allowed to run, the worker sleeps, although the queue has tasks.
//!
//! # Invariants
//!
//! 1. A key has at most one strand, so the tasks of the key have one order. A submitter finds or makes the
//!    strand, and puts the task into it, under the lock of the table. When a strand becomes idle, it leaves
//!    the table under the same lock.
//! 2. Locks are taken in this order: table, strand, lifecycle. No lock is held during a call of the
//!    underlying executor.
//! 3. A key is hashed before the lock is taken, and dropped after the lock is released. The only user code
//!    that runs under a lock is the `Eq` of keys, and it runs before the table is changed.

mod table; // where the strand of a key is found
mod shared; // what the drain tasks of the strands need: the tables, and how a strand leaves them
mod stripe; // one stripe as an executor of its own

pub use stripe::{Identity, Stripe, StripeStats};

use std::cell::RefCell;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::task::Waker;

use super::lifecycle::{Underlying, rest_of_service};
use super::strand::{Lender, Strand};
use crate::executor::{Executor, ExecutorService, RejectedExecution, RejectedSubmission, submit_by};
use crate::handle::{IntoFutureTask, TaskHandle};
use crate::panics::{OnDrop, discard};
use crate::sync::Arc;
use crate::task::{IntoTask, Task};
use crate::waiting::awaited::{Awaited, Source};
use crate::waiting::error::RejectReason;
use crate::waiting::wait::{Deadline, Ticket, look_and_wait};
use shared::{Home, StripedShared};

/// Runs tasks with equal keys one at a time and in the order of their submission, and tasks with different
/// keys at the same time.
///
/// Use a striped executor for many groups of tasks, if the tasks of each group must keep their order.
/// Examples are the messages of each connection, and the bookings of each account.
///
/// ```
/// use executor::{StripedExecutor, ThreadPoolExecutor, prelude::*};
/// use std::sync::{Arc, Mutex};
///
/// let accounts = StripedExecutor::owning(ThreadPoolExecutor::fixed(4));
/// let log = Arc::new(Mutex::new(Vec::new()));
/// for n in 0..3 {
///     for name in ["Ada", "Grace"] {
///         let log = Arc::clone(&log);
///         accounts.execute_in(name, move || log.lock().unwrap().push((name, n)))?;
///     }
/// }
/// accounts.execute(|| println!("of no stripe: at any time"))?;
/// accounts.close(); // when all of it has run
///
/// let log = log.lock().unwrap();
/// let of_ada: Vec<_> = log.iter().filter(|(name, _)| *name == "Ada").collect();
/// assert_eq!(of_ada, [&("Ada", 0), &("Ada", 1), &("Ada", 2)]);
/// # Ok::<(), executor::RejectedExecution>(())
/// ```
///
/// A key can be of any type that can be a key of a hash map. To use the address of a value as the key, take
/// an [`Identity`]. A stripe exists only while it has tasks. So even after millions of keys have been used,
/// idle keys occupy no memory. Keys must behave like the keys of a hash map: equal keys stay equal and have
/// the same hash. The striped executor calls `Eq` under a lock, so `Eq` must not use that executor. If `Eq`
/// or `Hash` panics, the submission panics, and the task is dropped.
///
/// A task without a key is submitted by [`execute`](crate::ExecutorExt::execute) or
/// [`submit`](crate::ExecutorExt::submit). The task has no stripe, and is passed directly to the underlying
/// executor.
///
/// # Order
/// Each task of a stripe sees all effects of the earlier tasks, even if these tasks ran on other threads. If
/// a task panics or is cancelled, its stripe continues; a panic goes to the [panic handler of the
/// process](crate::panics) if no caller reads the panic. After every 64 tasks, a stripe lets other tasks run
/// first. [`turns_of`](Self::turns_of) sets another number.
///
/// # What the underlying executor does
/// The underlying executor must not be a borrowed reference, because a task must be able to own the executor.
/// For instance, the executor can be a pool or an [`Arc`] of a pool. For each stripe with tasks, the
/// underlying executor gets one task, the stripe's *drain task*. The drain task enters the queue in place of
/// the stripe's first task. If the underlying executor refuses the drain task, the submission of that first
/// task fails. If that executor drops the drain task later, as [`Discard`](crate::Discard) does, the tasks of
/// the stripe are dropped, and their handles are cancelled. If that executor hands the drain task out, as its
/// own `shutdown_now` does, the user who runs the drain task runs the stripe. If the stripe then contains
/// tasks of a [`scope`](crate::ExecutorExt::scope), these tasks are dropped, because the scope must not wait
/// for that user.
///
/// # Priorities and names
/// While a drain task waits, its [priority](Task::priority) is the highest priority of the tasks that have
/// joined the stripe since the drain task was submitted. If a more urgent task joins the stripe, a
/// [`PriorityQueue`](crate::PriorityQueue) moves the drain task forward. So the stripe with the most urgent
/// task runs first. Each stripe keeps its order, so the tasks before the urgent task run earlier, too. If the
/// urgent task is cancelled or removed, the drain task keeps its priority. Before each later turn, the drain
/// task gets the highest priority of the tasks that are still in the stripe.
///
/// A [snapshot](crate::ThreadPoolExecutor::snapshot) shows a task of the stripe instead of the drain task:
/// the task that the drain task is running, or the task that the drain task will run first.
/// [Hooks](crate::Hooks), comparators and your own queues see the drain task itself. The drain task has an id
/// of its own, and no name. The drain task runs many tasks, and its outcome is not the outcome of any of
/// them. The pool counts the drain task as one task. Tasks without a stripe are passed on unchanged.
///
/// # Cancellation
/// As with [`submit`](crate::ExecutorExt::submit), the token of a task is not a child of the submitter's
/// current token. But if the underlying executor runs tasks on the submitting thread, the submitter of the
/// first task runs the stripe. The token of this submitter is a parent of the first task's token only, not of
/// the tokens of tasks that are submitted while the stripe runs.
///
/// # Its end
/// A striped executor that was made with [`over`](Self::over) does not end its underlying executor. After
/// [`shutdown`](ExecutorService::shutdown), the striped executor refuses new tasks, and runs the accepted
/// tasks. [`shutdown_now`](ExecutorService::shutdown_now) returns the tasks that have not begun: first the
/// tasks of each stripe, in their order, and then the tasks without a stripe. The call also cancels the
/// tokens of the executor's running tasks. Other tasks of the underlying executor are not affected. The
/// striped executor is terminated when its last task has ended. While a user keeps a drain task that the
/// underlying executor has handed out, the striped executor is not terminated. A striped executor that was
/// made with [`owning`](Self::owning) also ends the underlying service, and the drop of the striped executor
/// drops the service. The drop of a striped executor that was made with `over` does not wait, and cancels no
/// task.
///
/// # Blocking
/// If another thread is submitting the drain task of the same stripe to the underlying executor, a submission
/// waits until that executor has accepted or refused the drain task. If the calling task is cancelled during
/// this wait, the submission fails with [`RejectReason::Interrupted`].
#[doc(alias = "StripedExecutorService")]
#[doc(alias = "KeyedExecutor")]
pub struct StripedExecutor<K, E, S = RandomState> {
    inner: Underlying<Lender<E>>,
    owner: Owner<K>,
    hasher: S,
}

/// The length of a turn, in tasks, if [`turns_of`](StripedExecutor::turns_of) does not set another length.
const TURN: usize = 64;

impl<K: Send + 'static, E: Executor + 'static> StripedExecutor<K, E> {
    /// Makes a striped executor over `executor`.
    ///
    /// ```
    /// use executor::{StripedExecutor, ThreadPoolExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let pool = Arc::new(ThreadPoolExecutor::fixed(2));
    /// let accounts = StripedExecutor::over(Arc::clone(&pool));
    /// assert_eq!(accounts.submit_in("Ada", || 6 * 7)?.join()?, 42);
    /// accounts.close();
    /// assert!(!pool.is_shutdown()); // the pool goes on
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn over(executor: E) -> Self {
        Self::new(Underlying::over(Lender::new(executor)))
    }

    /// Makes a striped executor that owns `service`. When the striped executor ends, it also ends `service`.
    ///
    /// ```
    /// use executor::{StripedExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let accounts = StripedExecutor::owning(ThreadPoolExecutor::fixed(2));
    /// accounts.execute_in("Ada", || println!("booked"))?;
    /// accounts.close(); // closes the pool, too
    /// assert!(accounts.executor().is_terminated());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn owning(service: E) -> Self
    where
        E: ExecutorService,
    {
        Self::new(Underlying::owning(Lender::new(service)))
    }

    fn new(inner: Underlying<Lender<E>>) -> Self {
        let shared = StripedShared::new(inner.life(), inner.executor().turns(TURN));
        Self { inner, owner: Owner(shared), hasher: RandomState::new() }
    }
}

impl<K: Send + 'static, E: Executor + 'static, S> StripedExecutor<K, E, S> {
    /// Sets the hasher of the keys. Use a faster hasher than the default only if no attacker can choose the
    /// keys.
    ///
    /// ```
    /// use executor::{StripedExecutor, ThreadPoolExecutor};
    /// use std::collections::hash_map::DefaultHasher;
    /// use std::hash::BuildHasherDefault;
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let striped = StripedExecutor::over(pool).hashed_by(BuildHasherDefault::<DefaultHasher>::default());
    /// striped.execute_in(7, || ())?;
    /// # Ok::<(), executor::RejectedExecution>(())
    /// ```
    pub fn hashed_by<H: BuildHasher>(self, hasher: H) -> StripedExecutor<K, E, H> {
        StripedExecutor { inner: self.inner, owner: self.owner, hasher }
    }

    /// Sets the length of a *turn*, in tasks. After each turn, a stripe lets other tasks run: its drain task
    /// moves to the end of the queue of the underlying executor. The default is 64. If that executor refuses
    /// the drain task, as a pool does after its shutdown, the stripe continues at once, on the same thread.
    /// If the underlying executor makes submitters wait for room, the stripe waits, too, and keeps its thread
    /// meanwhile.
    ///
    /// With shorter turns, other tasks wait for a shorter time, but each turn costs a submission. So choose
    /// the shortest turn for which the cost of one submission is small compared with the cost of the turn's
    /// tasks.
    ///
    /// ```
    /// use executor::{ManualExecutor, StripedExecutor, prelude::*};
    /// use std::sync::Arc;
    ///
    /// let manual = Arc::new(ManualExecutor::new());
    /// let accounts = StripedExecutor::over(Arc::clone(&manual)).turns_of(1);
    /// let booked = [accounts.submit_in("Ada", || 1)?, accounts.submit_in("Ada", || 2)?];
    /// manual.run_next(); // a turn of one task
    /// assert!(booked[0].is_finished() && !booked[1].is_finished());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `tasks` is zero.
    pub fn turns_of(self, tasks: usize) -> Self {
        assert!(tasks > 0, "a turn is one task at least");
        self.shared().turns.set_length(tasks);
        self
    }

    /// Returns the underlying executor.
    ///
    /// ```
    /// use executor::{StripedExecutor, ThreadPoolExecutor};
    ///
    /// let accounts = StripedExecutor::<&str, _>::over(ThreadPoolExecutor::fixed(2));
    /// assert_eq!(accounts.executor().maximum_threads(), 2);
    /// ```
    pub fn executor(&self) -> &E {
        self.inner.executor()
    }

    /// Returns what this executor is doing, in numbers. The call looks at all stripes, one after the other.
    ///
    /// ```
    /// use executor::{ManualExecutor, StripedExecutor};
    ///
    /// let accounts = StripedExecutor::over(ManualExecutor::new());
    /// accounts.execute_in("Ada", || ())?;
    /// accounts.execute_in("Grace", || ())?;
    /// assert_eq!((accounts.stats().stripes, accounts.stats().queued), (2, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> StripedStats {
        let mut stats = StripedStats::default();
        for table in self.shared().tables() {
            stats.completed += table.completed;
            for strand in table.strands() {
                stats.stripes += 1;
                stats.completed += strand.completed();
                strand.with(|state| {
                    stats.queued += state.len();
                    stats.running += usize::from(state.is_running());
                });
            }
        }
        stats.queued = stats.queued.saturating_sub(self.shared().tombstones.count());
        stats
    }

    fn shared(&self) -> &Arc<StripedShared<K>> {
        &self.owner.0
    }
}

impl<K, E, S> StripedExecutor<K, E, S>
where
    K: Eq + Hash + Send + 'static,
    E: Executor + 'static,
    S: BuildHasher + Send + Sync,
{
    /// Submits a closure (or a [`Task`]), which runs after all earlier tasks with an equal key. The caller
    /// gets no handle.
    ///
    /// ```
    /// use executor::{ManualExecutor, StripedExecutor};
    /// use std::sync::{Arc, Mutex};
    ///
    /// let accounts = StripedExecutor::over(ManualExecutor::new());
    /// let log = Arc::new(Mutex::new(Vec::new()));
    /// for n in 0..3 {
    ///     let log = Arc::clone(&log);
    ///     accounts.execute_in("Ada", move || log.lock().unwrap().push(n))?;
    /// }
    /// accounts.executor().run_all();
    /// assert_eq!(*log.lock().unwrap(), [0, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedExecution`] if this executor was shut down, or if the underlying executor refuses the first
    /// task of a stripe.
    pub fn execute_in(&self, key: K, task: impl IntoTask) -> Result<(), RejectedExecution> {
        let hash = self.hash(&key);
        self.join_stripe(hash, key, task.into())
    }

    /// Submits a closure (or a [`FutureTask`](crate::FutureTask)), which runs after all earlier tasks with an
    /// equal key. Returns the handle of the result.
    ///
    /// ```
    /// use executor::{StripedExecutor, ThreadPoolExecutor};
    ///
    /// let striped = StripedExecutor::over(ThreadPoolExecutor::fixed(2));
    /// let answer = striped.submit_in("Ada", || 6 * 7)?;
    /// assert_eq!(answer.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedSubmission`] if this executor was shut down, or if the underlying executor refuses the first
    /// task of a stripe.
    ///
    /// # Cancellation
    /// As with [`submit`](crate::ExecutorExt::submit), the token of the task is not a child of the caller's
    /// current token.
    pub fn submit_in<T: Send + 'static>(
        &self,
        key: K,
        task: impl IntoFutureTask<T>,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        submit_by(task.into(), |task| self.execute_in(key, task))
    }

    /// Returns the stripe of `key` as an executor. Use this executor to limit the tasks of one key, or pass
    /// it to code that need not know the other stripes.
    ///
    /// ```
    /// use executor::{StripedExecutor, ThreadPoolExecutor, prelude::*};
    ///
    /// let accounts = StripedExecutor::over(ThreadPoolExecutor::fixed(2));
    /// let ada = accounts.stripe("Ada");
    /// assert_eq!(ada.submit(|| 6 * 7)?.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stripe(&self, key: K) -> Stripe<&Self, K> {
        Stripe::of(self, key)
    }

    fn hash(&self, key: &K) -> u64 {
        // Some hashers return the number itself as the hash of a number. The multiplication spreads the bits
        // of this hash over the whole word.
        self.hasher.hash_one(key).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn join_stripe(&self, hash: u64, key: K, task: Task) -> Result<(), RejectedExecution> {
        let (shared, id) = (self.shared(), task.id());
        let (mut key, mut task) = (Some(key), Some(task));
        // The strand, and the submitter's ticket in the strand's wait list: set while the submitter waits
        // until the drain task is accepted or refused.
        let waits = RefCell::new(None::<(Arc<Strand<Home<K>>>, Ticket)>);
        let leave_wait_list = || _ = waits.take().map(|(strand, ticket)| strand.leave(ticket));
        let _leaves = OnDrop(leave_wait_list);
        // Puts the task into its strand and returns what the submitter must do next. Also returns the strand
        // if the submitter must submit or raise the drain task. Returns `None` if this executor was shut
        // down.
        let look = |waker: &Waker| {
            leave_wait_list();
            let mut table = shared.table(hash);
            if shared.life.is_shutdown() {
                return Some(None);
            }
            let new = |spare| shared.new_strand(hash, spare);
            let joined = table.enter(hash, &mut key, new, |strand| {
                let joined = strand.join(&mut task, waker).map_err(|ticket| (Arc::clone(strand), ticket))?;
                let strand = joined.concerns_the_drain().then(|| Arc::clone(strand));
                Ok((joined, strand))
            });
            joined.map_err(|place| waits.replace(Some(place))).ok().map(Some)
        };
        let what = || {
            let waits = waits.borrow();
            let (strand, _) = waits.as_ref()?;
            Some(Awaited::Other(Arc::clone(strand) as Arc<dyn Source>))
        };
        let entered = look_and_wait(Deadline::NEVER, (look, what));
        discard(key); // the key is left over if its stripe existed
        let reason = match entered {
            Ok(Some((joined, strand))) => {
                joined.announce();
                return strand
                    .map_or(Ok(()), |strand| strand.see_to_drain(&joined, self.inner.executor(), id));
            }
            Ok(None) => RejectReason::Shutdown,
            Err(why) => why.into(),
        };
        Err(RejectedExecution { reason, task: task.expect("it has not joined a strand") })
    }
}

/// The owner of the [`StripedShared`] that the drain tasks use. Each spare strand has an `Arc` that keeps the
/// `StripedShared` alive, so the drop of this owner drops the spare strands.
struct Owner<K>(Arc<StripedShared<K>>);

impl<K> Drop for Owner<K> {
    fn drop(&mut self) {
        for mut table in self.0.tables() {
            let spare = table.give_up_spare();
            drop(table);
            drop(spare);
        }
    }
}

/// Submits tasks without a stripe.
impl<K, E, S> Executor for StripedExecutor<K, E, S>
where
    K: Send + 'static,
    E: Executor + 'static,
    S: Send + Sync,
{
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.inner.pass_on(task, Task::accompanied)
    }
}

impl<K, E, S> ExecutorService for StripedExecutor<K, E, S>
where
    K: Send + 'static,
    E: Executor + 'static,
    S: Send + Sync,
{
    fn shutdown(&self) {
        self.shared().shutdown();
        self.inner.shutdown();
    }

    fn shutdown_now(&self) -> Vec<Task> {
        let life = self.inner.life();
        self.shared().shutdown();
        let mut tasks = Task::hand_out(self.shared().stop());
        tasks.extend(life.take_back(|_| ()).into_iter().map(|(task, ())| task));
        life.cancel_running();
        tasks.extend(self.inner.stop_service_beside_drains());
        tasks
    }

    rest_of_service!(self.inner);
}

/// Numbers that show what the stripes of a [`StripedExecutor`] are doing.
///
/// ```
/// use executor::{DirectExecutor, StripedExecutor};
///
/// let accounts = StripedExecutor::over(DirectExecutor);
/// accounts.execute_in("Ada", || ())?; // has ended when the call returns
/// assert_eq!((accounts.stats().stripes, accounts.stats().completed), (0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StripedStats {
    /// The number of stripes that have waiting or running tasks.
    pub stripes: usize,
    /// The number of tasks that wait in stripes.
    pub queued: usize,
    /// The number of stripes with a task that is running or is about to run.
    pub running: usize,
    /// The number of tasks that have run in stripes and have ended, with any outcome.
    pub completed: u64,
}

impl<K: Send + 'static, E: Executor + fmt::Debug + 'static, S> fmt::Debug for StripedExecutor<K, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StripedStats { stripes, queued, running, completed } = self.stats();
        f.debug_struct("StripedExecutor")
            .field("stripes", &stripes)
            .field("queued", &queued)
            .field("running", &running)
            .field("completed", &completed)
            .field("executor", self.executor())
            .finish()
    }
}
