//! The part of a striped executor that the drain tasks of its strands share.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::table::Table;
use crate::cancel::CancelToken;
use crate::cancel::reason::CancelKind;
use crate::composed::lifecycle::{InFlight, Lifecycle};
use crate::composed::strand::{Strand, StrandOwner, StrandState, Turns, reclaim_drains};
use crate::ids::{Location, QueueId, TaskId};
use crate::panics::{UserCode, discard};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, CachePadded, Mutex, MutexGuard, Weak};
use crate::task::Task;
use crate::task::tombstones::Tombstones;
use crate::waiting::queue_owner::{QueueOwner, QueueRegistration, ServedBy};

/// One of the tables. A table contains the strands of some of the stripes.
pub(super) type Strands<K> = Table<K, Strand<Home<K>>>;

pub(super) struct StripedShared<K> {
    tables: Box<[CachePadded<Mutex<Strands<K>>>]>,
    pub(super) registration: QueueRegistration,
    pub(super) tombstones: Tombstones,
    pub(super) turns: Turns,
    pub(super) life: Arc<Lifecycle>,
    /// A guard that keeps the lifecycle from ending until all tables have noted the shutdown. Before the
    /// shutdown, the tables have no guards of their own.
    open: Mutex<Option<InFlight>>,
}

/// The number of tables. There are so many tables that two threads seldom use the same table at the same
/// time.
const TABLES: usize = if cfg!(any(feature = "loom", feature = "shuttle")) { 2 } else { 64 };

impl<K: Send + 'static> StripedShared<K> {
    pub(super) fn new(life: &Arc<Lifecycle>, turns: Turns) -> Arc<Self> {
        Arc::new_cyclic(|me: &Weak<Self>| Self {
            tables: (0..TABLES).map(|_| CachePadded(Mutex::new(Table::new()))).collect(),
            registration: QueueRegistration::new(me),
            tombstones: Tombstones::new(),
            turns,
            life: Arc::clone(life),
            open: Mutex::new(life.begin_stay()),
        })
    }

    /// Locks and returns the table that belongs to a hash, or to a lane (a part of a hash).
    pub(super) fn table(&self, hash: u64) -> MutexGuard<'_, Strands<K>> {
        let bits = usize::try_from(hash >> 16 & 0xFF).expect("eight bits");
        self.tables[bits % TABLES].0.lock()
    }

    /// Refuses new tasks. Each submitter checks under the lock of its table whether the lifecycle was shut
    /// down. So after the shutdown has locked a table, no new task is put into that table.
    pub(super) fn shutdown(&self) {
        self.life.shutdown();
        let Some(stay) = self.open.lock().take() else { return };
        self.tables().for_each(|mut table| table.shutdown(&stay));
    }

    /// Takes out all tasks, so that no further task begins. Returns the tasks stripe by stripe, and the tasks
    /// of each stripe in their order.
    pub(super) fn stop(&self) -> Vec<Task> {
        let (mut tasks, mut queues) = (Vec::new(), BTreeSet::new());
        for mut table in self.tables() {
            let mut cancelled = Vec::new(); // dropped when the lock is free
            for strand in table.strands() {
                let (taken, tombstones) = strand.stop();
                tasks.extend(taken);
                cancelled.extend(tombstones);
                queues.extend(strand.drain_in());
            }
            let completed = Cell::new(0);
            let (keys, stay) = table.leave_if(|strand| {
                let is_stopped = strand.with(|state| !state.is_running());
                completed.set(completed.get() + if is_stopped { strand.take_completed() } else { 0 });
                is_stopped
            });
            table.completed += completed.get();
            drop(table);
            keys.into_iter().for_each(discard);
            drop((stay, cancelled));
        }
        reclaim_drains(queues, self.life.root());
        tasks
    }

    /// Returns the number of tasks that wait, including cancelled tasks.
    fn waiting(&self) -> usize {
        self.tables()
            .map(|table| table.strands().map(|strand| strand.with(|state| state.len())).sum::<usize>())
            .sum()
    }
}

impl<K> StripedShared<K> {
    pub(super) fn tables(&self) -> impl Iterator<Item = MutexGuard<'_, Strands<K>>> {
        self.tables.iter().map(|table| table.0.lock())
    }
}

/// The owner of one stripe's strand: the data that all strands share, and the hash of the strand's key.
pub(super) struct Home<K> {
    shared: Arc<StripedShared<K>>,
    /// The hash of the key that the strand serves now. The hash is written under the lock of the table,
    /// before a thread can find the strand in the table.
    hash: AtomicU64,
}

impl<K> Home<K> {
    fn hash(&self) -> u64 {
        self.hash.load(Ordering::Relaxed)
    }
}

impl<K: Send + 'static> StripedShared<K> {
    /// Returns a strand for a key with this hash: the spare strand if there is one, or else a new strand.
    pub(super) fn new_strand(
        self: &Arc<Self>,
        hash: u64,
        spare: Option<Arc<Strand<Home<K>>>>,
    ) -> Arc<Strand<Home<K>>> {
        let new = || Strand::new(Home { shared: Arc::clone(self), hash: AtomicU64::new(0) });
        let strand = spare.unwrap_or_else(|| Arc::new(new()));
        strand.owner.hash.store(hash, Ordering::Relaxed); // a reader got the strand under a lock
        strand
    }
}

impl<K: Send + 'static> StrandOwner for Home<K> {
    fn queue_id(&self) -> QueueId {
        self.shared.registration.id().with_lane(self.hash())
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

    fn change<R>(strand: &Arc<Strand<Self>>, change: impl FnOnce(&mut StrandState) -> R) -> R {
        let (shared, hash) = (&strand.owner.shared, strand.owner.hash());
        let mut table = shared.table(hash);
        let (result, is_idle) = strand.with(|state| (change(state), state.is_idle()));
        let (key, stay) = if is_idle {
            table.completed += strand.take_completed();
            table.leave(hash, strand)
        } else {
            (None, None)
        };
        drop(table);
        discard(key);
        drop(stay); // this wakes the threads that wait for the end
        result
    }
}

/// Each stripe has its own queue id. The *lane* in this id is a part of the hash of the stripe's key. Two
/// stripes can have the same lane, so a request for a lane checks each strand with that lane.
impl<K: Send + 'static> QueueOwner for StripedShared<K> {
    fn cancelled_in_queue(self: Arc<Self>, _queue: QueueId, _by: CancelKind) -> Option<UserCode> {
        if self.tombstones.has_come() && self.tombstones.are_many(|| self.waiting()) {
            for table in self.tables() {
                let cancelled: Vec<_> = table.strands().map(|strand| strand.clear_out()).collect();
                drop(table);
                drop(cancelled);
            }
        }
        None
    }

    fn tombstone_dropped(&self) {} // a task is counted when it leaves a strand, before it is dropped

    fn take_out(&self, queue: QueueId, id: TaskId) -> Option<Task> {
        let table = self.table(queue.lane());
        let found = self.strands_of(&table, queue).find_map(|strand| strand.remove(id));
        drop(table);
        let (task, was_cancelled) = found?;
        (!was_cancelled).then_some(task)
    }

    fn take_out_all(&self, wanted: &dyn Fn(&Task) -> bool) -> Vec<Task> {
        let mut taken = Vec::new();
        for table in self.tables() {
            let found: Vec<_> = table.strands().map(|strand| strand.remove_all(wanted)).collect();
            drop(table);
            taken.extend(found.into_iter().flat_map(|(tasks, _cancelled)| tasks));
        }
        taken
    }

    fn raise(&self, queue: QueueId, id: TaskId, priority: &dyn Fn() -> i32) {
        let table = self.table(queue.lane());
        let strands: Vec<_> = self.strands_of(&table, queue).map(Arc::clone).collect();
        drop(table);
        for strand in strands {
            strand.raise_task(id, priority);
        }
    }

    fn name(&self) -> String {
        "a striped executor".to_owned()
    }

    /// Returns where the drain task is, if exactly one strand has this lane. If several strands have the
    /// lane, returns `Elsewhere`, because a starvation must be reported only if it is certain.
    fn served_by(self: Arc<Self>, queue: QueueId) -> ServedBy {
        let table = self.table(queue.lane());
        let mut strands = self.strands_of(&table, queue);
        ServedBy::DrainTask(match (strands.next(), strands.next()) {
            (Some(strand), None) => strand.place_of_drain(),
            _ => Location::Elsewhere,
        })
    }

    fn queued_of(&self, queue: QueueId, collector: usize) -> usize {
        let table = self.table(queue.lane());
        let of_strand = |strand: &Arc<Strand<Home<K>>>| {
            strand.with(|state| state.tasks().filter(|task| task.collector() == collector).count())
        };
        self.strands_of(&table, queue).map(of_strand).sum()
    }
}

impl<K: Send + 'static> StripedShared<K> {
    /// Returns the strands with the lane of this queue. Usually exactly one strand has the lane; after this
    /// strand has left the table, no strand has the lane. In rare cases, several strands have the same lane.
    fn strands_of<'a>(
        &self,
        table: &'a Strands<K>,
        queue: QueueId,
    ) -> impl Iterator<Item = &'a Arc<Strand<Home<K>>>> + use<'a, K> {
        let base = self.registration.id();
        table.strands().filter(move |strand| base.with_lane(strand.owner.hash()) == queue)
    }
}
