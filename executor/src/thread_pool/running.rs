//! What runs in a pool now, for a dump.
//!
//! The description is made as a [snapshot](ThreadPoolExecutor::snapshot) is, with two differences. A dump is
//! made when tasks hang, so it does not wait for the lock of the state if a user's comparator or queue hangs
//! under that lock. And a dump says on which thread each task runs, and since when at least (`sightings`).

use super::shared::PoolShared;
use super::state::{PoolData, ask};
use crate::sync::{Duration, Instant};
use crate::task::Task;
use crate::waiting::pool_dump::{PATIENCE, PoolDump, QueuedDump, RunDump};
use crate::waiting::starvation::TaskRef;

impl PoolShared {
    /// Describes the pool. If its lock is busy, only the name is known.
    pub(super) fn describe(&self) -> PoolDump {
        let title = |name: Option<&str>| format!("pool {}", name.unwrap_or("without a name"));
        let Some(mut state) = self.state.lock_within(PATIENCE) else {
            let title = title(self.first_name.as_deref());
            return PoolDump { title, numbers: None, running: Vec::new(), queued: QueuedDump::default() };
        };
        let title = title(state.settings.name.as_deref());
        let mut held = self.inbox.hold(); // no task comes in
        held.reclaim(&mut state);
        let frozen = state.batches.freeze();
        state.worker_slots.wait_for_claims(&frozen); // each claimed task runs, so it is in a worker slot
        state.batches.resume(&frozen);
        let running = state.running();
        let mut queued = QueuedDump::default();
        ask(|| state.queue.for_each(&mut |task| queued.add(task)));
        let numbers = state.numbers(running.len(), queued.in_all);
        drop(held);
        drop(state);
        self.report_kept();
        PoolDump { title, numbers: Some(numbers), running, queued }
    }
}

impl PoolData {
    /// Returns the running tasks, and the tasks for which a thread is starting.
    fn running(&mut self) -> Vec<RunDump> {
        let runs: Vec<_> = self.worker_slots.runs().collect();
        // The id is in the key, too: if it does not belong to the numbers, no other look finds the key again.
        let ages = self
            .sightings
            .look(Instant::now(), runs.iter().map(|(slot, begun, label, _)| (*slot, *begun, label.id())));
        let running = runs.iter().zip(ages).map(|((_, _, label, thread), age)| RunDump {
            task: Some(TaskRef::of(label)),
            thread: thread.map(|(key, thread)| (*key, thread.name().map(str::to_owned))),
            age,
        });
        let starting = self.first_tasks.iter().map(Task::label).map(|label| RunDump {
            task: Some(TaskRef::of(&label)),
            thread: None,
            age: Duration::ZERO,
        });
        let mut all: Vec<_> = running.chain(starting).collect();
        all.sort_by_key(|run| run.task.as_ref().map(|task| task.id));
        all
    }

    fn numbers(&self, active: usize, queued: usize) -> String {
        let most = match self.most_workers() {
            usize::MAX => "any number of".to_owned(),
            most => most.to_string(),
        };
        format!(
            "{}, {} of {most} threads, {active} active, {queued} queued, {} completed ({} panicked)",
            self.phase,
            self.workers(),
            self.worker_slots.completed() + self.helped,
            self.panicked,
        )
    }
}
