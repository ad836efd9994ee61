//! The minimum time for which tasks have run, computed from repeated observations of the running tasks.
//!
//! A pool reads no clock when a task begins, because most tasks take less time than a few readings of the
//! clock. A dump or a watchdog observes the running tasks now and then. The first observation of a run stores
//! the time. Each later observation of the same run computes from the stored time the minimum time for which
//! the task has run.

use std::collections::BTreeMap;

use crate::ids::TaskId;
use crate::sync::{Duration, Instant};

/// Identifies one run of a task in a pool: the number of the worker, the number of tasks that the worker had
/// begun at that time, and the task's id. The id is not enough, because all runs of a series have the same
/// id, and all drain tasks of a strand have the same id.
pub(crate) type RunKey = (usize, u64, TaskId);

/// The runs that the previous observation has found.
#[derive(Default)]
pub(crate) struct Sightings(BTreeMap<RunKey, Sighting>);

#[derive(Clone, Copy)]
struct Sighting {
    first_seen: Instant,
    was_told: bool,
}

impl Sightings {
    /// Stores the present runs, and forgets all other runs. Returns for each run the time since the run was
    /// first observed.
    pub(crate) fn look(&mut self, now: Instant, runs: impl IntoIterator<Item = RunKey>) -> Vec<Duration> {
        let before = std::mem::take(&mut self.0);
        let mut ages = Vec::new();
        for run in runs {
            let first = Sighting { first_seen: now, was_told: false };
            let sighting = before.get(&run).copied().unwrap_or(first);
            ages.push(now - sighting.first_seen);
            self.0.insert(run, sighting);
        }
        ages
    }

    /// Returns true for the first call with this run. The previous call of `look` must have found this run.
    pub(crate) fn tell_once(&mut self, run: &RunKey) -> bool {
        self.0.get_mut(run).is_some_and(|sighting| !std::mem::replace(&mut sighting.was_told, true))
    }
}
