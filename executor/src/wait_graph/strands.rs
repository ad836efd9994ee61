//! The strands that tasks with a collector are in.
//!
//! A thread that waits for any of many tasks knows how many they are, and not where they are. Pools that
//! matter have threads which wait, so they are known. A strand whose drain task is in some queue is not. So
//! whoever puts a task with a collector into a strand says so here.

use std::collections::BTreeMap;

use crate::ids::QueueId;
use crate::sync::{Mutex, lazy_static};

lazy_static! {
    // How many tasks of a collector are in which strand.
    static ref STRANDS: Mutex<BTreeMap<(usize, QueueId), usize>> = Mutex::new(BTreeMap::new());
}

/// A task that reports to this collector comes into a strand.
pub(crate) fn enter(collector: usize, strand: QueueId) {
    if collector != 0 {
        *STRANDS.lock().entry((collector, strand)).or_default() += 1;
    }
}

/// It is out of the strand. (By now the task itself may report to nobody: it was cancelled.)
pub(crate) fn leave(collector: usize, strand: QueueId) {
    if collector != 0 {
        let mut strands = STRANDS.lock();
        match strands.get_mut(&(collector, strand)) {
            Some(tasks) if *tasks > 1 => *tasks -= 1,
            _ => drop(strands.remove(&(collector, strand))),
        }
    }
}

pub(super) fn with_tasks_of(collector: usize) -> Vec<QueueId> {
    let all = (collector, QueueId::FIRST)..=(collector, QueueId::LAST);
    STRANDS.lock().range(all).map(|(&(_, strand), _)| strand).collect()
}
