//! Lists the tasks that run in a pool now, for a dump and for the [watchdog](super::watchdog).
//!
//! A dump describes a pool like a [snapshot](super::ThreadPoolExecutor::snapshot), with two differences. An operator
//! asks for a dump when tasks hang, so the dump waits only briefly for the lock of the state: a user's
//! comparator or queue may hang under that lock. A dump also names each task's thread, and the minimum time
//! for which the task has run (`sightings`).

use super::batch::SlotThread;
use super::shared::PoolShared;
use super::state::{PoolData, ask};
use super::watchdog::LongTask;
use crate::executor::PoolState;
use crate::panics::{UserCode, contain};
use crate::sync::{Arc, Duration, Instant};
use crate::task::{Task, TaskLabel};
use crate::time;
use crate::waiting::pool_dump::{PATIENCE, PoolDump, QueuedDump, RunDump};
use crate::waiting::starvation::TaskRef;

impl PoolShared {
    /// Describes the pool. If the lock of the state stays busy, the description has only the pool's name.
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

/// A task that has run for too long, the name of its thread, and the time for which it has run.
type LongRun = (TaskLabel, Option<String>, Duration);

impl PoolShared {
    /// Registers the next time at which the watchdog looks at the tasks, if the pool has a watchdog and the
    /// clock can express that time.
    pub(super) fn watch(self: &Arc<Self>) {
        let Some(watchdog) = &self.watchdog else { return };
        let Some(next) = Instant::now().checked_add(watchdog.period()) else { return };
        let pool = Arc::downgrade(self);
        // The watchdog's job may begin at once, and then registers the next job. But the job waits for this
        // lock until its own registration is stored: if this registration were stored later, it would replace
        // the next registration, and no further job would run.
        let mut next_look = watchdog.next_look.lock();
        let before = next_look.replace(time::at(next, move || pool.upgrade()?.look()));
        drop(next_look);
        drop(before); // after the lock was released
    }

    /// Looks for tasks that have run for too long. Returns a closure that calls the handler for each of these
    /// tasks.
    fn look(self: Arc<Self>) -> Option<UserCode> {
        let long = self.long_runs();
        if long.is_some() {
            self.watch();
        }
        let Some(long) = long.filter(|long| !long.is_empty()) else { return self.let_go() };
        Some(Box::new(move || long.iter().for_each(|run| self.tell_of(run))))
    }

    /// Returns the long-running tasks that must be reported now. Returns `None` if the pool is terminated.
    fn long_runs(&self) -> Option<Vec<LongRun>> {
        let limit = self.watchdog.as_ref()?.limit;
        let Some(mut state) = self.state.lock_within(Duration::ZERO) else { return Some(Vec::new()) };
        (state.phase != PoolState::Terminated).then(|| state.long_runs(limit))
    }

    fn tell_of(&self, (label, thread, ran): &LongRun) {
        let task = LongTask { id: label.id(), name: label.name(), thread: thread.as_deref(), ran: *ran };
        let Some(watchdog) = &self.watchdog else { return };
        if let Err(panic) = contain(|| (watchdog.handler)(&task)) {
            panic.set_origin(None, self.panic_handler.clone());
        }
    }

    /// Drops a reference to the pool, unless it is the last reference. Dropping the last reference also drops
    /// users' values, so the function returns this step as user code, which the caller must run.
    fn let_go(self: Arc<Self>) -> Option<UserCode> {
        Arc::into_inner(self).map(|pool| -> UserCode { Box::new(move || drop(pool)) })
    }
}

impl PoolData {
    /// Returns the tasks that have run for the limit or longer, unless an earlier call has returned them.
    fn long_runs(&mut self, limit: Duration) -> Vec<LongRun> {
        let runs: Vec<_> = self.worker_slots.runs().collect();
        let keys: Vec<_> = runs.iter().map(|(slot, begun, label, _)| (*slot, *begun, label.id())).collect();
        let ages = self.sightings.look(Instant::now(), keys.iter().copied());
        let long = runs
            .into_iter()
            .zip(keys)
            .zip(ages)
            .filter(|((_, key), age)| *age >= limit && self.sightings.tell_once(key));
        long.map(|(((_, _, label, thread), _), age)| (label, name_of(thread), age)).collect()
    }

    /// Returns the running tasks, and the tasks for which a thread is starting.
    fn running(&mut self) -> Vec<RunDump> {
        let runs: Vec<_> = self.worker_slots.runs().collect();
        // The numbers and the id in one key can belong to different tasks. No later look finds such a key, so
        // the mismatch does no harm.
        let ages = self
            .sightings
            .look(Instant::now(), runs.iter().map(|(slot, begun, label, _)| (*slot, *begun, label.id())));
        let running = runs.iter().zip(ages).map(|((_, _, label, thread), age)| RunDump {
            task: Some(TaskRef::of(label)),
            thread: thread.map(|thread| (thread.0, name_of(Some(thread)))),
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
            self.failures.panicked,
        )
    }
}

fn name_of(thread: Option<&SlotThread>) -> Option<String> {
    thread.and_then(|(_, thread)| thread.name()).map(str::to_owned)
}
