//! What a striped executor shares with the heads of its lines.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::table::{Left, Table};
use crate::cancel::CancelToken;
use crate::ids::{Place, TaskId, WatcherId};
use crate::life::{Life, Stay};
use crate::line::{Keeper, Line, LineState, Turns, recall_heads};
use crate::panics::discard;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, MutexGuard, Weak};
use crate::task::Task;
use crate::tombstones::Tombstones;
use crate::watcher::{QueueWatcher, ServedBy, Watch};

/// The lines of some of the stripes.
pub(super) type Lines<K> = Table<K, Line<Home<K>>>;

pub(super) struct Shared<K> {
    tables: Box<[Apart<Mutex<Lines<K>>>]>,
    pub(super) watch: Watch,
    pub(super) tombstones: Tombstones,
    pub(super) turns: Turns,
    pub(super) life: Arc<Life>,
    /// Until the tables know of the shutdown, they are not asked whether they are empty.
    open: Mutex<Option<Stay>>,
}

/// In cache lines of its own, so that threads which use different tables do not disturb each other.
#[repr(align(128))]
struct Apart<T>(T);

/// So many that two threads seldom meet at one.
const TABLES: usize = if cfg!(any(feature = "loom", feature = "shuttle")) { 2 } else { 64 };

impl<K: Send + 'static> Shared<K> {
    pub(super) fn new(life: &Arc<Life>, turns: Turns) -> Arc<Self> {
        Arc::new_cyclic(|me: &Weak<Self>| Self {
            tables: (0..TABLES).map(|_| Apart(Mutex::new(Table::new()))).collect(),
            watch: Watch::new(me),
            tombstones: Tombstones::new(),
            turns,
            life: Arc::clone(life),
            open: Mutex::new(life.begin_stay()),
        })
    }

    /// The table for a hash, or for a lane, which is a part of it.
    pub(super) fn table(&self, hash: u64) -> MutexGuard<'_, Lines<K>> {
        let bits = usize::try_from(hash >> 16 & 0xFF).expect("eight bits");
        self.tables[bits % TABLES].0.lock()
    }

    /// Lets nothing new in. Who enters a table asks the life under the table's lock: so none comes in behind the back of this.
    pub(super) fn shutdown(&self) {
        self.life.shutdown();
        let Some(stay) = self.open.lock().take() else { return };
        self.tables().for_each(|mut table| table.shutdown(&stay));
    }

    /// Takes all tasks out, because no more are to begin: those of each stripe together and in their order.
    pub(super) fn stop(&self) -> Vec<Task> {
        let (mut tasks, mut queues) = (Vec::new(), BTreeSet::new());
        for mut table in self.tables() {
            let mut cancelled = Vec::new(); // dropped when the lock is free
            for line in table.lines() {
                let (taken, tombstones) = line.stop();
                tasks.extend(taken);
                cancelled.extend(tombstones);
                queues.extend(line.head_in());
            }
            let completed = Cell::new(0);
            let (keys, stay) = table.leave_if(|line| {
                let is_stopped = line.with(|state| !state.is_running());
                completed.set(completed.get() + if is_stopped { line.take_completed() } else { 0 });
                is_stopped
            });
            table.completed += completed.get();
            drop(table);
            keys.into_iter().for_each(discard);
            drop((stay, cancelled));
        }
        recall_heads(queues, self.life.root());
        tasks
    }

    /// How many tasks wait, with those that were cancelled.
    fn waiting(&self) -> usize {
        self.tables()
            .map(|table| table.lines().map(|line| line.with(|state| state.len())).sum::<usize>())
            .sum()
    }
}

impl<K> Shared<K> {
    /// Each of them, one after the other.
    pub(super) fn tables(&self) -> impl Iterator<Item = MutexGuard<'_, Lines<K>>> {
        self.tables.iter().map(|table| table.0.lock())
    }
}

/// What the line of a stripe knows of its surroundings.
pub(super) struct Home<K> {
    shared: Arc<Shared<K>>,
    /// Of the key that it serves now. Written under the lock of the table, before the line is found in there.
    hash: AtomicU64,
}

impl<K> Home<K> {
    fn hash(&self) -> u64 {
        self.hash.load(Ordering::Relaxed)
    }
}

impl<K: Send + 'static> Shared<K> {
    /// A line for a key with this hash: a spare one, if there is one.
    pub(super) fn new_line(
        self: &Arc<Self>,
        hash: u64,
        spare: Option<Arc<Line<Home<K>>>>,
    ) -> Arc<Line<Home<K>>> {
        let new = || Line::new(Home { shared: Arc::clone(self), hash: AtomicU64::new(0) });
        let line = spare.unwrap_or_else(|| Arc::new(new()));
        line.keeper.hash.store(hash, Ordering::Relaxed); // whoever reads it has come by the line through a lock
        line
    }
}

impl<K: Send + 'static> Keeper for Home<K> {
    fn watcher(&self) -> WatcherId {
        self.shared.watch.id().with_lane(self.hash())
    }

    fn tombstones(&self) -> &Tombstones {
        &self.shared.tombstones
    }

    fn turns(&self) -> Option<&Turns> {
        Some(&self.shared.turns)
    }

    fn root(&self) -> &CancelToken {
        self.shared.life.root()
    }

    fn change<R>(line: &Arc<Line<Self>>, change: impl FnOnce(&mut LineState) -> R) -> R {
        let (shared, hash) = (&line.keeper.shared, line.keeper.hash());
        let mut table = shared.table(hash);
        let (result, is_idle) = line.with(|state| (change(state), state.is_idle()));
        let mut left: Left<K> = (None, None);
        if is_idle {
            table.completed += line.take_completed();
            left = table.leave(hash, line);
        }
        drop(table);
        let (key, stay) = left;
        discard(key);
        drop(stay); // with which those are let go who wait for the end
        result
    }
}

/// Each stripe has a queue of its own, whose lane is a part of the hash of its key. Two stripes can have the same, so what is
/// asked of a lane is looked up in both.
impl<K: Send + 'static> QueueWatcher for Shared<K> {
    fn cancelled_in_queue(&self, _queue: WatcherId) {
        if self.tombstones.has_come() && self.tombstones.are_many(|| self.waiting()) {
            for table in self.tables() {
                let cancelled: Vec<_> = table.lines().map(|line| line.clear_out()).collect();
                drop(table);
                drop(cancelled);
            }
        }
    }

    fn tombstone_dropped(&self) {} // what leaves a line is counted before it is dropped

    fn take_out(&self, queue: WatcherId, id: TaskId) -> Option<Task> {
        let table = self.table(queue.lane());
        let found = self.lines_of(&table, queue).find_map(|line| line.remove(id));
        drop(table);
        let (task, was_cancelled) = found?;
        (!was_cancelled).then_some(task)
    }

    fn take_out_all(&self, wanted: &dyn Fn(&Task) -> bool) -> Vec<Task> {
        let mut taken = Vec::new();
        for table in self.tables() {
            let found: Vec<_> = table.lines().map(|line| line.remove_all(wanted)).collect();
            drop(table);
            taken.extend(found.into_iter().flat_map(|(tasks, _cancelled)| tasks));
        }
        taken
    }

    fn raise(&self, queue: WatcherId, id: TaskId, priority: &dyn Fn() -> i32) {
        let table = self.table(queue.lane());
        let lines: Vec<_> = self.lines_of(&table, queue).map(Arc::clone).collect();
        drop(table);
        for line in lines {
            line.raise_task(id, priority);
        }
    }

    fn name(&self) -> String {
        "a striped executor".to_owned()
    }

    /// A head that cannot be told from another may be anywhere: nothing is reported that is not known for certain.
    fn served_by(self: Arc<Self>, queue: WatcherId) -> ServedBy {
        let table = self.table(queue.lane());
        let mut lines = self.lines_of(&table, queue);
        ServedBy::Head(match (lines.next(), lines.next()) {
            (Some(line), None) => line.place_of_head(),
            _ => Place::Elsewhere,
        })
    }

    fn queued_of(&self, queue: WatcherId, collector: usize) -> usize {
        let table = self.table(queue.lane());
        let of_line = |line: &Arc<Line<Home<K>>>| {
            line.with(|state| state.tasks().filter(|task| task.collector() == collector).count())
        };
        self.lines_of(&table, queue).map(of_line).sum()
    }
}

impl<K: Send + 'static> Shared<K> {
    /// The lines with the lane of this queue: one, or none any more; seldom more.
    fn lines_of<'a>(
        &self,
        table: &'a Lines<K>,
        queue: WatcherId,
    ) -> impl Iterator<Item = &'a Arc<Line<Home<K>>>> + use<'a, K> {
        let base = self.watch.id();
        table.lines().filter(move |line| base.with_lane(line.keeper.hash()) == queue)
    }
}
