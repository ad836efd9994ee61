//! The gap between two steps that should be one. In a program, luck decides what another thread does in it. Here a schedule can
//! hold a thread there, so that a fault shows itself every time.

use crate::door::sync::Arc;

/// Is called in each gap of a faulty step, with what the thread has just done. By default nothing happens there.
#[derive(Clone, Default)]
pub struct Gaps(Option<Arc<dyn Fn(&'static str) + Send + Sync>>);

impl Gaps {
    /// Nothing happens in the gaps.
    pub fn none() -> Self {
        Self::default()
    }

    /// `hold` runs in every gap, on the thread that has come there.
    pub fn new(hold: impl Fn(&'static str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hold)))
    }

    /// A thread has done `step`.
    pub fn after(&self, step: &'static str) {
        if let Some(hold) = &self.0 {
            hold(step);
        }
    }
}
