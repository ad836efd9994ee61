use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What an event loop has to do. The loop alone writes; whoever reads may see numbers that are about to change.
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

    /// How many it has accepted since it began.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    pub(super) fn has_accepted(&self, connections: usize) {
        self.set_connections(connections);
        self.accepted.store(self.accepted() + 1, Ordering::Relaxed);
    }

    pub(super) fn set_connections(&self, connections: usize) {
        self.connections.store(connections, Ordering::Relaxed);
    }

    /// As `/stats` answers them.
    pub fn to_json(&self) -> Value {
        json!({ "connections": self.connections(), "accepted": self.accepted() })
    }
}
