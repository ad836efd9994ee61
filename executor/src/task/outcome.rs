//! The outcome of a task, as its executor and its observers see it.

use std::fmt;

use crate::cancel::cancelled::Cancelled;
use crate::panics::Panic;

/// How a task ended, as the executor that ran the task sees it.
///
/// ```
/// use executor::{FutureTask, Outcome};
///
/// let FutureTask { task, handle } = FutureTask::new(|| 6 * 7);
/// handle.cancel();
/// assert!(matches!(task.run(), Outcome::Cancelled(_)));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum Outcome {
    /// The body returned.
    Completed,
    /// The body panicked.
    Panicked(Panic),
    /// The task was cancelled before it began, or its body gave up at a cancellation point. The value tells
    /// [why](Cancelled::reason).
    Cancelled(Cancelled),
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Completed => f.write_str("Completed"),
            Self::Panicked(panic) => f.debug_tuple("Panicked").field(panic).finish(),
            Self::Cancelled(cancelled) => cancelled.fmt(f),
        }
    }
}
