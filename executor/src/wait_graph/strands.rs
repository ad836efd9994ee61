//! An index of strands, by the collectors to which the tasks in the strands report.
//!
//! A thread that waits for any one of many tasks knows the number of these tasks, but not their places. Each
//! pool that the search must ask has waiting threads, so the search knows the pool. But the search does not
//! know a strand whose drain task is in a queue. So a thread that puts a task into a strand enters the strand
//! into this index, if the task has a collector.

use std::collections::BTreeMap;

use crate::ids::QueueId;
use crate::sync::{Mutex, lazy_static};

lazy_static! {
    // The number of tasks of each collector in each strand.
    static ref STRANDS: Mutex<BTreeMap<(usize, QueueId), usize>> = Mutex::new(BTreeMap::new());
}

/// Records that a task of this collector is put into a strand.
pub(crate) fn enter(collector: usize, strand: QueueId) {
    if collector != 0 {
        *STRANDS.lock().entry((collector, strand)).or_default() += 1;
    }
}

/// Records that a task of this collector has left the strand. The caller passes the collector, because a
/// cancelled task does not report to a collector any more.
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
