//! An index of strands by the collectors to which tasks in them report.
//!
//! A thread that waits for any one of many tasks knows their number, but not their places. A pool that
//! matters has threads which wait, so the search knows it. It does not know a strand whose drain task is in
//! some queue. So the thread that puts a task with a collector into a strand enters the strand here.

use std::collections::BTreeMap;

use crate::ids::QueueId;
use crate::sync::{Mutex, lazy_static};

lazy_static! {
    // How many tasks of each collector are in each strand.
    static ref STRANDS: Mutex<BTreeMap<(usize, QueueId), usize>> = Mutex::new(BTreeMap::new());
}

/// Notes that a task that reports to this collector comes into a strand.
pub(crate) fn enter(collector: usize, strand: QueueId) {
    if collector != 0 {
        *STRANDS.lock().entry((collector, strand)).or_default() += 1;
    }
}

/// Notes that such a task has left the strand. The caller passes the collector, because a task that was
/// cancelled reports to no collector any more.
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
