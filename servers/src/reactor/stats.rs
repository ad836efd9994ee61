use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What an event loop has to do. The loop alone writes; whoever reads may see a number that is about to change.
#[derive(Debug, Default)]
pub struct ReactorStats {
    connections: AtomicUsize,
    accepted: AtomicU64,
}

impl ReactorStats {
    /// How many connections it looks after.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// How many connections it has accepted.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    pub(super) fn set_connections(&self, connections: usize) {
        self.connections.store(connections, Ordering::Relaxed);
    }

    /// Not an atomic addition, which would cost more: nobody else writes it.
    pub(super) fn accept(&self) {
        self.accepted.store(self.accepted() + 1, Ordering::Relaxed);
    }
}
