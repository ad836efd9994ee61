//! The tables of a striped executor: a submitter finds the strand of a key by the hash of the key, and then
//! by the key.
//!
//! A table contains one strand for each key that has tasks, and no other strands. A submitter hashes the key
//! once, without the lock, and the table is a map from hashes to strands. So when a strand leaves the table,
//! the table finds the strand by its hash and its address, without the user's key. If two keys have the same
//! hash, which is rare, the strand of the second key is in a separate list.
//!
//! # Invariants
//!
//! 1. A strand is put into the table before the strand gets its first task. A strand leaves the table when it
//!    is idle, or when it is stopped before its drain task has begun. Both steps happen under the lock of the
//!    table.
//! 2. After a shutdown, a table with strands has one guard in the lifecycle for all its strands. Before a
//!    shutdown the lifecycle cannot end, so the strands need no guard. A guard for each strand would be slow,
//!    because all threads would have to take the lock of the lifecycle.
//! 3. For each hash, at most one strand is in the map. A strand is put into the list only if the map already
//!    has a strand of the same hash. So as long as the list is empty, it is enough to search the map.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use crate::composed::lifecycle::InFlight;
use crate::sync::Arc;

pub(super) struct Table<K, L> {
    strands: HashMap<u64, TableSlot<K, L>, BuildHasherDefault<Hashed>>,
    /// The list: strands that were added when the map already had a strand of the same hash.
    same_hash: Vec<(u64, TableSlot<K, L>)>,
    /// Idle strands that have left the table, and can be used again for other keys. `None` after the executor
    /// was dropped.
    spare: Option<Vec<Arc<L>>>,
    stay: Option<InFlight>,
    /// The number of ended tasks of the strands that have left the table.
    pub(super) completed: u64,
}

struct TableSlot<K, L> {
    key: K,
    strand: Arc<L>,
}

/// A hasher that returns its input, because the keys of the map are hashes.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, _: &[u8]) {
        unreachable!("the keys of the map are of type u64")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The number of idle strands that a table keeps for other keys. If each task of a key ends before the key's
/// next task is submitted, each task needs a new strand. Without spare strands, one thread would allocate the
/// strand and another thread would free it.
const SPARE: usize = 8;

/// The number of strands for which a table always keeps memory.
const ROOM: usize = 16;

impl<K, L> Table<K, L> {
    pub(super) fn new() -> Self {
        Self {
            strands: HashMap::default(),
            same_hash: Vec::new(),
            spare: Some(Vec::new()),
            stay: None,
            completed: 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.strands.is_empty() && self.same_hash.is_empty()
    }

    /// Handles the shutdown of the executor: no more strands are added, and the lifecycle waits for the
    /// strands in this table.
    pub(super) fn shutdown(&mut self, stay: &InFlight) {
        if !self.is_empty() {
            self.stay = Some(stay.another());
        }
    }

    /// Calls `enter` with the strand of a key. If the key has no strand, first calls `make`, and moves the
    /// key into the table. The call passes a spare strand to `make` if there is one.
    pub(super) fn enter<R>(
        &mut self,
        hash: u64,
        key: &mut Option<K>,
        make: impl FnOnce(Option<Arc<L>>) -> Arc<L>,
        enter: impl FnOnce(&Arc<L>) -> R,
    ) -> R
    where
        K: Eq,
    {
        let wanted = key.as_ref().expect("only a new strand takes the key");
        if let Some(place) = self.same_hash.iter().position(|(of, slot)| *of == hash && slot.key == *wanted) {
            return enter(&self.same_hash[place].1.strand);
        }
        let place = self.strands.entry(hash);
        if let Entry::Occupied(place) = &place
            && place.get().key == *wanted
        {
            return enter(&place.get().strand);
        }
        let key = key.take().expect("it was compared just now");
        let slot = TableSlot { key, strand: make(self.spare.as_mut().and_then(Vec::pop)) };
        match place {
            Entry::Vacant(place) => enter(&place.insert(slot).strand),
            Entry::Occupied(_) => {
                let strand = Arc::clone(&slot.strand);
                self.same_hash.push((hash, slot));
                enter(&strand)
            }
        }
    }

    /// Takes an idle strand out of the table, and keeps it if there are fewer than [`SPARE`] spare strands.
    /// Returns the user's key. If the table is now empty, also returns the table's guard; the drop of this
    /// guard can end the lifecycle. The caller must drop both values after it has released the lock.
    pub(super) fn leave(&mut self, hash: u64, strand: &Arc<L>) -> (Option<K>, Option<InFlight>) {
        let Some(slot) = self.take(hash, strand) else { return (None, None) };
        if let Some(spare) = &mut self.spare
            && spare.len() < SPARE
        {
            spare.push(slot.strand);
        }
        (Some(slot.key), self.strand_has_left())
    }

    fn take(&mut self, hash: u64, strand: &Arc<L>) -> Option<TableSlot<K, L>> {
        let is_it = |slot: &TableSlot<K, L>| Arc::ptr_eq(&slot.strand, strand);
        if self.strands.get(&hash).is_some_and(is_it) {
            return self.strands.remove(&hash);
        }
        let place = self.same_hash.iter().position(|(_, slot)| is_it(slot))?;
        Some(self.same_hash.swap_remove(place).1)
    }

    fn strand_has_left(&mut self) -> Option<InFlight> {
        let (strands, room) = (self.strands.len(), self.strands.capacity());
        if room > ROOM && strands < room / 8 {
            self.strands.shrink_to(ROOM.max(2 * strands));
        }
        if self.is_empty() { self.stay.take() } else { None }
    }

    /// Takes out the strands that were stopped before their drain tasks began. These drain tasks will find no
    /// task, so the lifecycle need not wait for them.
    pub(super) fn leave_if(&mut self, is_stopped: impl Fn(&L) -> bool) -> (Vec<K>, Option<InFlight>) {
        let stopped = self.strands.extract_if(|_, slot| is_stopped(&slot.strand));
        let same_hash = self.same_hash.extract_if(.., |(_, slot)| is_stopped(&slot.strand));
        let keys = stopped.chain(same_hash).map(|(_, slot)| slot.key).collect();
        (keys, self.strand_has_left())
    }

    /// Returns the strands, in an arbitrary order.
    pub(super) fn strands(&self) -> impl Iterator<Item = &Arc<L>> {
        let same_hash = self.same_hash.iter().map(|(_, slot)| slot);
        self.strands.values().chain(same_hash).map(|slot| &slot.strand)
    }

    /// Returns the strand of a key, if the key has one.
    pub(super) fn find(&self, hash: u64, key: &K) -> Option<&Arc<L>>
    where
        K: Eq,
    {
        let same_hash = self.same_hash.iter().filter(|(of, _)| *of == hash).map(|(_, slot)| slot);
        let slot = self.strands.get(&hash).into_iter().chain(same_hash).find(|slot| slot.key == *key);
        slot.map(|slot| &slot.strand)
    }

    /// Returns the spare strands; after this call, the table keeps no spare strand. The spare strands and the
    /// owner of this table form a cycle of `Arc`s, which this call breaks.
    pub(super) fn give_up_spare(&mut self) -> Option<Vec<Arc<L>>> {
        self.spare.take()
    }
}
