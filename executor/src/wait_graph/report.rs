//! The report of waits that can never end.

use super::search::Closed;
use super::waiting::{SleepingThread, WaitingThreads};
use crate::ids::{Location, QueueId, ThreadKey};
use crate::task::HandleCell;
use crate::waiting::awaited::{Awaited, ComesFrom};
use crate::waiting::queue_owner::ServedBy;
use crate::waiting::starvation::{Starvation, StarvedWait, TaskRef, WaitsFor};

/// Passes the report to the log, and to the pool of the thread that was about to wait. The caller does not
/// hold the lock.
pub(super) fn announced(starvation: Starvation, wait: &SleepingThread) -> Starvation {
    if let Some(pool) = wait.context.pool() {
        pool.has_starved();
        starvation.set_handler(pool.panic_handler());
    }
    #[cfg(feature = "tracing")]
    tracing::warn!(target: "executor::starvation", "{}", starvation.line());
    starvation
}

impl WaitingThreads {
    /// Returns a report: a circle of waits, the waits that lead to the circle, and the other waits that were
    /// found.
    pub(super) fn report(&self, closed: &Closed) -> Starvation {
        let mut chain = vec![closed.threads[0]];
        let closes_at = loop {
            let next = self.held_up_by(&chain);
            match chain.iter().position(|&known| Some(known) == next) {
                Some(place) => break place,
                None => chain.extend(next),
            }
            if next.is_none() {
                break chain.len() - 1; // cannot happen: each wait is held up by a thread that was found
            }
        };
        let others = closed.threads.iter().filter(|key| !chain.contains(key));
        let others = others.map(|&key| self.describe(key)).collect();
        Starvation::new(chain.iter().map(|&key| self.describe(key)).collect(), closes_at, others)
    }

    /// Returns a thread that blocks the last thread of the chain. Prefers a thread that is in the chain
    /// already.
    fn held_up_by(&self, chain: &[ThreadKey]) -> Option<ThreadKey> {
        let wait = self.get(*chain.last()?)?;
        let threads: Vec<_> = match &wait.what {
            Awaited::Task(task, _) => self.threads_at(self.place_of(&**task)),
            Awaited::Other(source) => match source.comes_from() {
                ComesFrom::Elsewhere => Vec::new(),
                ComesFrom::Places(places) => {
                    places.into_iter().flat_map(|place| self.threads_at(place)).collect()
                }
                ComesFrom::Room(queue) => self.threads_at(Location::In(queue)),
                ComesFrom::TasksOf { collector, .. } => {
                    let running = self.running_of(collector).map(|(thread, _)| thread);
                    let queues = self.queues_with_tasks_of(collector);
                    let behind = queues.into_iter().flat_map(|queue| self.threads_at(Location::In(queue)));
                    running.chain(behind).collect()
                }
            },
        };
        threads.iter().find(|key| chain.contains(key)).or(threads.first()).copied()
    }

    fn place_of(&self, task: &dyn HandleCell) -> Location {
        let running = || self.running(task.id()).map_or(Location::Elsewhere, Location::On);
        task.queue().map_or_else(running, Location::In)
    }

    /// Returns the waiting threads that block a task at this place.
    fn threads_at(&self, mut place: Location) -> Vec<ThreadKey> {
        loop {
            place = match place {
                Location::Elsewhere => return Vec::new(),
                Location::On(thread) => return vec![thread],
                Location::In(queue) => match queue.owner().map(|owner| owner.served_by(queue)) {
                    Some(ServedBy::DrainTask(of_drain)) => of_drain,
                    _ => return self.working_for(queue).collect(),
                },
            }
        }
    }

    fn queues_with_tasks_of(&self, collector: usize) -> Vec<QueueId> {
        let has_some = |id: &QueueId| id.owner().is_some_and(|owner| owner.queued_of(*id, collector) > 0);
        self.queues_to_ask(collector).filter(has_some).collect()
    }

    fn describe(&self, key: ThreadKey) -> StarvedWait {
        let wait = self.get(key).expect("the search found it among the waiting threads");
        let label = wait.context.runs();
        let task = label.map(|label| TaskRef::new(label.id(), label.name()));
        let innermost = wait.context.innermost().map(|id| TaskRef::new(id, None));
        StarvedWait {
            task: task.or(innermost),
            thread: wait.thread.name().map(str::to_owned),
            pool: wait.context.pools().next_back().map(name_of),
            waits_for: self.describe_what(&wait.what),
        }
    }

    fn describe_what(&self, what: &Awaited) -> WaitsFor {
        match what {
            Awaited::Task(task, name) => {
                let task_ref = TaskRef::new(task.id(), name.as_deref().map(String::as_str));
                match task.queue() {
                    Some(pool) => WaitsFor::Queued { task: task_ref, pool: name_of(pool) },
                    None => WaitsFor::Running { task: task_ref },
                }
            }
            Awaited::Other(source) => match source.comes_from() {
                ComesFrom::TasksOf { collector, tasks } => {
                    let pools = self.queues_with_tasks_of(collector).into_iter().map(name_of).collect();
                    WaitsFor::OneOf { tasks, pools }
                }
                ComesFrom::Room(pool) => WaitsFor::Room { pool: name_of(pool) },
                ComesFrom::Places(_) | ComesFrom::Elsewhere => source.waits_for(),
            },
        }
    }
}

fn name_of(queue: QueueId) -> String {
    queue.owner().map_or_else(|| "a pool that is gone".to_owned(), |owner| owner.name())
}
