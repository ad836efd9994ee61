//! A handle that can only call its task off.

use std::fmt;

use super::debug_handle;
use super::listener::Name;
use crate::ids::TaskId;
use crate::sync::Arc;
use crate::task::{HandleCell, TaskState};

/// Calls a task off without being able to see its result.
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
    /// As [`TaskHandle::cancel`](crate::TaskHandle::cancel).
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel(&self) -> bool {
        Arc::clone(&self.cell).cancel(true)
    }

    /// As [`TaskHandle::cancel_keep_running`](crate::TaskHandle::cancel_keep_running).
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel_keep_running(&self) -> bool {
        Arc::clone(&self.cell).cancel(false)
    }

    /// A timer will call [`cancel`](Self::cancel), if the task has not ended before.
    pub(crate) fn will_be_called(&self) {
        self.cell.will_be_cancelled();
    }

    /// As [`TaskHandle::is_finished`](crate::TaskHandle::is_finished).
    pub fn is_finished(&self) -> bool {
        self.cell.is_finished()
    }

    /// As [`TaskHandle::state`](crate::TaskHandle::state).
    pub fn state(&self) -> TaskState {
        self.cell.state()
    }

    /// The task's id.
    pub fn id(&self) -> TaskId {
        self.cell.id()
    }

    /// The task's name, as [`TaskHandle::name`](crate::TaskHandle::name).
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref().map(String::as_str)
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        debug_handle(f, "Canceller", &*self.cell, self.name(), self.cell.panic_message())
    }
}
