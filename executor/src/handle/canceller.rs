//! A handle that can only cancel its task.

use std::fmt;

use super::debug_handle;
use super::listener::Name;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::ids::TaskId;
use crate::sync::Arc;
use crate::task::{HandleCell, TaskState};

/// A handle that can cancel its task, but cannot get the result.
///
/// ```
/// use executor::{TaskState, ThreadPoolExecutor, prelude::*};
/// use std::time::Duration;
///
/// let pool = ThreadPoolExecutor::fixed(2);
/// let number = pool.submit_cancellable(|token| token.sleep(Duration::from_secs(3600)).map(|()| 7))?;
/// let text = pool.submit_cancellable(|token| token.sleep(Duration::from_secs(3600)).map(|()| "seven"))?;
/// let cancellers = [number.canceller(), text.canceller()]; // one type, whatever the results are
/// assert!(cancellers.iter().all(|task| task.cancel()));
/// assert_eq!(number.state(), TaskState::Cancelled);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Canceller {
    pub(super) cell: Arc<dyn HandleCell>,
    pub(super) name: Option<Name>,
}

impl Canceller {
    /// Cancels the task, as [`TaskHandle::cancel`](crate::TaskHandle::cancel) does.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// let canceller = handle.canceller();
    /// assert!(canceller.cancel());
    /// assert!(!canceller.cancel()); // it is cancelled already
    /// # drop(task);
    /// ```
    ///
    /// # Blocking
    /// Blocks as [`TaskHandle::cancel`](crate::TaskHandle::cancel) does.
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel(&self) -> bool {
        self.cancel_because(CancelReason::of(CancelKind::Requested))
    }

    /// Cancels the task and says why, as [`TaskHandle::cancel_because`](crate::TaskHandle::cancel_because)
    /// does.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// use executor::JoinError;
    ///
    /// assert!(handle.canceller().cancel_because("the client hung up"));
    /// let Err(JoinError::Cancelled(cancelled)) = handle.join() else { unreachable!() };
    /// assert_eq!(cancelled.to_string(), "the task was cancelled: the client hung up");
    /// # drop(task);
    /// ```
    ///
    /// # Blocking
    /// Blocks as [`TaskHandle::cancel`](crate::TaskHandle::cancel) does.
    pub fn cancel_because(&self, reason: impl Into<CancelReason>) -> bool {
        Arc::clone(&self.cell).cancel(true, reason.into())
    }

    /// Cancels the task, but lets a running body continue, as
    /// [`TaskHandle::cancel_keep_running`](crate::TaskHandle::cancel_keep_running) does.
    ///
    /// ```
    /// let (promise, answer) = executor::Promise::<u32>::new();
    /// assert!(answer.canceller().cancel_keep_running());
    /// assert!(!promise.token().is_cancelled());
    /// ```
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel_keep_running(&self) -> bool {
        Arc::clone(&self.cell).cancel(false, CancelReason::of(CancelKind::Requested))
    }

    /// Records that a timer will call [`cancel`](Self::cancel), unless the task ends first.
    pub(crate) fn will_be_called(&self) {
        self.cell.will_be_cancelled();
    }

    /// Returns whether the outcome is decided, as [`TaskHandle::is_finished`](crate::TaskHandle::is_finished)
    /// does.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// let canceller = handle.canceller();
    /// assert!(!canceller.is_finished());
    /// task.run();
    /// assert!(canceller.is_finished());
    /// ```
    pub fn is_finished(&self) -> bool {
        self.cell.is_finished()
    }

    /// Returns the state of the task, as [`TaskHandle::state`](crate::TaskHandle::state) does.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// let canceller = handle.canceller();
    /// task.run();
    /// assert_eq!(canceller.state(), executor::TaskState::Completed);
    /// ```
    pub fn state(&self) -> TaskState {
        self.cell.state()
    }

    /// Returns the task's id.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// assert_eq!(handle.canceller().id(), handle.id());
    /// # drop(task);
    /// ```
    pub fn id(&self) -> TaskId {
        self.cell.id()
    }

    /// Returns the task's name, as [`TaskHandle::name`](crate::TaskHandle::name) does.
    ///
    /// ```
    /// let index = executor::FutureTask::new(|| 10).named("index");
    /// assert_eq!(index.handle.canceller().name(), Some("index"));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref().map(String::as_str)
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_handle(f, "Canceller", &*self.cell, self.name(), self.cell.panic_message())
    }
}
