//! Runs many tasks at the same time, and waits for all of them or for the first success.
//!
//! `invoke_all` and `invoke_any` submit the tasks one by one, and then wait. Some cases need care: the
//! executor refuses one of the tasks, a deadline passes, the caller is cancelled, or the executor runs each
//! task inside `execute`. One rule covers all cases:
//!
//! > When the call returns, each task has ended, or was cancelled, or comes back in the error without having
//! > been run. If a cancelled task ignores its token, its body still runs to its end, and its result is
//! > dropped.
//!
//! # What ends the call
//!
//! | | `invoke_all` | `invoke_any` |
//! |---|---|---|
//! | the last task has ended | `Ok` with all handles | `AllFailed` |
//! | a task has succeeded | | `Ok` with its value; the other tasks are cancelled |
//! | deadline | `Ok` with all handles; unfinished tasks are cancelled | `TimedOut`; unfinished tasks are cancelled |
//! | the caller is cancelled | `Interrupted`; unfinished tasks are cancelled | as `invoke_all` |
//! | the pool has no free thread left | `Starved`; unfinished tasks are cancelled | as `invoke_all` |
//! | a task is refused | `Rejected`, after the accepted tasks have ended | `Rejected`, if all accepted tasks failed |
//!
//! A result takes precedence over a failure: if there is a result when the call gives up, the call returns
//! the result.
//!
//! # Refused half-way
//!
//! If the executor refuses a task, Java cancels the tasks that it has started and throws an exception. In
//! Java, two things are lost: the finished results, and the tasks that were not submitted yet. This library
//! waits until the accepted tasks have ended. The call returns the refused task and the tasks after it, so
//! that the caller can submit them again. So a batch that is too large for a bounded pool makes progress, and
//! no accepted task is cut off.
//!
//! # Why a call can end after its deadline
//!
//! The calling thread cancels the tasks, and runs the users' code that a cancellation causes: callbacks of
//! [`on_cancel`](crate::CancelToken::on_cancel) and of [`on_done`](crate::TaskHandle::on_done), and the
//! `Drop` of the values that a task has captured. The call returns after the last of these callbacks. All
//! threads of the executor can be blocked in tasks that only the callbacks can release. So perhaps no other
//! thread is free to run the callbacks. But other threads need not wait for the callbacks. Before the first
//! callback runs, the outcomes of all tasks are decided, and two kinds of threads are woken: threads that
//! wait for the tasks, and threads whose waits obey the tasks' tokens.
//!
//! # Left out
//!
//! A deadline does not end a blocking submission early. A submission can block if the pool has the
//! [`Block`](crate::Block) policy, or if the executor runs its tasks inline. `invoke_all` and `invoke_any`
//! check the deadline before each submission.

use std::error::Error;
use std::fmt;

use super::{Executor, RejectedExecution, RejectedSubmission};
use crate::cancel::cancelled::Cancelled;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::cancel::{check_current, masked, why_interrupted};
use crate::handle::{CancelBegun, CompletionQueue, FutureTask, PendingCompletion, TaskHandle, TryJoinError};
use crate::panics::{Panic, discard};
use crate::task::TaskState;
use crate::waiting::error::{RejectReason, WaitError, into_io_error};
use crate::waiting::starvation::Starvation;
use crate::waiting::wait::Deadline;

// ----- all -----

/// The handles of the tasks whose outcomes must be decided before the call returns. The drop of this value
/// cancels the unfinished tasks.
struct InvokeAllTasks<T: Send + 'static>(Vec<TaskHandle<T>>);

impl<T: Send + 'static> InvokeAllTasks<T> {
    /// Cancels the tasks in reverse order: the last task first. In the opposite order, a cancelled task could
    /// free a worker, and that worker would begin a task that is about to be cancelled. Before the first
    /// callback of a user runs, all outcomes are decided, and all threads that wait for the tasks are woken.
    fn cancel(&self, why: &CancelReason) {
        let cancel = |handle: &TaskHandle<T>| handle.begin_cancel(why.clone());
        let begun: Vec<_> = self.0.iter().rev().filter_map(cancel).collect();
        begun.into_iter().for_each(CancelBegun::end);
    }

    /// Cancels the unfinished tasks, and returns all handles. All returned handles are finished.
    fn into_finished(mut self, why: &CancelReason) -> Vec<TaskHandle<T>> {
        self.cancel(why);
        std::mem::take(&mut self.0)
    }
}

impl<T: Send + 'static> Drop for InvokeAllTasks<T> {
    fn drop(&mut self) {
        self.cancel(&CancelReason::of(CancelKind::Requested));
    }
}

pub(super) fn all<T: Send + 'static>(
    executor: &(impl Executor + ?Sized),
    tasks: Vec<FutureTask<T>>,
    deadline: Deadline,
) -> Result<Vec<TaskHandle<T>>, InvokeAllError<T>> {
    let mut batch = InvokeAllTasks(Vec::with_capacity(tasks.len()));
    let (mut stopped, not_submitted) = submit_each(executor, tasks, deadline, &mut batch);
    if !matches!(stopped, Some(InvokeFailure::Interrupted | InvokeFailure::Starved(_))) {
        // Waits for the tasks in the order of their submission. Most waits are short, because later tasks end
        // while this thread waits for earlier tasks.
        match batch.0.iter().try_for_each(|handle| handle.wait_for_end(deadline)) {
            Ok(()) | Err(WaitError::TimedOut) => {}
            Err(WaitError::Interrupted) => stopped = Some(InvokeFailure::Interrupted),
            Err(WaitError::Starved(starvation)) => stopped = Some(InvokeFailure::Starved(starvation)),
        }
    }
    let handles =
        batch.into_finished(&stopped.as_ref().map_or(CancelReason::of(CancelKind::Deadline), why_cancelled));
    match stopped {
        None => Ok(handles),
        Some(reason) => Err(InvokeAllError { reason, handles, not_submitted }),
    }
}

/// Returns the reason with which a call that ends with `end` cancels its unfinished tasks. After a refusal,
/// the call cancels tasks only at its deadline.
fn why_cancelled(end: &InvokeFailure) -> CancelReason {
    match end {
        InvokeFailure::TimedOut | InvokeFailure::Rejected(_) => CancelReason::of(CancelKind::Deadline),
        InvokeFailure::Interrupted => why_interrupted(),
        _ => CancelReason::of(CancelKind::Requested),
    }
}

/// Submits one task after the other. If the submission must stop, the second result holds the tasks that were
/// not submitted. After the deadline, each remaining task is dropped instead of submitted, and its handle is
/// cancelled.
fn submit_each<T: Send + 'static>(
    executor: &(impl Executor + ?Sized),
    tasks: Vec<FutureTask<T>>,
    deadline: Deadline,
    batch: &mut InvokeAllTasks<T>,
) -> (Option<InvokeFailure>, Vec<FutureTask<T>>) {
    let mut tasks = tasks.into_iter();
    while let Some(FutureTask { task, handle }) = tasks.next() {
        let (reason, task) = if check_current().is_err() {
            (InvokeFailure::Interrupted, task)
        } else if deadline.has_passed() {
            handle.cancel_because(CancelReason::of(CancelKind::Deadline));
            drop(task);
            batch.0.push(handle);
            continue;
        } else {
            match executor.execute_task(task) {
                Ok(()) => {
                    batch.0.push(handle);
                    continue;
                }
                Err(RejectedExecution { reason, task }) => (reason.into(), task),
            }
        };
        return (Some(reason), std::iter::once(FutureTask { task, handle }).chain(tasks).collect());
    }
    (None, Vec::new())
}

// ----- any -----

/// Submits a task. When the task has ended, `completions` gives out its handle. Calls `note` before the
/// executor gets the task.
pub(crate) fn submit_to<T: Send + 'static>(
    completions: &CompletionQueue<T>,
    executor: &(impl Executor + ?Sized),
    FutureTask { task, handle }: FutureTask<T>,
    note: impl FnOnce(&PendingCompletion<T>),
) -> Result<PendingCompletion<T>, RejectedSubmission<T>> {
    let expected = completions.expect(handle);
    note(&expected);
    match executor.execute_task(task) {
        Ok(()) => Ok(expected),
        Err(RejectedExecution { reason, task }) => match completions.withdraw(expected) {
            Ok(handle) => Err(RejectedSubmission { reason, task, handle }),
            // In spite of the refusal, `completions` gives out the handle: either the executor has run the
            // task although it reports a refusal, or the task was cancelled just now.
            Err(expected) => Ok(expected),
        },
    }
}

/// Tasks that race for the first success. The drop of the race cancels the tasks that have not ended.
struct Race<T: Send + 'static, E: Send + 'static> {
    running: CompletionQueue<Result<T, E>>,
    /// The submitted tasks, with one entry for each task. With the entry of a task, the race can cancel this
    /// task.
    submitted: Vec<PendingCompletion<Result<T, E>>>,
    losers: Vec<Loser<T, E>>,
    not_submitted: Vec<FutureTask<Result<T, E>>>,
}

enum Loser<T: Send + 'static, E: Send + 'static> {
    Failed(E),
    /// The task panicked or was cancelled. If another task succeeds, the handle is dropped, and the task's
    /// panic goes to the panic handler.
    Ended(TaskHandle<Result<T, E>>),
}

pub(super) fn any<T: Send + 'static, E: Send + 'static>(
    executor: &(impl Executor + ?Sized),
    tasks: Vec<FutureTask<Result<T, E>>>,
    deadline: Deadline,
) -> Result<T, InvokeAnyError<T, E>> {
    let (running, submitted) = (CompletionQueue::new(), Vec::with_capacity(tasks.len()));
    let mut race = Race { running, submitted, losers: Vec::new(), not_submitted: Vec::new() };
    if tasks.is_empty() {
        return Err(race.lost(InvokeFailure::Empty));
    }
    match race.start(executor, tasks, deadline) {
        Ok(value) => {
            race.cancel(&CancelReason::new("another task was first"));
            Ok(value)
        }
        Err(reason) => race.late_winner(&reason).ok_or_else(|| race.lost(reason)),
    }
}

impl<T: Send + 'static, E: Send + 'static> Race<T, E> {
    fn start(
        &mut self,
        executor: &(impl Executor + ?Sized),
        tasks: Vec<FutureTask<Result<T, E>>>,
        deadline: Deadline,
    ) -> Result<T, InvokeFailure> {
        let mut tasks = tasks.into_iter();
        let mut refused = None;
        while let Some(task) = tasks.next() {
            // A task may already have succeeded: an inline executor runs each task at once, and other
            // executors can run tasks while this thread submits further tasks.
            while let Some(handle) = self.running.try_next() {
                if let Some(value) = self.judge(handle) {
                    return Ok(value);
                }
            }
            let stop = if check_current().is_err() {
                (InvokeFailure::Interrupted, task)
            } else if deadline.has_passed() {
                (InvokeFailure::TimedOut, task)
            } else {
                // The race makes an entry for the task before the race submits the task. So if the executor
                // panics, the drop of the race cancels the task.
                let submitted = &mut self.submitted;
                match submit_to(&self.running, executor, task, |task| submitted.push(task.clone())) {
                    Ok(_) => continue,
                    Err(RejectedSubmission { reason, task, handle }) => {
                        self.submitted.pop();
                        (reason.into(), FutureTask { task, handle })
                    }
                }
            };
            self.not_submitted = std::iter::once(stop.1).chain(tasks).collect();
            if matches!(stop.0, InvokeFailure::Rejected(_)) {
                refused = Some(stop.0);
                break;
            }
            return Err(stop.0);
        }
        self.first_success(deadline).map_err(|reason| match (reason, refused) {
            (InvokeFailure::AllFailed, Some(refused)) => refused,
            (reason, _) => reason,
        })
    }

    fn first_success(&mut self, deadline: Deadline) -> Result<T, InvokeFailure> {
        loop {
            match self.running.next(deadline) {
                Ok(Some(handle)) => {
                    if let Some(value) = self.judge(handle) {
                        return Ok(value);
                    }
                }
                Ok(None) => return Err(InvokeFailure::AllFailed),
                Err(WaitError::TimedOut) => return Err(InvokeFailure::TimedOut),
                Err(WaitError::Interrupted) => return Err(InvokeFailure::Interrupted),
                Err(WaitError::Starved(starvation)) => return Err(InvokeFailure::Starved(starvation)),
            }
        }
    }

    /// Returns the value of a task that has succeeded. If the task has failed, adds the task to the list of
    /// losers.
    fn judge(&mut self, handle: TaskHandle<Result<T, E>>) -> Option<T> {
        if handle.state() != TaskState::Completed {
            self.losers.push(Loser::Ended(handle));
            return None;
        }
        match handle.try_join() {
            Ok(Ok(value)) => Some(value),
            Ok(Err(error)) => {
                self.losers.push(Loser::Failed(error));
                None
            }
            Err(_) => unreachable!("the task has completed"),
        }
    }

    /// Cancels all unfinished tasks. If a task has succeeded just before the cancellation, returns the value
    /// of this task.
    fn late_winner(&mut self, end: &InvokeFailure) -> Option<T> {
        self.cancel(&why_cancelled(end));
        let mut winner = None;
        while let Some(handle) = self.next_decided() {
            if winner.is_none() {
                winner = self.judge(handle);
            }
        }
        winner
    }

    /// Cancels the unfinished tasks in the order of [`InvokeAllTasks::cancel`].
    fn cancel(&self, why: &CancelReason) {
        let cancel = |task: &PendingCompletion<Result<T, E>>| task.begin_cancel(why.clone());
        let begun: Vec<_> = self.submitted.iter().rev().filter_map(cancel).collect();
        begun.into_iter().for_each(CancelBegun::end);
    }

    /// Returns the next handle. The outcomes of all tasks must be decided. A thread may have decided an
    /// outcome without having delivered the handle. Between these two steps the thread runs no user code,
    /// so this wait is short.
    fn next_decided(&self) -> Option<TaskHandle<Result<T, E>>> {
        masked(|| self.running.next(Deadline::NEVER)).ok().flatten()
    }

    fn lost(&mut self, reason: InvokeFailure) -> InvokeAnyError<T, E> {
        let failures = std::mem::take(&mut self.losers).into_iter().map(TaskFailure::from).collect();
        InvokeAnyError { reason, failures, not_submitted: std::mem::take(&mut self.not_submitted) }
    }
}

impl<T: Send + 'static, E: Send + 'static> Drop for Race<T, E> {
    fn drop(&mut self) {
        self.cancel(&CancelReason::of(CancelKind::Requested));
        while let Some(handle) = self.next_decided() {
            drop(handle);
        }
        discard(std::mem::take(&mut self.losers)); // the errors are users' values
    }
}

impl<T: Send + 'static, E: Send + 'static> From<Loser<T, E>> for TaskFailure<E> {
    fn from(loser: Loser<T, E>) -> Self {
        match loser {
            Loser::Failed(error) => Self::Failed(error),
            Loser::Ended(handle) => match handle.try_join() {
                Err(TryJoinError::Panicked(panic)) => Self::Panicked(panic),
                Err(TryJoinError::Cancelled(cancelled)) => Self::Cancelled(cancelled),
                _ => Self::Cancelled(Cancelled),
            },
        }
    }
}

// ----- errors -----

/// The error of [`invoke_all`](super::ExecutorExt::invoke_all): the call could not submit all tasks, or could
/// not wait until they ended.
///
/// The outcome of each accepted task is already decided. A running body that ignores its token continues
/// after the call, and its result is dropped.
///
/// ```
/// use executor::{DirectExecutor, InvokeFailure, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2);
/// pool.shutdown();
/// let error = pool.invoke_all((1..=2).map(|n| move || n)).unwrap_err();
/// assert!(matches!(error.reason, InvokeFailure::Rejected(_)));
/// let handles = DirectExecutor.invoke_all(error.not_submitted)?; // on this thread
/// assert_eq!(handles.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping it drops the tasks that were not run"]
#[non_exhaustive]
pub struct InvokeAllError<T> {
    /// The reason why the call failed.
    pub reason: InvokeFailure,
    /// The handles of the accepted tasks, in the order of the tasks. All these handles are finished. If the
    /// executor refused a task, the call has waited until the accepted tasks ended. After an interruption, or
    /// at the deadline, the call has cancelled the unfinished tasks.
    pub handles: Vec<TaskHandle<T>>,
    /// The tasks that were not accepted, in the order in which the caller passed them. The caller can submit
    /// these tasks again. If the reason is a refusal, the first task of this list is the refused task.
    pub not_submitted: Vec<FutureTask<T>>,
}

/// The error of [`invoke_any`](super::ExecutorExt::invoke_any) and
/// [`invoke_any_timeout`](super::ExecutorExt::invoke_any_timeout): no task has succeeded.
///
/// Each accepted task has failed, or was cancelled because the call gave up. A running body that ignores its
/// token continues after the call, and its result is dropped.
///
/// ```
/// use executor::{InvokeFailure, ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2);
/// let ports = ["http", "https"].map(|text| move || text.parse::<u16>());
/// let error = pool.invoke_any(ports).unwrap_err();
/// assert!(matches!(error.reason, InvokeFailure::AllFailed));
/// assert_eq!(error.failures.len(), 2);
/// ```
#[must_use = "dropping it drops the tasks that were not run"]
#[non_exhaustive]
pub struct InvokeAnyError<T, E> {
    /// The reason why the call failed.
    pub reason: InvokeFailure,
    /// The outcomes of the accepted tasks: first the tasks that failed, in the order in which they failed,
    /// then the tasks that were cancelled because the call gave up.
    pub failures: Vec<TaskFailure<E>>,
    /// The tasks that were not accepted, in the order in which the caller passed them. The caller can submit
    /// these tasks again.
    pub not_submitted: Vec<FutureTask<Result<T, E>>>,
}

/// The reason why [`invoke_all`](super::ExecutorExt::invoke_all) or
/// [`invoke_any`](super::ExecutorExt::invoke_any) failed.
///
/// ```
/// use executor::{DirectExecutor, InvokeFailure, prelude::*};
///
/// let no_tasks: [fn() -> Result<u16, String>; 0] = [];
/// let error = DirectExecutor.invoke_any(no_tasks).unwrap_err();
/// assert!(matches!(error.reason, InvokeFailure::Empty));
/// ```
#[doc(alias = "InvokeAllFailure")]
#[doc(alias = "InvokeAnyFailure")]
#[derive(Debug)]
#[non_exhaustive]
pub enum InvokeFailure {
    /// There was no task. Only `invoke_any` and `invoke_any_timeout` return this failure.
    Empty,
    /// Each task has failed. Only `invoke_any` and `invoke_any_timeout` return this failure.
    AllFailed,
    /// The executor refused a task. If `invoke_any` returns this failure, all accepted tasks have failed.
    Rejected(RejectReason),
    /// The time limit has passed. Only `invoke_any_timeout` returns this failure.
    TimedOut,
    /// The *calling* task was cancelled.
    Interrupted,
    /// Every thread that could run the tasks is itself waiting.
    Starved(Starvation),
}

/// The way in which a task of [`invoke_any`](super::ExecutorExt::invoke_any) failed.
///
/// ```
/// use executor::{DirectExecutor, TaskFailure, prelude::*};
///
/// let error = DirectExecutor.invoke_any([|| "http".parse::<u16>()]).unwrap_err();
/// assert!(matches!(&error.failures[0], TaskFailure::Failed(_not_a_number)));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum TaskFailure<E> {
    /// The task returned an error.
    Failed(E),
    /// The task panicked.
    Panicked(Panic),
    /// The task was cancelled, or was dropped without having been run. The value contains the
    /// [reason](Cancelled::reason).
    Cancelled(Cancelled),
}

impl From<RejectReason> for InvokeFailure {
    fn from(reason: RejectReason) -> Self {
        match reason {
            RejectReason::Interrupted => Self::Interrupted,
            RejectReason::Starved(starvation) => Self::Starved(starvation),
            reason => Self::Rejected(reason),
        }
    }
}

impl fmt::Display for InvokeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no task"),
            Self::AllFailed => f.write_str("each task has failed"),
            Self::Rejected(reason) => write!(f, "a task was rejected: {reason}"),
            Self::TimedOut => f.write_str("no task has succeeded in time"),
            Self::Interrupted => f.write_str("the calling task was cancelled"),
            Self::Starved(starvation) => starvation.fmt(f),
        }
    }
}

impl<E: fmt::Debug> fmt::Debug for TaskFailure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => f.debug_tuple("Failed").field(error).finish(),
            Self::Panicked(panic) => f.debug_tuple("Panicked").field(panic).finish(),
            Self::Cancelled(cancelled) => fmt::Debug::fmt(cancelled, f),
        }
    }
}

impl<E: fmt::Display> fmt::Display for TaskFailure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Panicked(panic) => panic.fmt(f),
            Self::Cancelled(cancelled) => cancelled.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> Error for TaskFailure<E> {}

// `Debug` is implemented by hand, because a derived implementation would require `T: Debug`.
impl<T> fmt::Debug for InvokeAllError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvokeAllError")
            .field("reason", &self.reason)
            .field("handles", &self.handles)
            .field("not_submitted", &self.not_submitted.len())
            .finish()
    }
}

impl<T> fmt::Display for InvokeAllError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<T> Error for InvokeAllError<T> {}

into_io_error!(InvokeAllError<T> => InvokeFailure in reason, where T: Send + 'static);

impl<T, E: fmt::Debug> fmt::Debug for InvokeAnyError<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvokeAnyError")
            .field("reason", &self.reason)
            .field("failures", &self.failures)
            .field("not_submitted", &self.not_submitted.len())
            .finish()
    }
}

impl<T, E: fmt::Display> fmt::Display for InvokeAnyError<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)?;
        match self.failures.first() {
            Some(failure) => write!(f, "; the first failure: {failure}"),
            None => Ok(()),
        }
    }
}

// The bound is not `E: Error`, because `Box<dyn Error>` and `String` do not implement `Error`.
impl<T, E: fmt::Debug + fmt::Display> Error for InvokeAnyError<T, E> {}

into_io_error!(
    InvokeAnyError<T, E> => InvokeFailure in reason,
    where T: Send + 'static, E: fmt::Debug + fmt::Display + Send + Sync + 'static
);
