//! The life of an executor over another one: what it has under way, and how it ends.
//!
//! An executor that gives its tasks to another one has no threads that it could wait for. It is over when it
//! was shut down and none of its own tasks is under way. Made with `over`, it ends alone: others use the
//! executor below, too. Made with `owning`, it ends the service below with itself.
//!
//! ```text
//!   running ──shutdown──▶ shut down ──the last stay ends──▶ over ──owning: the service is terminated──▶ terminated
//! ```
//!
//! Each task that was accepted has a [`InFlight`]. It ends when the outcome of the task can be seen, when the
//! task is dropped, and when it is handed out to a user, who may keep it for ever. If that user runs the
//! task, the stay begins anew, unless the life is over.
//!
//! The *root* is the token above the tasks of this life, beside that of the thread on which a task runs.
//! `shutdown_now` cancels it. Because nobody else has it, it tells the tasks of this life from others: in a
//! queue below, where [`InFlightTask`]s go along with them, and on the stack of a thread that must not wait
//! for itself.
//!
//! # Invariants
//!
//! 1. `gone` is counted down by whoever makes this true: the life was shut down, and nothing stays. It is
//!    never true again that something stays.
//! 2. The lock here is the last: no other lock is taken while it is held, and it is taken under those of
//!    queues.
//! 3. A queue is in the book for as long as a task of this life waits in it, so a task that waits is found by
//!    [`take_back`](Lifecycle::take_back), or begins under a root that is cancelled.

use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::{CancelToken, masked};
use crate::executor::{Executor, ExecutorService, RejectedExecution};
use crate::ids::QueueId;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Duration, Instant, Mutex};
use crate::task::Task;
use crate::task::observer::TaskObserver;
use crate::waiting::error::RejectReason;
use crate::waiting::latch::Latch;

/// How long an executor over another one lives.
pub(crate) struct Lifecycle {
    state: Mutex<LifecycleState>,
    /// Set under the lock. Here, too, so that one who only wants to know takes no lock.
    is_shutdown: AtomicBool,
    gone: Latch,
    root: CancelToken,
}

#[derive(Default)]
struct LifecycleState {
    is_shutdown: bool,
    staying: usize,
    /// The queues below in which tasks of this life wait, and how many do.
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

    /// Something comes under way: a task, or a strand of them. `None` if the life was shut down.
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

    /// The token above the tasks of this life.
    pub(crate) fn root(&self) -> &CancelToken {
        &self.root
    }

    pub(crate) fn is_shutdown(&self) -> bool {
        // Acquire: pairs with the Release in `shutdown`, so that whoever is refused sees what was done
        // before.
        self.is_shutdown.load(Ordering::Acquire)
    }

    /// Lets nothing new in.
    pub(crate) fn shutdown(&self) {
        let mut state = self.state.lock();
        state.is_shutdown = true;
        self.is_shutdown.store(true, Ordering::Release);
        let is_over = state.is_over();
        drop(state);
        if is_over {
            self.gone.count_down();
        }
    }

    /// Cancels the tokens of what runs, and of what begins after this.
    pub(crate) fn cancel_running(&self) {
        self.root.cancel_because(CancelReason::of(CancelKind::Shutdown));
    }

    /// Takes the tasks of this life out of the queues below, as their users know them. After
    /// [`shutdown`](Self::shutdown): then none comes into a queue behind the back of this.
    pub(crate) fn take_back(&self) -> Vec<Task> {
        self.take_back_each(|_| ()).into_iter().map(|(task, ())| task).collect()
    }

    /// The same, each with what `note` makes of it while it still has its observer.
    fn take_back_each<R>(&self, note: impl Fn(&Task) -> R) -> Vec<(Task, R)> {
        let queues: Vec<_> = self.state.lock().queues.iter().map(|&(queue, _)| queue).collect();
        let owners = queues.into_iter().filter_map(QueueId::owner);
        let tasks = owners.flat_map(|owner| owner.take_out_all(&|task| task.goes_under(&self.root)));
        tasks.filter_map(|task| self.to_its_user(task, &note)).collect()
    }

    /// None if it is of a scope: then it is dropped.
    fn to_its_user<R>(&self, task: Task, note: impl Fn(&Task) -> R) -> Option<(Task, R)> {
        if task.is_of_scope() {
            return None;
        }
        let noted = note(&task);
        Some((task.alone_from(&self.root).handed_out(), noted))
    }

    /// How much stays.
    pub(crate) fn under_way(&self) -> usize {
        self.state.lock().staying
    }

    pub(crate) fn is_over(&self) -> bool {
        self.gone.count() == 0
    }

    /// Waits until it is over, for `timeout` at most, and says whether it is.
    pub(crate) fn await_end(&self, timeout: Duration) -> bool {
        self.gone.wait_timeout(timeout).is_ok() || self.is_over()
    }

    /// Waits until it is over, unless it waits for the calling thread. `shutdown_now`, if the thread's task
    /// is cancelled.
    pub(crate) fn close(&self, shutdown_now: impl FnOnce() -> Vec<Task>) {
        if !self.waits_for_this_thread() && self.gone.wait().is_err() {
            drop(shutdown_now());
            masked(|| self.gone.wait()).unwrap_or_else(|_| unreachable!("masked"));
        }
    }

    /// Whether the calling thread is in the middle of a task of this life.
    pub(crate) fn waits_for_this_thread(&self) -> bool {
        self.root.is_above_this_thread()
    }

    fn end_stay(&self) {
        let mut state = self.state.lock();
        state.staying -= 1;
        let is_over = state.is_over();
        drop(state);
        if is_over {
            self.gone.count_down();
        }
    }
}

/// Something that is under way. Its life is not over before this is dropped, or interrupted.
pub(crate) struct InFlight {
    life: Arc<Lifecycle>,
    counts: AtomicBool,
}

impl InFlight {
    /// Another one, also after a shutdown. This one must count.
    pub(crate) fn another(&self) -> Self {
        self.life.one_more(&mut self.life.state.lock())
    }

    /// Nobody needs to wait for it, until it is resumed.
    pub(crate) fn interrupt(&self) {
        // Relaxed, here and below: whoever moves a task from thread to thread orders these calls.
        if self.counts.swap(false, Ordering::Relaxed) {
            self.life.end_stay();
        }
    }

    /// It is under way again, if the life is not over.
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

/// Goes along with a task that is given to the executor below as it is.
pub(crate) struct InFlightTask {
    stay: InFlight,
    /// In which it waits.
    queue: Mutex<Option<QueueId>>,
}

impl InFlightTask {
    pub(crate) fn new(stay: InFlight) -> Self {
        Self { stay, queue: Mutex::new(None) }
    }

    /// Whether the life waits for the task.
    pub(crate) fn stays(&self) -> bool {
        self.stay.counts.load(Ordering::Relaxed)
    }
}

impl TaskObserver for InFlightTask {
    fn queued(&self, queue: QueueId) {
        self.dequeued(); // one that moves from queue to queue
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

/// Shows an executor as the service that it is.
type AsService<E> = for<'a> fn(&'a E) -> &'a (dyn ExecutorService + 'a);

/// What every executor over another one has: the one below, and a life of its own.
pub(crate) struct Underlying<E> {
    executor: E,
    /// Only if the executor below ends with this one.
    as_service: Option<AsService<E>>,
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

    /// The executor below, if it ends with this one.
    pub(crate) fn service(&self) -> Option<&dyn ExecutorService> {
        self.as_service.map(|as_service| as_service(&self.executor))
    }

    /// Gives a task to the executor below, with the observer that `accompany` adds. A refused task comes back
    /// without it.
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

    /// Shuts down what there is to be shut down.
    pub(crate) fn shutdown(&self) {
        self.life.shutdown();
        if let Some(service) = self.service() {
            service.shutdown();
        }
    }

    /// `shutdown_now` of an executor that gives its tasks to the one below as they are. An owned service
    /// hands out all that it has, whoever submitted it.
    pub(crate) fn shutdown_now(&self) -> Vec<Task> {
        self.life.shutdown();
        let mut tasks = self.life.take_back();
        self.life.cancel_running();
        tasks.extend(self.stop_service());
        tasks
    }

    /// What an owned service hands out, with the tasks of this life as their users know them.
    pub(crate) fn stop_service(&self) -> Vec<Task> {
        self.stop_service_each(|_| ()).into_iter().map(|(task, ())| task).collect()
    }

    /// As [`shutdown_now`](Self::shutdown_now), each task with what `note` makes of it while it still has its
    /// observer.
    pub(crate) fn shutdown_now_each<R>(&self, note: impl Fn(&Task) -> R) -> Vec<(Task, R)> {
        self.life.shutdown();
        let mut tasks = self.life.take_back_each(&note);
        self.life.cancel_running();
        tasks.extend(self.stop_service_each(&note));
        tasks
    }

    fn stop_service_each<R>(&self, note: impl Fn(&Task) -> R) -> Vec<(Task, R)> {
        let tasks = self.service().map(ExecutorService::shutdown_now).unwrap_or_default();
        tasks.into_iter().filter_map(|task| self.life.to_its_user(task, &note)).collect()
    }

    pub(crate) fn is_terminated(&self) -> bool {
        self.life.is_over() && self.service().is_none_or(ExecutorService::is_terminated)
    }

    pub(crate) fn await_termination(&self, timeout: Duration) -> bool {
        let begin = Instant::now();
        let rest = || timeout.saturating_sub(begin.elapsed());
        self.life.await_end(timeout) && self.service().is_none_or(|service| service.await_termination(rest()))
    }

    /// Waits for the end, after a shutdown. `shutdown_now` is that of the executor whose life this is.
    pub(crate) fn close(&self, shutdown_now: impl FnOnce() -> Vec<Task>) {
        if let Some(service) = self.service() {
            service.close();
            if !service.is_terminated() {
                return; // it waits for the calling thread
            }
        }
        self.life.close(shutdown_now);
    }
}

/// What is the same in every [`ExecutorService`] that has an [`Underlying`]: all but `shutdown` and
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
