use std::sync::atomic::{AtomicUsize, Ordering};

/// What an event loop has to do. The loop alone writes; whoever reads may see a number that is about to change.
#[derive(Debug, Default)]
pub struct ReactorStats {
    connections: AtomicUsize,
}

impl ReactorStats {
    /// How many connections it looks after.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    pub(super) fn set_connections(&self, connections: usize) {
        self.connections.store(connections, Ordering::Relaxed);
    }
}
