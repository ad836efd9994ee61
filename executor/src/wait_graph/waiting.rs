//! The waiting threads, with an index by task, pool and collector.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Wake;

use super::Used;
use super::strands;
use crate::ids::{QueueId, TaskId, ThreadKey};
use crate::sync::{Arc, thread};
use crate::waiting::awaited::Awaited;
use crate::waiting::parker::Parker;
use crate::waiting::worker_context::WorkerContext;

/// A thread that sleeps or is about to sleep.
pub(super) struct SleepingThread {
    pub(super) thread: thread::Thread,
    pub(super) context: WorkerContext,
    pub(super) what: Awaited,
    pub(super) parker: Arc<Parker>,
    // The keys under which the thread is in the index.
    tasks: Vec<TaskId>,
    pools: Vec<QueueId>,
    collectors: Vec<usize>,
}

impl SleepingThread {
    pub(super) fn of_this_thread(what: Awaited, parker: &Arc<Parker>) -> Self {
        let context = WorkerContext::of_this_thread();
        Self {
            thread: thread::current(),
            what,
            parker: Arc::clone(parker),
            tasks: context.tasks().collect(),
            pools: context.pools().collect(),
            collectors: context.collectors().collect(),
            context,
        }
    }
}

#[derive(Default)]
pub(super) struct WaitingThreads {
    threads: BTreeMap<ThreadKey, SleepingThread>,
    by_task: BTreeMap<TaskId, ThreadKey>,
    by_pool: BTreeMap<QueueId, BTreeSet<ThreadKey>>,
    by_collector: BTreeMap<usize, BTreeSet<ThreadKey>>,
}

impl WaitingThreads {
    pub(super) fn enter(&mut self, key: ThreadKey, wait: SleepingThread) {
        let SleepingThread { tasks, pools, collectors, .. } = &wait;
        self.by_task.extend(tasks.iter().map(|&task| (task, key)));
        for &pool in pools {
            self.by_pool.entry(pool).or_default().insert(key);
        }
        for &collector in collectors {
            self.by_collector.entry(collector).or_default().insert(key);
        }
        self.threads.insert(key, wait);
    }

    /// Takes a thread out of the index. Frees all memory of the index when no thread waits any more.
    pub(super) fn leave(&mut self, key: ThreadKey) -> Option<SleepingThread> {
        let wait = self.threads.remove(&key)?;
        let SleepingThread { tasks, pools, collectors, .. } = &wait;
        for task in tasks {
            self.by_task.remove(task);
        }
        for pool in pools {
            take_from(&mut self.by_pool, pool, key);
        }
        for collector in collectors {
            take_from(&mut self.by_collector, collector, key);
        }
        if self.threads.is_empty() {
            *self = Self::default();
        }
        Some(wait)
    }

    pub(super) fn get(&self, key: ThreadKey) -> Option<&SleepingThread> {
        self.threads.get(&key)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (ThreadKey, &SleepingThread)> {
        self.threads.iter().map(|(&key, wait)| (key, wait))
    }

    /// Wakes a thread if it waits, so that the thread checks its wait again.
    pub(super) fn wake(&self, key: ThreadKey) {
        if let Some(wait) = self.threads.get(&key) {
            wait.parker.wake_by_ref();
        }
    }

    pub(super) fn can_be_given_up(&self, key: ThreadKey) -> bool {
        self.threads.get(&key).is_none_or(|wait| wait.what.can_be_given_up())
    }

    /// Returns the waiting thread that has this task on its stack, or runs a hook before or after this task.
    pub(super) fn running(&self, task: TaskId) -> Option<ThreadKey> {
        self.by_task.get(&task).copied()
    }

    /// Returns the waiting threads that work for the owner of this queue. `queue` can be any lane of that
    /// owner.
    pub(super) fn working_for(&self, queue: QueueId) -> impl Iterator<Item = ThreadKey> {
        self.by_pool.get(&queue.of_all_lanes()).into_iter().flatten().copied()
    }

    /// Returns the queues that the search asks for tasks of this collector. If a queued task can be run only
    /// by waiting threads, the task is in one of these queues.
    pub(super) fn queues_to_ask(&self, collector: usize) -> impl Iterator<Item = QueueId> {
        self.by_pool.keys().copied().chain(strands::with_tasks_of(collector))
    }

    /// Returns the waiting threads that run tasks of this collector, each with the number of these tasks.
    pub(super) fn running_of(&self, collector: usize) -> impl Iterator<Item = (ThreadKey, usize)> {
        let count = move |key: &ThreadKey| {
            // The tasks are counted now, because a task that was cancelled after the wait began does not
            // report to a collector any more.
            let tasks = self.threads[key].context.collectors().filter(|&other| other == collector).count();
            (tasks > 0).then_some((*key, tasks))
        };
        self.by_collector.get(&collector).into_iter().flatten().filter_map(count)
    }

    /// Tells each pool of a thread how many of the pool's threads wait now. If all threads of a pool wait,
    /// the pool notifies `wait_graph` of the next task.
    pub(super) fn note_full_pools(&self, key: ThreadKey, used: &mut Used) {
        for &id in &self.threads[&key].pools {
            if let Some(pool) = id.pool() {
                pool.waits_for_threads(self.working_for(id).count());
                used.0.push(pool);
            }
        }
    }
}

fn take_from<K: Ord>(index: &mut BTreeMap<K, BTreeSet<ThreadKey>>, entry: &K, key: ThreadKey) {
    if let Some(threads) = index.get_mut(entry) {
        threads.remove(&key);
        if threads.is_empty() {
            index.remove(entry);
        }
    }
}
