//! Runs tasks with equal keys one at a time and in order, and tasks with different keys at the same time, on
//! the threads of one executor.
//!
//! The tasks that must keep their order are seldom *all* tasks: they are the tasks of one connection, one
//! account, one document. A pool of one thread keeps more order than is needed, and one such pool for each
//! key keeps a thread for each key. Here a key has a *stripe* while it has tasks: a strand as in a
//! [`SerialExecutor`](crate::SerialExecutor). A key without tasks costs nothing.
//!
//! ```text
//!                  ┌ "Ada"   ─▶ ■ ■ ■ ── drain task ─┐
//!   execute_in ──▶ │ "Grace" ─▶ ■ ───── drain task ──┼─▶ the executor below
//!                  └ …                         │
//!   execute ───────────────────────────────────┘   (no stripe: straight through)
//! ```
//!
//! The page of [`strand`](super::strand) says how a strand moves. This folder adds:
//!
//! | file | |
//! |---|---|
//! | `table` | where the strand of a key is found |
//! | `shared` | what the drain tasks of the strands need: the tables, and how a strand leaves them |
//! | `stripe` | one stripe as an executor of its own |
//! | this one | the executor, and how it ends |
//!
//! # What was considered
//!
//! * A fixed number of lanes, with the lane chosen by the key's hash: no map, and no set-up and tear-down of
//!   stripes. But keys that share a lane delay each other: a task waits behind the long task of another key.
//!   If the first of two tasks in a lane waits for the second, both wait without end.
//! * A queue, under an ordinary pool, that never gives out two tasks of one stripe at the same time. The
//!   pool's workers would have to search the queue for a task that can run, and a worker that finds none
//!   would sleep although there are tasks.
//!
//! # Invariants
//!
//! 1. A key has at most one strand, so its tasks are in one order. A strand is found, made and entered under
//!    one lock; it leaves the table when it is idle, under the same lock.
//! 2. Locks are taken in this order: table, strand, life. None of them is held while the executor below is
//!    called.
//! 3. A key is hashed before the lock is taken, and dropped after it is released. Of the key's code, only
//!    `Eq` is called under a lock.

mod table;

mod shared;

mod stripe;

pub use stripe::{Identity, Stripe, StripeStats};

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::task::Waker;

use super::lifecycle::{Underlying, rest_of_service};
use super::strand::{Joined, Lender, Strand};
use crate::executor::{Executor, ExecutorService, RejectedExecution, RejectedSubmission};
use crate::handle::{FutureTask, TaskHandle};
use crate::panics::discard;
use crate::sync::Arc;
use crate::task::Task;
use crate::waiting::awaited::{Awaited, Source};
use crate::waiting::error::RejectReason;
use crate::waiting::wait::{Deadline, Look, Ticket, wait_for};
use shared::{Home, StripedShared};

/// Runs tasks with equal keys one at a time and in the order of their submission, and tasks with different
/// keys at the same time.
///
/// For many groups of tasks, when the tasks of each group must keep their order: the messages of each
/// connection, the bookings of each account.
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
/// A key can be of any type that can be a key of a hash map. A key that is known by its place and not by its
/// value is wrapped in an [`Identity`]. A stripe exists while it has tasks: millions of keys, one after the
/// other, leave no memory behind. Keys must behave as in a map: equal keys stay equal and have the same hash.
/// `Eq` is called while other submitters wait, so it must not use the executor. If `Eq` or `Hash` panics, the
/// submission panics, and its task is dropped.
///
/// A task that is submitted without a key, by [`execute`](crate::ExecutorExt::execute) or
/// [`submit`](crate::ExecutorExt::submit), has no stripe and goes straight to the executor below.
///
/// # Order
/// Each task of a stripe sees what the tasks before it did, on whatever threads they ran. A task that panics,
/// or is cancelled, does not stop its stripe; a panic goes to the [panic handler of the
/// process](crate::panics) if no caller reads it. A stripe with many tasks lets others go first after every
/// 64 tasks, or after [another number](Self::turns_of).
///
/// # What the executor below does
/// The executor below must be one that a task can own: a pool, or an [`Arc`] of a pool. It sees one task for
/// a stripe that has tasks, the stripe's *drain task*, whose place in the queue is that of the stripe's first
/// task. If it refuses the drain task, the submission of that first task fails. If it drops the accepted
/// drain task, as [`Discard`](crate::Discard) does, the tasks of that stripe are dropped and their handles
/// completed as cancelled. If it hands that out, as its own `shutdown_now` does, the user who runs the drain
/// task runs the stripe. Tasks of a [`scope`](crate::ExecutorExt::scope) are dropped then, since the scope
/// waits for them.
///
/// # Priorities and names
/// A drain task that waits has the highest [priority](Task::priority) of the tasks that have come into the
/// stripe since the drain task was given to the executor below: a [`PriorityQueue`](crate::PriorityQueue)
/// raises it when a more urgent task comes. So the stripe with the most urgent task goes first. Each stripe
/// keeps its order: the urgent task carries along the tasks before it. The priority of the drain task does
/// not fall when the urgent task is cancelled or taken out. Before each turn the drain task takes the highest
/// priority of the tasks that are still in the stripe.
///
/// A [snapshot](crate::ThreadPoolExecutor::snapshot) shows a drain task as the task of the stripe that it
/// runs, or would run first. [Hooks](crate::Hooks), and a comparator or a queue of your own, see its id,
/// which is its own, and no name: it stands for many tasks, and its outcome is that of none of them. The pool
/// counts it as one task. Tasks without a stripe are seen as they are.
///
/// # Cancellation
/// As for [`submit`](crate::ExecutorExt::submit). An executor below that runs a task on the submitting thread
/// runs the stripe there. Tasks that come meanwhile do not hang below that submitter's token.
///
/// # Its end
/// Made with [`over`](Self::over) it ends alone. [`shutdown`](ExecutorService::shutdown) refuses new tasks
/// and has the tasks of all stripes run. [`shutdown_now`](ExecutorService::shutdown_now) hands out the tasks
/// that were not begun: first those with a stripe, those of each stripe together and in their order, then
/// those without a stripe. It also cancels the tokens of its own tasks that run. It is terminated when its
/// last task has ended. (It is not terminated while a user keeps the drain task of a stripe that the executor
/// below has handed out.) It does not touch other tasks of the executor below. Made with
/// [`owning`](Self::owning) it ends the service below, too. The drop of a striped executor that was made with
/// `over` neither waits nor cancels. A striped executor that owns a service drops the service.
///
/// # Blocking
/// A submission waits while another submission brings the same stripe to the executor below, until that
/// executor has accepted or refused the stripe. It fails with [`RejectReason::Interrupted`] if the calling
/// task is cancelled meanwhile.
#[doc(alias = "StripedExecutorService")]
#[doc(alias = "KeyedExecutor")]
pub struct StripedExecutor<K, E, S = RandomState> {
    inner: Underlying<Lender<E>>,
    owner: Owner<K>,
    hasher: S,
}

/// The length of a turn, in tasks, if [`turns_of`](StripedExecutor::turns_of) does not set another.
const TURN: usize = 64;

impl<K: Send + 'static, E: Executor + 'static> StripedExecutor<K, E> {
    /// Makes a striped executor over another one.
    pub fn over(executor: E) -> Self {
        Self::new(Underlying::over(Lender::new(executor)))
    }

    /// Makes a striped executor over `service`, and ends `service` when it ends itself.
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
    /// Sets the hasher of the keys: perhaps a faster one, for keys that no attacker can choose.
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

    /// Has a stripe let others go first after each turn of `tasks` tasks, in place of 64. After its turn the
    /// stripe goes to the end of the queue of the executor below. If that executor refuses it, as a pool does
    /// that was shut down, the stripe goes on where it is. An executor that makes submitters wait for room
    /// makes the stripe wait, too, and the stripe keeps its thread meanwhile.
    ///
    /// Short turns are fair, but each turn costs a submission. A turn that takes long compared with a
    /// submission is fair enough.
    ///
    /// # Panics
    /// If `tasks` is zero.
    pub fn turns_of(self, tasks: usize) -> Self {
        assert!(tasks > 0, "a turn is one task at least");
        self.shared().turns.set_length(tasks);
        self
    }

    /// Returns the executor below.
    pub fn executor(&self) -> &E {
        self.inner.executor()
    }

    /// Returns what this executor is doing, in numbers. Looks at all stripes, one after the other.
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
    /// Has a closure (or a [`Task`]) run after the tasks that were submitted with an equal key. No result
    /// comes back.
    ///
    /// # Errors
    /// [`RejectedExecution`] if this executor was shut down, or the one below refuses the first task of a
    /// stripe.
    pub fn execute_in(&self, key: K, task: impl Into<Task>) -> Result<(), RejectedExecution> {
        let hash = self.hash(&key);
        self.join_stripe(hash, key, task.into())
    }

    /// Has a closure (or a [`FutureTask`]) run after the tasks that were submitted with an equal key, and
    /// returns the handle of its result.
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
    /// [`RejectedSubmission`] if this executor was shut down, or the one below refuses the first task of a
    /// stripe.
    ///
    /// # Cancellation
    /// As for [`submit`](crate::ExecutorExt::submit): the task does not hang below the token that is current
    /// here.
    pub fn submit_in<T: Send + 'static>(
        &self,
        key: K,
        task: impl Into<FutureTask<T>>,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        let FutureTask { task, handle } = task.into();
        match self.execute_in(key, task) {
            Ok(()) => Ok(handle),
            Err(RejectedExecution { reason, task }) => Err(RejectedSubmission { reason, task, handle }),
        }
    }

    /// Returns one stripe as an executor of its own: to give the stripe a bound, or to pass it to code that
    /// need not know of other stripes.
    pub fn stripe(&self, key: K) -> Stripe<&Self, K> {
        Stripe::of(self, key)
    }

    fn hash(&self, key: &K) -> u64 {
        // Some hashers return a number as its own hash. The product spreads such a hash over all bits.
        self.hasher.hash_one(key).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn join_stripe(&self, hash: u64, key: K, task: Task) -> Result<(), RejectedExecution> {
        let id = task.id();
        let (key, task) = (Some(key), Some(task));
        let mut entry = StripeSubmission { shared: self.shared(), hash, key, task, waits: None };
        let entered = wait_for(Deadline::NEVER, &mut entry);
        discard(entry.key.take()); // the key is not needed if its stripe existed
        let reason = match entered {
            Ok(Some((joined, strand))) => {
                joined.announce();
                return strand
                    .map_or(Ok(()), |strand| strand.see_to_drain(&joined, self.inner.executor(), id));
            }
            Ok(None) => RejectReason::Shutdown,
            Err(why) => why.into(),
        };
        let task = entry.task.take().expect("it has not joined a strand");
        Err(RejectedExecution { reason, task })
    }
}

/// A submitter that brings a task to its stripe.
struct StripeSubmission<'a, K: Eq + Send + 'static> {
    shared: &'a Arc<StripedShared<K>>,
    hash: u64,
    key: Option<K>,
    task: Option<Task>,
    /// The strand, and the submitter's place in its wait list, while the submitter waits until the drain task
    /// is accepted or refused.
    waits: Option<(Arc<Strand<Home<K>>>, Ticket)>,
}

impl<K: Eq + Send + 'static> StripeSubmission<'_, K> {
    fn wait_no_more(&mut self) {
        if let Some((strand, ticket)) = self.waits.take() {
            strand.leave(ticket);
        }
    }
}

impl<K: Eq + Send + 'static> Look for &mut StripeSubmission<'_, K> {
    /// How the task has joined, and the strand, if the submitter must see to its drain task. `None` if the
    /// executor was shut down.
    type Found = Option<(Joined, Option<Arc<Strand<Home<K>>>>)>;

    fn look(&mut self, waker: &Waker) -> Option<Self::Found> {
        self.wait_no_more();
        let (shared, hash) = (self.shared, self.hash);
        let mut table = shared.table(hash);
        if shared.life.is_shutdown() {
            return Some(None);
        }
        let (key, task) = (&mut self.key, &mut self.task);
        let joined = table.enter(
            hash,
            key,
            |spare| shared.new_strand(hash, spare),
            |strand| {
                let joined = strand.join(task, waker).map_err(|ticket| (Arc::clone(strand), ticket))?;
                let strand = joined.concerns_the_drain().then(|| Arc::clone(strand));
                Ok((joined, strand))
            },
        );
        joined.map_err(|waits| self.waits = Some(waits)).ok().map(Some)
    }

    fn what(&self) -> Option<Awaited> {
        let (strand, _) = self.waits.as_ref()?;
        Some(Awaited::Other(Arc::clone(strand) as Arc<dyn Source>))
    }
}

impl<K: Eq + Send + 'static> Drop for StripeSubmission<'_, K> {
    fn drop(&mut self) {
        self.wait_no_more();
    }
}

/// Owns what the drain tasks share. Its drop gives up the spare strands: each of them has an `Arc` of what is
/// shared, and would keep it alive.
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
        tasks.extend(life.take_back());
        life.cancel_running();
        let others = self.inner.stop_service().into_iter();
        tasks.extend(others.filter(|task| !task.drains_strand_under(life.root())));
        tasks
    }

    rest_of_service!(self.inner);
}

/// What the stripes of a [`StripedExecutor`] are doing, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct StripedStats {
    /// Stripes that have a task which waits or runs.
    pub stripes: usize,
    /// Tasks that wait in stripes.
    pub queued: usize,
    /// Stripes with a task that runs or is about to run.
    pub running: usize,
    /// Tasks of stripes that have run and ended, in whatever way.
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
