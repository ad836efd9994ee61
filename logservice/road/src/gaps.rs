//! The gap between two steps of the code that should be one atomic step. In a normal program, the schedule
//! decides by chance what another thread does in the gap. With this hook, a test can stop a thread in
//! the gap, so that a fault appears every time.

use crate::door::sync::Arc;

/// A hook that is called in the gaps of the faulty steps. The argument is the step that the thread has just
/// done; by default the hook does nothing.
#[derive(Clone, Default)]
pub struct Gaps(Option<Arc<dyn Fn(&'static str) + Send + Sync>>);

impl Gaps {
    /// Creates a hook that does nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Creates a hook that calls `hold` in each gap, on the thread that has reached the gap.
    pub fn new(hold: impl Fn(&'static str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hold)))
    }

    /// Marks the gap after `step`: the calling thread has done this step.
    pub fn after(&self, step: &'static str) {
        if let Some(hold) = &self.0 {
            hold(step);
        }
    }
}
