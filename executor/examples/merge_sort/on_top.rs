//! Counts how many tasks are nested on one stack.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

thread_local! {
    static NOW: Cell<usize> = const { Cell::new(0) };
}
static MOST: AtomicUsize = AtomicUsize::new(0);

/// Counts a task on this thread, from the call of `begin` until the returned value is dropped.
pub struct OnTop;

impl OnTop {
    pub fn begin() -> Self {
        NOW.set(NOW.get() + 1);
        MOST.fetch_max(NOW.get(), Relaxed);
        Self
    }
}

impl Drop for OnTop {
    fn drop(&mut self) {
        NOW.set(NOW.get() - 1);
    }
}

/// Returns the largest count since the previous call of this function.
pub fn most() -> usize {
    MOST.swap(0, Relaxed)
}
