//! The lines that tasks with a collector are in.
//!
//! A thread that waits for any of many tasks knows how many they are, and not where they are. Pools that matter have threads
//! which wait, so they are known. A line whose head is in some queue is not. So whoever puts a task with a collector into a
//! line says so here.

use std::collections::BTreeMap;

use crate::ids::WatcherId;
use crate::sync::{Mutex, lazy_static};

lazy_static! {
    // How many tasks of a collector are in which line.
    static ref LINES: Mutex<BTreeMap<(usize, WatcherId), usize>> = Mutex::new(BTreeMap::new());
}

/// A task that reports to this collector comes into a line.
pub(crate) fn enter(collector: usize, line: WatcherId) {
    if collector != 0 {
        *LINES.lock().entry((collector, line)).or_default() += 1;
    }
}

/// It is out of the line. (By now the task itself may report to nobody: it was cancelled.)
pub(crate) fn leave(collector: usize, line: WatcherId) {
    if collector != 0 {
        let mut lines = LINES.lock();
        match lines.get_mut(&(collector, line)) {
            Some(tasks) if *tasks > 1 => *tasks -= 1,
            _ => drop(lines.remove(&(collector, line))),
        }
    }
}

pub(super) fn with_tasks_of(collector: usize) -> Vec<WatcherId> {
    let all = (collector, WatcherId::FIRST)..=(collector, WatcherId::LAST);
    LINES.lock().range(all).map(|(&(_, line), _)| line).collect()
}
