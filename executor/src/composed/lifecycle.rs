//! The lifecycle of an executor that is built on another executor: which of its tasks are under way, and when
//! the executor has ended.
//!
//! An executor that gives its tasks to another executor has no threads to wait for. The *lifecycle* of this
//! executor is over when the executor was shut down and none of its tasks is under way. An executor that was
//! made with `over` does not end its underlying executor, because other clients can use that executor, too.
//! An executor that was made with `owning` also ends the underlying service.
//!
//! ```text
//!   running ──shutdown──▶ shut down ──the last task ends──▶ over ──owning: the service is terminated──▶ terminated
//! ```
//!
//! Each accepted task has a guard, an [`InFlight`]. The lifecycle counts these guards. A guard is counted
//! until the outcome of the task can be seen, or until the task is dropped or handed out. The lifecycle does
//! not wait for a task that was handed out, because a user can keep this task for a long time. If the user
//! runs the handed-out task, the task's guard is counted again, unless the lifecycle is over.
//!
//! Each lifecycle has a token, its *root*. The token of each task has two parents: the root, and the token of
//! the thread that runs the task. `shutdown_now` cancels the root. The root also shows which tasks in a queue
//! of the underlying executor belong to the lifecycle. A task refers to its root through its observer, an
//! [`InFlightTask`]. The drain task of a strand refers to its root directly. While a thread runs a task of
//! the lifecycle, the thread must not wait for the end of the lifecycle, because it would then wait for its
//! own task.
//!
//! # Invariants
//!
//! 1. The lifecycle is over when it was shut down and no guard is counted. The thread that ends the lifecycle
//!    counts down the latch `gone`. After that, no guard is counted again.
//! 2. The lock of the lifecycle is taken after all other locks. A thread can take this lock while it holds
//!    the lock of a queue. A thread that holds the lock of the lifecycle takes no other lock.
//! 3. `queues` contains each queue in which a task of this lifecycle waits. So `shutdown_now` finds every
//!    waiting task with [`take_back`](Lifecycle::take_back). Then `shutdown_now` cancels the root. The
//!    cancellation of the root also reaches the tasks that have already left their queues.

use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::{CancelToken, masked};
use crate::executor::{Executor, ExecutorService, RejectedExecution};
use crate::ids::QueueId;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Duration, Instant, Mutex, MutexGuard};
use crate::task::Task;
use crate::task::observer::TaskObserver;
use crate::waiting::error::RejectReason;
use crate::waiting::latch::Latch;

pub(crate) struct Lifecycle {
    state: Mutex<LifecycleState>,
    /// A copy of the shutdown flag in `state`. The copy is written under the lock, and can be read without
    /// the lock.
    is_shutdown: AtomicBool,
    gone: Latch,
    root: CancelToken,
}

#[derive(Default)]
struct LifecycleState {
    is_shutdown: bool,
    staying: usize,
    /// The queues of the underlying executor in which tasks of this lifecycle wait, and the number of these
    /// tasks in each queue.
    queues: Vec<(QueueId, usize)>,
}

impl LifecycleState {
    fn is_over(&self) -> bool {
        self.is_shutdown && self.staying == 0
    }
}

impl Lifecycle {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            is_shutdown: AtomicBool::new(false),
            gone: Latch::new(1),
            root: CancelToken::new(),
        })
    }

    /// Makes a guard for a task, or for a strand of tasks. Returns `None` if the lifecycle was shut down.
    pub(crate) fn begin_stay(self: &Arc<Self>) -> Option<InFlight> {
        let mut state = self.state.lock();
        if state.is_shutdown {
            return None;
        }
        Some(self.one_more(&mut state))
    }

    fn one_more(self: &Arc<Self>, state: &mut LifecycleState) -> InFlight {
        state.staying += 1;
        InFlight { life: Arc::clone(self), counts: AtomicBool::new(true) }
    }

    pub(crate) fn root(&self) -> &CancelToken {
        &self.root
    }

    pub(crate) fn is_shutdown(&self) -> bool {
        // Acquire: pairs with the Release in `shutdown`, so that a refused submitter sees everything that
        // was done before the shutdown.
        self.is_shutdown.load(Ordering::Acquire)
    }

    /// Shuts the lifecycle down. After the shutdown, only [`InFlight::another`] makes new guards.
    pub(crate) fn shutdown(&self) {
        let mut state = self.state.lock();
        state.is_shutdown = true;
        self.is_shutdown.store(true, Ordering::Release);
        self.end_if_over(state);
    }

    /// Cancels the tokens of the tasks that are running, and of the tasks that begin later.
    pub(crate) fn cancel_running(&self) {
        self.root.cancel_because(CancelReason::of(CancelKind::Shutdown));
    }

    /// Takes the tasks of this lifecycle out of the queues of the underlying executor, and removes this
    /// lifecycle's observers from the tasks. Must be called after [`shutdown`](Self::shutdown), so that no
    /// new task is put into a queue.
    ///
    /// Before the call removes a task's observer, it calls `note` with the task. Returns each task together
    /// with the value that `note` returned.
    pub(crate) fn take_back<R>(&self, note: impl Fn(&Task) -> R) -> Vec<(Task, R)> {
        let queues: Vec<_> = self.state.lock().queues.iter().map(|&(queue, _)| queue).collect();
        let owners = queues.into_iter().filter_map(QueueId::owner);
        let tasks = owners.flat_map(|owner| owner.take_out_all(&|task| task.goes_under(&self.root)));
        tasks.filter_map(|task| self.to_its_user(task, &note)).collect()
    }

    /// Removes this lifecycle's observers from a task, and returns the task. If a scope waits for the task,
    /// drops the task instead and returns `None`.
    fn to_its_user<R>(&self, task: Task, note: impl Fn(&Task) -> R) -> Option<(Task, R)> {
        if task.is_of_scope() {
            return None;
        }
        let noted = note(&task);
        Some((task.alone_from(&self.root).handed_out(), noted))
    }

    pub(crate) fn under_way(&self) -> usize {
        self.state.lock().staying
    }

    pub(crate) fn is_over(&self) -> bool {
        self.gone.count() == 0
    }

    /// Waits until the lifecycle is over, for `timeout` at most, and returns whether it is over.
    pub(crate) fn await_end(&self, timeout: Duration) -> bool {
        self.gone.wait_timeout(timeout).is_ok() || self.is_over()
    }

    /// Waits until the lifecycle is over. Returns at once if the calling thread runs a task of this
    /// lifecycle. If the calling task is cancelled during the wait, calls `shutdown_now` and continues to
    /// wait.
    pub(crate) fn close(&self, shutdown_now: impl FnOnce() -> Vec<Task>) {
        if !self.waits_for_this_thread() && self.gone.wait().is_err() {
            drop(shutdown_now());
            masked(|| self.gone.wait()).unwrap_or_else(|_| unreachable!("masked"));
        }
    }

    /// Returns whether the calling thread is running a task of this lifecycle.
    pub(crate) fn waits_for_this_thread(&self) -> bool {
        self.root.is_above_this_thread()
    }

    fn end_if_over(&self, state: MutexGuard<'_, LifecycleState>) {
        let is_over = state.is_over();
        drop(state);
        if is_over {
            self.gone.count_down();
        }
    }
}

/// A guard that keeps a lifecycle from ending while a task, a strand or a table of strands is under way. The
/// guard is counted until it is dropped or interrupted.
pub(crate) struct InFlight {
    life: Arc<Lifecycle>,
    counts: AtomicBool,
}

impl InFlight {
    /// Makes another guard, even after a shutdown. `self` must be counted: only a counted guard keeps the
    /// lifecycle from ending.
    pub(crate) fn another(&self) -> Self {
        self.life.one_more(&mut self.life.state.lock())
    }

    /// Interrupts the guard: until the guard is resumed, the lifecycle does not wait for it.
    pub(crate) fn interrupt(&self) {
        // Relaxed, here and in `resume`: the hand-over of a task from thread to thread orders these calls.
        if self.counts.swap(false, Ordering::Relaxed) {
            let mut state = self.life.state.lock();
            state.staying -= 1;
            self.life.end_if_over(state);
        }
    }

    /// Counts the guard again, unless the lifecycle is over.
    pub(crate) fn resume(&self) {
        if self.counts.load(Ordering::Relaxed) {
            return;
        }
        let mut state = self.life.state.lock();
        if !state.is_over() {
            state.staying += 1;
            self.counts.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.interrupt();
    }
}

/// The observer of a task that is passed unchanged to the underlying executor. The observer has the task's
/// guard.
pub(crate) struct InFlightTask {
    stay: InFlight,
    /// The queue in which the task waits.
    queue: Mutex<Option<QueueId>>,
}

impl InFlightTask {
    pub(crate) fn new(stay: InFlight) -> Self {
        Self { stay, queue: Mutex::new(None) }
    }

    /// Returns whether the lifecycle waits for the task.
    pub(crate) fn stays(&self) -> bool {
        self.stay.counts.load(Ordering::Relaxed)
    }
}

impl TaskObserver for InFlightTask {
    fn queued(&self, queue: QueueId) {
        self.dequeued(); // the task may move from queue to queue
        let queue = queue.of_all_lanes();
        *self.queue.lock() = Some(queue);
        let queues = &mut self.stay.life.state.lock().queues;
        match queues.iter_mut().find(|(known, _)| *known == queue) {
            Some((_, waiting)) => *waiting += 1,
            None => queues.push((queue, 1)),
        }
    }

    fn dequeued(&self) {
        let Some(queue) = self.queue.lock().take() else { return };
        let queues = &mut self.stay.life.state.lock().queues;
        let place = queues.iter().position(|(known, _)| *known == queue).expect("it was entered");
        queues[place].1 -= 1;
        if queues[place].1 == 0 {
            queues.swap_remove(place);
        }
    }

    fn started(&self) {
        self.stay.resume();
    }

    fn handed_out(&self) {
        self.stay.interrupt();
    }

    fn root(&self) -> Option<&CancelToken> {
        Some(self.stay.life.root())
    }
}

impl Drop for InFlightTask {
    fn drop(&mut self) {
        self.dequeued();
    }
}

/// The two parts of every executor that is built on another executor: the underlying executor, and a
/// lifecycle.
pub(crate) struct Underlying<E> {
    executor: E,
    /// Returns the underlying executor as a service. `None` if the underlying executor is not owned.
    as_service: Option<for<'a> fn(&'a E) -> &'a (dyn ExecutorService + 'a)>,
    life: Arc<Lifecycle>,
}

impl<E> Underlying<E> {
    pub(crate) fn over(executor: E) -> Self {
        Self { executor, as_service: None, life: Lifecycle::new() }
    }

    pub(crate) fn owning(service: E) -> Self
    where
        E: ExecutorService,
    {
        Self { as_service: Some(|service| service), ..Self::over(service) }
    }

    pub(crate) fn executor(&self) -> &E {
        &self.executor
    }

    pub(crate) fn life(&self) -> &Arc<Lifecycle> {
        &self.life
    }

    pub(crate) fn service(&self) -> Option<&dyn ExecutorService> {
        self.as_service.map(|as_service| as_service(&self.executor))
    }

    /// Gives a task to the underlying executor, with the observer that `accompany` adds. If the task is
    /// refused, the caller gets it back without that observer.
    pub(crate) fn pass_on(
        &self,
        task: Task,
        accompany: impl FnOnce(Task, InFlightTask) -> Task,
    ) -> Result<(), RejectedExecution>
    where
        E: Executor,
    {
        let Some(stay) = self.life.begin_stay() else {
            return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
        };
        let refused = self.executor.execute_task(accompany(task, InFlightTask::new(stay)));
        let alone = |task: Task| task.alone_from(self.life.root());
        refused.map_err(|refused| RejectedExecution { reason: refused.reason, task: alone(refused.task) })
    }

    /// Shuts the lifecycle down, and also the underlying service if it is owned.
    pub(crate) fn shutdown(&self) {
        self.life.shutdown();
        if let Some(service) = self.service() {
            service.shutdown();
        }
    }

    /// Implements `shutdown_now` for an executor that gives its tasks to the underlying executor unchanged.
    /// An owned service hands out all its tasks, including tasks that clients submitted directly to the
    /// service.
    pub(crate) fn shutdown_now(&self) -> Vec<Task> {
        self.shutdown_now_each(|_| ()).into_iter().map(|(task, ())| task).collect()
    }

    /// Does the work of [`shutdown_now`](Self::shutdown_now), and calls `note` in the same way as
    /// [`Lifecycle::take_back`].
    pub(crate) fn shutdown_now_each<R>(&self, note: impl Fn(&Task) -> R) -> Vec<(Task, R)> {
        self.life.shutdown();
        let mut tasks = self.life.take_back(&note);
        self.life.cancel_running();
        tasks.extend(self.stop_service(&note));
        tasks
    }

    /// Shuts down an owned service. Returns the tasks that the service hands out, each with a note, without
    /// this lifecycle's observers.
    fn stop_service<R>(&self, note: impl Fn(&Task) -> R) -> Vec<(Task, R)> {
        let tasks = self.service().map(ExecutorService::shutdown_now).unwrap_or_default();
        tasks.into_iter().filter_map(|task| self.life.to_its_user(task, &note)).collect()
    }

    /// Shuts down an owned service. Returns the tasks that the service hands out. The drain tasks of this
    /// lifecycle are left out, because their strands are already empty.
    pub(crate) fn stop_service_beside_drains(&self) -> impl Iterator<Item = Task> {
        let tasks = self.stop_service(|_| ()).into_iter().map(|(task, ())| task);
        tasks.filter(|task| !task.drains_strand_under(self.life.root()))
    }

    pub(crate) fn is_terminated(&self) -> bool {
        self.life.is_over() && self.service().is_none_or(ExecutorService::is_terminated)
    }

    pub(crate) fn await_termination(&self, timeout: Duration) -> bool {
        let begin = Instant::now();
        let rest = || timeout.saturating_sub(begin.elapsed());
        self.life.await_end(timeout) && self.service().is_none_or(|service| service.await_termination(rest()))
    }

    /// Waits until the executor has ended, after a shutdown. The argument `shutdown_now` must stop the
    /// executor that contains `self`.
    pub(crate) fn close(&self, shutdown_now: impl FnOnce() -> Vec<Task>) {
        if let Some(service) = self.service() {
            service.close();
            if !service.is_terminated() {
                return; // the service waits for the calling thread
            }
        }
        self.life.close(shutdown_now);
    }
}

/// Implements the methods of [`ExecutorService`] for a service with an [`Underlying`], except `shutdown` and
/// `shutdown_now`.
///
/// ```text
/// impl<E: Executor> ExecutorService for BoundedExecutor<E> {
///     fn shutdown(&self) { .. }
///     fn shutdown_now(&self) -> Vec<Task> { .. }
///     rest_of_service!(self.inner);
/// }
/// ```
macro_rules! rest_of_service {
    ($this:ident.$inner:ident) => {
        fn is_shutdown(&$this) -> bool {
            $this.$inner.life().is_shutdown()
        }

        fn is_terminated(&$this) -> bool {
            $this.$inner.is_terminated()
        }

        fn await_termination(&$this, timeout: $crate::sync::Duration) -> bool {
            $this.$inner.await_termination(timeout)
        }

        fn close(&$this) {
            $this.shutdown();
            $this.$inner.close(|| $this.shutdown_now());
        }
    };
}
pub(crate) use rest_of_service;
