//! The gap between two steps that should be one. In a program, luck decides what another thread does in that
//! gap. Here a schedule can hold a thread there, so that a fault shows itself every time.

use crate::door::sync::Arc;

/// A hook for the gaps of the faulty steps. It is called with the step that the thread has just done; by
/// default it does nothing.
#[derive(Clone, Default)]
pub struct Gaps(Option<Arc<dyn Fn(&'static str) + Send + Sync>>);

impl Gaps {
    /// Makes gaps in which nothing happens.
    pub fn none() -> Self {
        Self::default()
    }

    /// Makes gaps in which `hold` runs, on the thread that has come there.
    pub fn new(hold: impl Fn(&'static str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hold)))
    }

    /// Marks a gap: the calling thread has done `step`.
    pub fn after(&self, step: &'static str) {
        if let Some(hold) = &self.0 {
            hold(step);
        }
    }
}
