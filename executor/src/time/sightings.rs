//! For how long tasks have run, by what was seen of them at earlier looks.
//!
//! A pool reads no clock when a task begins, because most tasks take less time than a few readings of the
//! clock. A dump and a watchdog look at the running tasks now and then. Each look notes the time at which it
//! has seen a run first. A later look that finds the same run knows for how long the task has run at least.

use std::collections::BTreeMap;

use crate::ids::TaskId;
use crate::sync::{Duration, Instant};

/// Identifies one run of a task in a pool: the number of the worker, the number of tasks that the worker had
/// begun by then, and the task. The id of the task is not enough, because all runs of a series have the same
/// id, and so have all drain tasks of a strand.
pub(crate) type RunKey = (usize, u64, TaskId);

/// The runs that the last look has found.
#[derive(Default)]
pub(crate) struct Sightings(BTreeMap<RunKey, Sighting>);

#[derive(Clone, Copy)]
struct Sighting {
    first_seen: Instant,
    was_told: bool,
}

impl Sightings {
    /// Notes the present runs, and forgets all other runs. Returns for each run how long ago it was first
    /// seen.
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

    /// Returns true for the first call for this run. The last look must have found the run.
    pub(crate) fn tell_once(&mut self, run: &RunKey) -> bool {
        self.0.get_mut(run).is_some_and(|sighting| !std::mem::replace(&mut sighting.was_told, true))
    }
}
