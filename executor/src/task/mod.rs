//! A unit of work: a closure that some thread runs once, later.
//!
//! Executors pass [`Task`]s around, and queues hold them. Most closures capture only a few words. Boxing each
//! closure would cost more than any other part of a submission, because one thread allocates the box and
//! another thread frees it. So a closure of up to three words is stored inside the task; only a larger
//! closure is boxed. The parts that few tasks have (a name, a priority, a [`TaskObserver`]) are in one
//! optional box.
//!
//! [`Task::run`] takes a task by value, so each task runs at most once. A panic in the closure is caught and
//! becomes the [`Outcome`]. While the task runs, its own [`CancelToken`] is the thread's
//! current token.
//!
//! A task made with a handle ([`FutureTask`](crate::FutureTask)) shares its state with the handle. If a task
//! with a handle is dropped before it ran, its handle is completed as cancelled, so no joiner waits for ever.
//!
//! # Unsafe code
//!
//! [`Closure`] erases the type of a closure stored in place, which safe Rust cannot express. Its invariants:
//!
//! 1. Between `new` and `call` or `drop`, `data` holds a valid value of `F`, the type for which `end` was
//!    made.
//! 2. `call` and `drop` each consume the `Closure`, so each value is taken out once.
//! 3. `F` is `Send`, so another thread may consume the value. `&Closure` gives no access to the value, so a
//!    shared `Closure` is harmless whatever `F` is.
#![allow(unsafe_code, reason = "a closure stored in place has its type erased")]

#[deny(unsafe_code)]
pub(crate) mod outcome;
pub use outcome::Outcome;

#[deny(unsafe_code)]
pub(crate) mod observer;

pub(crate) mod borrowed;

#[deny(unsafe_code)]
pub(crate) mod tombstones;

use std::borrow::Cow;
use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};

use crate::cancel::callbacks;
use crate::cancel::cancelled::Cancelled;
use crate::cancel::reason::CancelReason;
use crate::cancel::{CancelToken, RunningTask, enter_task};
use crate::ids::{QueueId, TaskId};
use crate::panics::contain;
use crate::sync::{Arc, Instant};
use crate::task::borrowed::ScopedJob;
use crate::task::observer::{Accompanied, TaskObserver};

/// A closure that is run once, with an id and an optional name.
///
/// Executors take closures directly; make a `Task` to give a closure a name.
///
/// ```
/// use executor::{Outcome, Task};
///
/// let task = Task::new(|| println!("indexing")).named("index");
/// assert_eq!(task.name(), Some("index"));
/// assert!(matches!(task.run(), Outcome::Completed));
/// ```
#[doc(alias = "Runnable")]
#[must_use = "a task does nothing until it is run"]
pub struct Task {
    body: TaskBody,
    rare: Option<Box<Rare>>, // dropped after the body
    id: TaskId,
}

/// The parts that few tasks have.
#[derive(Default)]
struct Rare {
    name: Option<Arc<str>>, // shared with labels
    priority: i32,
    observers: Option<Box<Accompanied>>,
    /// The moment when the task was given to its pool, if the pool's hooks want times.
    given_at: Option<Instant>,
}

enum TaskBody {
    Closure(Closure),
    Other(Other),
}

/// A task body that is not a closure. `Other` is a separate enum, so that [`TaskBody`] needs no tag word: a
/// null `end` marks this variant.
enum Other {
    WithHandle(CompleteOnDrop),
    /// A closure of a scope. The scope may take the closure before this task runs.
    ScopedJob(ScopedJob),
}

impl TaskBody {
    #[inline]
    fn cell(&self) -> Option<&dyn HandleCell> {
        match self {
            Self::Other(Other::WithHandle(completion)) => Some(&**completion.cell()),
            Self::Closure(_) | Self::Other(Other::ScopedJob(_)) => None,
        }
    }

    #[inline]
    fn run<R>(self, before_publish: impl FnOnce(&Outcome), read: impl FnOnce(Outcome) -> R) -> R {
        match self {
            Self::Closure(closure) => read(run_closure(|| closure.call(), before_publish)),
            Self::Other(Other::WithHandle(completion)) => read(completion.fulfil(&mut once(before_publish))),
            Self::Other(Other::ScopedJob(lent)) => read(run_closure(|| _ = lent.run(), before_publish)),
        }
    }
}

#[inline]
fn run_closure(closure: impl FnOnce(), before_publish: impl FnOnce(&Outcome)) -> Outcome {
    let result = {
        let _frame = enter_task(None);
        contain(closure)
    };
    let outcome = result.map_or_else(Outcome::Panicked, |()| Outcome::Completed);
    before_publish(&outcome);
    outcome
}

impl Task {
    /// Makes a task that runs this closure. Allocates only if the closure captures more than three words.
    ///
    /// ```
    /// use executor::{Outcome, Task};
    ///
    /// let task = Task::new(|| println!("indexing"));
    /// assert!(matches!(task.run(), Outcome::Completed));
    /// ```
    #[inline]
    pub fn new(f: impl FnOnce() + Send + 'static) -> Self {
        Self { body: TaskBody::Closure(Closure::new(f)), rare: None, id: TaskId::next() }
    }

    /// Makes a task with a given id, because all runs of a series have the id of the series.
    pub(crate) fn of(id: TaskId, f: impl FnOnce() + Send + 'static) -> Self {
        Self { body: TaskBody::Closure(Closure::new(f)), rare: None, id }
    }

    /// Makes a task that shares this cell with a handle.
    pub(crate) fn with_handle(cell: Arc<dyn HandleCell>, id: TaskId) -> Self {
        Self { body: TaskBody::Other(Other::WithHandle(CompleteOnDrop(Some(cell)))), rare: None, id }
    }

    /// Makes the task for a closure that a scope has lent.
    pub(crate) fn of_scope(lent: ScopedJob) -> Self {
        Self { body: TaskBody::Other(Other::ScopedJob(lent)), rare: None, id: TaskId::next() }
    }

    /// Gives the task a name, which appears in reports and snapshots.
    ///
    /// ```
    /// let task = executor::Task::new(|| ()).named("index");
    /// assert_eq!(task.name(), Some("index"));
    /// ```
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.rare().name = Some(name.into().into());
        self
    }

    /// Returns the task's name, if it has one.
    ///
    /// ```
    /// assert_eq!(executor::Task::new(|| ()).name(), None);
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.rare.as_ref()?.name.as_deref()
    }

    /// Gives the task a priority, for a [`PriorityQueue`](crate::PriorityQueue): a task with a higher
    /// priority runs sooner.
    ///
    /// A task that waits in a strand of a [`SerialExecutor`](crate::SerialExecutor) or a
    /// [`StripedExecutor`](crate::StripedExecutor) gives its strand this priority. The place of the task in
    /// the strand stays the same.
    ///
    /// ```
    /// let task = executor::Task::new(|| ()).prioritized(5);
    /// assert_eq!(task.priority(), 5);
    /// ```
    pub fn prioritized(mut self, priority: i32) -> Self {
        self.set_priority(priority);
        self
    }

    /// Sets the priority. The task must not be in a queue, because the place of a task in a queue depends on
    /// the old priority.
    pub(crate) fn set_priority(&mut self, priority: i32) {
        if priority != self.priority() {
            self.rare().priority = priority;
        }
    }

    /// Records the moment when the task was given to a pool.
    pub(crate) fn given(&mut self, now: Instant) {
        self.rare().given_at = Some(now);
    }

    pub(crate) fn given_at(&self) -> Option<Instant> {
        self.rare.as_ref()?.given_at
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Returns the priority, which is 0 unless another priority was set.
    ///
    /// ```
    /// assert_eq!(executor::Task::new(|| ()).priority(), 0);
    /// ```
    pub fn priority(&self) -> i32 {
        self.rare.as_ref().map_or(0, |rare| rare.priority)
    }

    /// Returns the label by which reports name the task.
    #[inline]
    pub(crate) fn label(&self) -> TaskLabel {
        TaskLabel { id: self.id, name: self.rare.as_ref().and_then(|rare| rare.name.clone()) }
    }

    /// Records that the task enters a queue. If the task is cancelled in the queue, the queue owner is
    /// notified. Returns false if the task is cancelled already; in that case the queue owner itself must
    /// count the task.
    #[inline]
    pub(crate) fn enter_queue(&self, queue_id: QueueId) -> bool {
        self.observers().for_each(|observer| observer.queued(queue_id));
        self.body.cell().is_none_or(|cell| cell.enter_queue(queue_id))
    }

    /// Records that the task has left the queue. Returns true if the task was cancelled while it was in the
    /// queue.
    #[inline]
    pub(crate) fn leave_queue(&self) -> bool {
        self.observers().for_each(TaskObserver::dequeued);
        self.body.cell().is_some_and(HandleCell::leave_queue)
    }

    /// Returns whether the task was cancelled after it entered its present queue. The task must be in that
    /// queue. The method takes no lock.
    pub(crate) fn is_cancelled_in_queue(&self) -> bool {
        self.body.cell().is_some_and(|cell| cell.queue().is_none())
    }

    /// Returns the reason why the task was cancelled. The task must be cancelled, and must not have run.
    pub(crate) fn why_cancelled(&self) -> Cancelled {
        self.body.cell().map_or(Cancelled, HandleCell::why_cancelled)
    }

    /// Returns the address of the collector that gets the handle when the task has ended, or 0 if there is no
    /// collector.
    pub(crate) fn collector(&self) -> usize {
        self.body.cell().map_or(0, RunningTask::collector)
    }

    /// Returns the id that the task and its handle have.
    ///
    /// ```
    /// let (one, another) = (executor::Task::new(|| ()), executor::Task::new(|| ()));
    /// assert_ne!(one.id(), another.id());
    /// ```
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// Returns whether the task was cancelled through its handle. Running a cancelled task has no effect.
    ///
    /// ```
    /// use executor::FutureTask;
    ///
    /// let FutureTask { task, handle } = FutureTask::new(|| 6 * 7);
    /// assert!(!task.is_cancelled());
    /// handle.cancel();
    /// assert!(task.is_cancelled());
    /// ```
    pub fn is_cancelled(&self) -> bool {
        // A finished task that still exists was never run, because a run consumes the task.
        self.body.cell().is_some_and(HandleCell::is_finished)
    }

    /// Runs the task on the calling thread and returns its outcome. Never panics.
    ///
    /// `run` is for authors of executors. All other code gives tasks to an executor.
    ///
    /// ```
    /// use executor::{Outcome, Task};
    ///
    /// let outcome = Task::new(|| panic!("no such file")).run();
    /// assert!(matches!(outcome, Outcome::Panicked(panic) if panic.message() == "no such file"));
    /// ```
    ///
    /// # Cancellation
    /// While the task runs, the task's own token is the current token of the thread: a child of the caller's
    /// current token.
    ///
    /// # Blocking
    /// Blocks until the body has ended.
    pub fn run(self) -> Outcome {
        let label = self.label();
        let set_origin = |outcome: &Outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), None);
            }
        };
        self.run_and(set_origin, |outcome| outcome)
    }

    /// Runs the task. Calls `before_publish` after the body, and before the handle's owner can see the
    /// outcome. A thread that has joined the task sees the effects of that call.
    #[inline]
    pub(crate) fn run_then(self, before_publish: impl FnOnce(&Outcome)) {
        self.run_and(before_publish, drop);
    }

    /// Calls `read` where the outcome is made: to move an outcome takes longer than to run a short task.
    #[inline]
    fn run_and<R>(self, before_publish: impl FnOnce(&Outcome), read: impl FnOnce(Outcome) -> R) -> R {
        match self.rare {
            None => self.body.run(before_publish, read),
            Some(rare) => {
                let body = |end: &mut dyn FnMut(&Outcome)| self.body.run(end, |outcome| outcome);
                read(Accompanied::run(rare.observers, body, &mut once(before_publish)))
            }
        }
    }
}

/// Turns an `FnOnce` into an `FnMut`. Only the first call of the returned closure has an effect.
fn once(call: impl FnOnce(&Outcome)) -> impl FnMut(&Outcome) {
    let mut call = Some(call);
    move |outcome| {
        if let Some(call) = call.take() {
            call(outcome);
        }
    }
}

impl<F: FnOnce() + Send + 'static> From<F> for Task {
    fn from(f: F) -> Self {
        Self::new(f)
    }
}

/// A value that [`execute`](crate::ExecutorExt::execute) and similar methods take: a closure, or a [`Task`].
///
/// This trait has no methods. This trait exists so that a compiler's message says what a task is. Code that
/// is generic over tasks uses it as a bound:
///
/// ```
/// use executor::{Executor, IntoTask, RejectedExecution, ThreadPoolExecutor, prelude::*};
///
/// fn run_later(pool: &dyn Executor, task: impl IntoTask) -> Result<(), RejectedExecution> {
///     pool.execute(task)
/// }
///
/// run_later(&ThreadPoolExecutor::single(), || println!("later"))?;
/// # Ok::<(), RejectedExecution>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a task",
    label = "an executor runs a closure without parameters that is `Send` and `'static`",
    note = "a task is a closure that returns `()`, or a `Task` made of one; `submit` takes a closure with a result",
    note = "an `async` block is not a task: give it to an async runtime, or block in a closure instead"
)]
pub trait IntoTask: Into<Task> {}

impl<F: FnOnce() + Send + 'static> IntoTask for F {}
impl IntoTask for Task {}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Task");
        debug.field("id", &self.id.as_u64());
        if let Some(name) = self.name() {
            debug.field("name", &name);
        }
        debug.finish_non_exhaustive()
    }
}

/// The state of a task.
///
/// ```
/// use executor::{FutureTask, TaskState};
///
/// let FutureTask { task, handle } = FutureTask::new(|| 6 * 7);
/// assert_eq!(handle.state(), TaskState::Pending);
/// task.run();
/// assert_eq!(handle.state(), TaskState::Completed);
/// ```
#[doc(alias = "Future.State")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// Not begun.
    Pending,
    /// The body is running, or the [`Promise`](crate::Promise) is open.
    Running,
    /// The body has returned, or the promise was completed.
    Completed,
    /// The body has panicked, or the promise was completed with a panic.
    Panicked,
    /// The task was cancelled, before or while it ran.
    Cancelled,
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Panicked => "panicked",
            Self::Cancelled => "cancelled",
        })
    }
}

/// The label that identifies a task in a report: the task's name, or its id if it has no name.
#[derive(Debug, Clone)]
pub(crate) struct TaskLabel {
    id: TaskId,
    name: Option<Arc<str>>,
}

impl TaskLabel {
    /// Makes the label of a task without a name.
    pub(crate) fn unnamed(id: TaskId) -> Self {
        Self { id, name: None }
    }

    /// Returns a label with this name and the id of `whole`, the task that runs this task as one of its
    /// parts.
    pub(crate) fn for_task(self, whole: TaskId) -> Self {
        Self { id: whole, ..self }
    }

    pub(crate) fn id(&self) -> TaskId {
        self.id
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl fmt::Display for TaskLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => self.id.fmt(f),
        }
    }
}

// ----- what goes along with a task -----

impl Task {
    /// Gives the task an observer, around the observers that the task has already.
    pub(crate) fn accompanied(mut self, observer: impl TaskObserver + 'static) -> Self {
        let observers = &mut self.rare().observers;
        *observers = Some(Box::new(Accompanied { inner: observers.take(), observer }));
        self
    }

    /// Drops the observer that was added to the task last.
    pub(crate) fn alone(mut self) -> Self {
        if let Some(rare) = &mut self.rare {
            rare.observers = rare.observers.take().and_then(|mut outermost| outermost.inner.take());
        }
        self
    }

    /// Drops the observer with this root, and the observers around it: executors that got the task later have
    /// added these observers. So the task is again as it was when the executor with this root added its
    /// observer. A task without an observer with this root stays as it is.
    pub(crate) fn alone_from(mut self, root: &CancelToken) -> Self {
        while self.goes_under(root) {
            self = self.alone();
        }
        self
    }

    /// Returns whether an observer of the task has this root.
    pub(crate) fn goes_under(&self, root: &CancelToken) -> bool {
        self.observers().any(|observer| observer.root().is_some_and(|own| own.is(root)))
    }

    /// Returns the observers, from the outermost to the innermost.
    #[inline]
    fn observers(&self) -> impl Iterator<Item = &dyn TaskObserver> {
        let outermost = self.rare.as_ref().and_then(|rare| rare.observers.as_deref());
        std::iter::successors(outermost, |around| around.inner.as_deref()).map(|around| &around.observer)
    }

    /// Returns the task's strand methods if the task is a drain task; `None` for a user's task.
    #[inline]
    pub(crate) fn drain(&self) -> Option<&dyn StrandDrain> {
        self.body.cell()?.as_drain()
    }

    #[inline]
    pub(crate) fn drains_a_strand(&self) -> bool {
        self.drain().is_some()
    }

    /// Returns whether this task is the drain task of a strand that runs the strand's tasks under this root.
    pub(crate) fn drains_strand_under(&self, root: &CancelToken) -> bool {
        self.drain().is_some_and(|drain| drain.is_under(root))
    }

    /// Gives a drain task the present priority of its strand. The owner of a queue calls this method after
    /// [`enter_queue`](Self::enter_queue). Then a task that enters the strand later finds the queue, and asks
    /// the queue to [raise](crate::WorkQueue::raise) the drain task.
    #[inline]
    pub(crate) fn up_to_date(mut self) -> Self {
        if let Some(priority) = self.drain().map(StrandDrain::priority) {
            self.set_priority(priority);
        }
        self
    }

    /// Returns the label of this task in a list of waiting tasks. In the list, a drain task has the label of
    /// the task that it would run first.
    pub(crate) fn stands_for(&self) -> TaskLabel {
        self.drain().and_then(StrandDrain::first).unwrap_or_else(|| self.label())
    }

    /// Records that a user gets the task. Every executor that hands out accepted tasks must call this method,
    /// and must hold no lock during the call.
    pub(crate) fn handed_out(self) -> Self {
        self.observers().for_each(TaskObserver::handed_out);
        drop(self.drain().map(StrandDrain::handed_out));
        self.up_to_date()
    }

    /// Records that the task's executor was shut down and will not run the task. If the task is then dropped,
    /// its handle names the shutdown as the reason of the cancellation.
    pub(crate) fn left_out(&self) {
        if let Some(cell) = self.body.cell() {
            cell.left_out();
        }
    }

    /// Drops the task, which has not begun. Its handle says that the task was cancelled for this reason.
    pub(crate) fn drop_because(self, reason: CancelReason) {
        if let TaskBody::Other(Other::WithHandle(completion)) = &self.body {
            Arc::clone(completion.cell()).cancel(true, reason);
        }
    }

    /// Returns whether the task belongs to a scope, which waits until the task is run or dropped.
    pub(crate) fn is_of_scope(&self) -> bool {
        matches!(self.body, TaskBody::Other(Other::ScopedJob(_)))
    }

    /// Returns the tasks that had not begun when their executor was shut down. A user may keep the returned
    /// tasks for any length of time. Drops the tasks of scopes, because the scopes wait for them. The caller
    /// holds no lock.
    pub(crate) fn hand_out(tasks: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let tasks = tasks.into_iter().filter(|task| !task.is_of_scope());
        tasks.inspect(Self::left_out).map(Self::handed_out).collect()
    }
}

// ----- what a task shares with its handle -----

/// The cell that a task shares with its handle, without the type of the result. The executor that runs the
/// task, the queue in which the task waits, and a canceller use the cell through this trait.
pub(crate) trait HandleCell: RunningTask {
    fn state(&self) -> TaskState;

    /// Returns whether the outcome is decided. A body that has not begun when the outcome is decided never
    /// begins.
    fn is_finished(&self) -> bool;

    /// Decides the outcome as cancelled. Returns true if the outcome was not decided before this call. If
    /// `stop_body` is true, also asks a running body to stop.
    fn cancel(self: Arc<Self>, stop_body: bool, reason: CancelReason) -> bool;

    /// Returns the message of the task's panic, as long as the cell still has the result.
    fn panic_message(&self) -> Option<String>;

    /// Runs the body, calls `before_publish` with the outcome, and only then publishes the outcome.
    fn run(self: Arc<Self>, before_publish: &mut dyn FnMut(&Outcome)) -> Outcome;

    /// Completes the handle as cancelled, unless the handle is finished. Called when the task will not be
    /// run.
    fn abandon(self: Arc<Self>);

    /// Does the part of [`Task::left_out`] that concerns the cell.
    fn left_out(&self) {}

    /// Returns the reason for which the task was cancelled, if there is a reason.
    fn why_cancelled(&self) -> Cancelled {
        Cancelled
    }

    /// Does the part of [`Task::enter_queue`] that concerns the cell.
    fn enter_queue(&self, queue_id: QueueId) -> bool;

    /// Does the part of [`Task::leave_queue`] that concerns the cell.
    fn leave_queue(&self) -> bool;

    /// Returns the queue in which the task waits, if the task is in a queue and not cancelled.
    fn queue(&self) -> Option<QueueId>;

    /// Records that a timer will cancel the task, which has not begun.
    fn will_be_cancelled(&self);

    /// Returns the task's strand methods if the task is a drain task.
    fn as_drain(&self) -> Option<&dyn StrandDrain> {
        None
    }
}

/// The methods that a drain task of a `Strand` (in `composed`) has in addition to the methods of a
/// user's task. A queue owner can call these methods under the lock of the queue in which the task waits.
/// Only [`handed_out`](Self::handed_out) is called without a lock.
pub(crate) trait StrandDrain {
    /// Returns whether the strand runs its tasks under this root.
    fn is_under(&self, root: &CancelToken) -> bool;

    /// Returns the highest priority of the tasks that have waited in the strand since this drain task was
    /// made.
    fn priority(&self) -> i32;

    /// Returns the label of the task that the strand would run first.
    fn first(&self) -> Option<TaskLabel>;

    /// Takes the tasks of scopes out of the strand, because a user gets this drain task and can keep it for
    /// any length of time. The caller drops the returned tasks without a lock.
    fn handed_out(&self) -> Vec<Task>;
}

/// A value that must complete a handle. When the task runs, its outcome completes the handle; when this value
/// is dropped, the handle is completed as cancelled.
struct CompleteOnDrop(Option<Arc<dyn HandleCell>>);

impl CompleteOnDrop {
    fn cell(&self) -> &Arc<dyn HandleCell> {
        self.0.as_ref().expect("only the end of the duty takes the cell out")
    }

    fn fulfil(mut self, before_publish: &mut dyn FnMut(&Outcome)) -> Outcome {
        let cell = self.0.take().expect("a duty is fulfilled once, by value");
        cell.run(before_publish)
    }
}

impl Drop for CompleteOnDrop {
    fn drop(&mut self) {
        if let Some(cell) = self.0.take() {
            cell.abandon();
        }
    }
}

// ----- closures stored in place -----

type Words = [MaybeUninit<usize>; 3];

/// A `FnOnce() + Send` without its type: the closure is stored in place if it fits into three words, and in a
/// box if it does not.
struct Closure {
    /// Takes the value out of `data`, and calls or drops it.
    end: unsafe fn(*mut Words, call: bool),
    data: Words,
}

/// # Safety
/// `data` holds a valid `F`, which is taken out by this call.
unsafe fn end_stored<F: FnOnce()>(data: *mut Words, call: bool) {
    // SAFETY: the caller promises a valid `F`; `fits` was checked when the value was stored, so the value is
    // aligned.
    let f = unsafe { data.cast::<F>().read() };
    if call {
        f();
    }
}

const fn fits<F>() -> bool {
    size_of::<F>() <= size_of::<Words>() && align_of::<F>() <= align_of::<Words>()
}

impl Closure {
    fn new<F: FnOnce() + Send + 'static>(f: F) -> Self {
        if const { fits::<F>() } {
            Self::in_place(f)
        } else {
            Self::in_place(Box::new(f) as Box<dyn FnOnce() + Send>)
        }
    }

    fn in_place<F: FnOnce() + Send + 'static>(f: F) -> Self {
        const { assert!(fits::<Box<dyn FnOnce() + Send>>()) };
        assert!(const { fits::<F>() }, "the caller checks that it fits");
        let mut data: Words = [MaybeUninit::uninit(); 3];
        // SAFETY: `fits` says that `data` is large enough and aligned for an `F`. Invariant 1 holds from here
        // on.
        unsafe { data.as_mut_ptr().cast::<F>().write(f) };
        Self { end: end_stored::<F>, data }
    }

    #[inline]
    fn call(self) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: invariant 1; `ManuallyDrop` keeps `drop` from taking the value a second time.
        unsafe { (this.end)(&raw mut this.data, true) }
    }
}

impl Drop for Closure {
    fn drop(&mut self) {
        let (end, mut data) = (self.end, self.data);
        // The closure may have captured the last reference to another task. That task may have captured the
        // last reference to a third task, and so on. So the drop of the closure runs as a callback: this
        // limits the depth of nested drops, and stops a panic in a user's `Drop`. SAFETY: invariant 1; this
        // is the end of the `Closure`, so no other code takes the value out again. The value may be moved, so
        // its words may be moved. Another thread may drop the closure: invariant 3.
        callbacks::call(move || unsafe { end(&raw mut data, false) });
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A value that adds one to a counter when the value is dropped.
    struct Counted(Arc<AtomicUsize>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_task_is_no_larger_than_six_words() {
        assert!(size_of::<Task>() <= 6 * size_of::<usize>(), "{} bytes", size_of::<Task>());
    }

    #[test]
    fn small_and_large_closures_run_once_and_drop_what_they_captured_once() {
        fn check<const N: usize>() {
            let (dropped, ran) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let make = || {
                let (counted, ran, padding) = (Counted(dropped.clone()), ran.clone(), [7_u8; N]);
                Task::new(move || {
                    let _counted = &counted;
                    ran.fetch_add(
                        padding.iter().map(|&byte| usize::from(byte)).sum::<usize>() + 1,
                        Ordering::Relaxed,
                    );
                })
            };
            assert!(matches!(make().run(), Outcome::Completed));
            assert_eq!((ran.load(Ordering::Relaxed), dropped.load(Ordering::Relaxed)), (7 * N + 1, 1));
            drop(make());
            assert_eq!((ran.load(Ordering::Relaxed), dropped.load(Ordering::Relaxed)), (7 * N + 1, 2));
        }
        check::<0>(); // two words
        check::<8>(); // three words, the most that fits
        check::<9>(); // boxed
        check::<500>();
    }

    #[test]
    fn a_closure_that_wants_a_larger_alignment_is_boxed() {
        #[repr(align(64))]
        struct Aligned(u8);
        let aligned = Aligned(3);
        let seen = Arc::new(Mutex::new(0));
        let task = Task::new({
            let seen = seen.clone();
            move || {
                let aligned = &aligned;
                assert_eq!(std::ptr::from_ref(aligned).addr() % 64, 0);
                *seen.lock().unwrap() = aligned.0;
            }
        });
        assert!(matches!(task.run(), Outcome::Completed));
        assert_eq!(*seen.lock().unwrap(), 3);
    }

    #[test]
    fn a_panic_in_the_body_is_its_outcome_and_what_it_captured_is_dropped() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let counted = Counted(dropped.clone());
        let outcome = Task::new(move || {
            let _counted = &counted;
            panic!("no");
        })
        .run();
        assert!(matches!(outcome, Outcome::Panicked(panic) if panic.message() == "no"));
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_panic_in_the_drop_of_an_unrun_closure_is_contained() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        let bomb = Bomb;
        drop(Task::new(move || drop(bomb)));
    }

    #[test]
    fn ids_are_unique_across_threads_and_blocks() {
        let ids = Arc::new(Mutex::new(std::collections::HashSet::new()));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mine: Vec<_> = (0..3_000).map(|_| TaskId::next()).collect();
                    ids.lock().unwrap().extend(mine);
                });
            }
        });
        assert_eq!(ids.lock().unwrap().len(), 12_000);
    }
}
