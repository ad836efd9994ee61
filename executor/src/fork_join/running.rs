//! Lists the tasks that run in a fork/join pool now, for a dump.
//!
//! No user code runs under the locks of a fork/join pool. So a dump can wait for these locks, even if tasks
//! hang. As in [`ForkJoinStats`](super::ForkJoinStats), the numbers may be inconsistent with each other.

use super::registry::Registry;
use crate::sync::Instant;
use crate::sync::atomic::Ordering;
use crate::waiting::pool_dump::{PoolDump, QueuedDump};

impl Registry {
    pub(super) fn describe(&self) -> PoolDump {
        let mut queued = QueuedDump::default();
        self.describe_submissions(&mut queued);
        let mut sightings = self.sightings.lock(); // held, so that no other dump replaces them meanwhile
        let mut found: Vec<_> = self.queues.iter().flat_map(|queue| queue.describe(&mut queued)).collect();
        let keys: Vec<_> = found.iter().filter_map(|(key, _)| *key).collect();
        let ages = sightings.look(Instant::now(), keys);
        drop(sightings);
        let of_tasks = found.iter_mut().filter(|(key, _)| key.is_some());
        of_tasks.zip(ages).for_each(|((_, run), age)| run.age = age);
        let (workers, awake, _) = self.counts();
        let numbers = format!(
            "{}, {workers} of {} threads, {awake} awake, {} tasks queued, {} completed ({} panicked)",
            self.phase(),
            self.settings.threads,
            queued.in_all,
            self.completed.load(Ordering::Relaxed),
            self.panicked.load(Ordering::Relaxed),
        );
        PoolDump {
            title: format!("fork/join pool {}", self.settings.name),
            numbers: Some(numbers),
            running: found.into_iter().map(|(_, run)| run).collect(),
            queued,
        }
    }
}
