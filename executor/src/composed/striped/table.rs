//! The tables in which the strands of the stripes are found: by the hash of the key, and then by the key.
//!
//! A table has one strand for each of its keys with tasks, and no other strands. A submitter hashes the key
//! once, without the lock, and the table keeps the hash. So a strand that leaves the table is found by the
//! hash and by the strand's address, without the key.
//!
//! # Invariants
//!
//! 1. A strand comes into the table before its first task. The strand leaves the table when it is idle, or
//!    when it is stopped before its drain task has begun. It comes and leaves under the lock of the table.
//! 2. After a shutdown, a table that has strands has one stay for all of them together. Before a shutdown the
//!    life cannot end, so the strands need no stay. With a stay for each strand, all threads would have to
//!    take the lock of the life.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::composed::lifecycle::InFlight;
use crate::sync::Arc;

pub(super) struct Table<K, L> {
    strands: HashTable<TableSlot<K, L>>,
    /// Idle strands that have left the table, for the next keys. `None` after the executor was dropped.
    spare: Option<Vec<Arc<L>>>,
    stay: Option<InFlight>,
    /// The number of tasks that have ended in strands that have left the table.
    pub(super) completed: u64,
}

struct TableSlot<K, L> {
    hash: u64,
    key: K,
    strand: Arc<L>,
}

impl<K, L> TableSlot<K, L> {
    fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns whether the slot belongs to the key. Compares the keys only if their hashes are equal.
    fn is_of(&self, hash: u64, key: &K) -> bool
    where
        K: Eq,
    {
        self.hash == hash && self.key == *key
    }
}

/// The number of idle strands that a table keeps for the next keys. If the tasks of a key come one by one,
/// each task needs a new strand. Without spare strands, one thread would allocate the strand and another
/// thread would free it.
const SPARE: usize = 8;

/// The capacity, in strands, that a table always keeps.
const ROOM: usize = 16;

impl<K, L> Table<K, L> {
    pub(super) fn new() -> Self {
        Self { strands: HashTable::new(), spare: Some(Vec::new()), stay: None, completed: 0 }
    }

    /// Notes that the executor was shut down: no more strands come, and the life waits for these strands.
    pub(super) fn shutdown(&mut self, stay: &InFlight) {
        if !self.strands.is_empty() {
            self.stay = Some(stay.another());
        }
    }

    /// Calls `enter` with the strand of a key. If the key has no strand, first calls `make`, with a spare
    /// strand if there is one, and moves the key into the table.
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
        let strand = match self.strands.entry(hash, |slot| slot.is_of(hash, wanted), TableSlot::hash) {
            Entry::Occupied(place) => &place.into_mut().strand,
            Entry::Vacant(place) => {
                let key = key.take().expect("it was compared just now");
                let strand = make(self.spare.as_mut().and_then(Vec::pop));
                &place.insert(TableSlot { hash, key, strand }).into_mut().strand
            }
        };
        enter(strand)
    }

    /// Takes an idle strand out of the table. Keeps it as a spare strand if there are fewer than [`SPARE`].
    /// Returns the user's key, and sometimes the stay, whose drop can end the life. The caller must drop both
    /// when the lock is free.
    pub(super) fn leave(&mut self, hash: u64, strand: &Arc<L>) -> (Option<K>, Option<InFlight>) {
        let place = self.strands.find_entry(hash, |slot| Arc::ptr_eq(&slot.strand, strand));
        let Ok(place) = place else { return (None, None) };
        let (slot, _) = place.remove();
        if let Some(spare) = &mut self.spare
            && spare.len() < SPARE
        {
            spare.push(slot.strand);
        }
        (Some(slot.key), self.strand_has_left())
    }

    fn strand_has_left(&mut self) -> Option<InFlight> {
        let (strands, room) = (self.strands.len(), self.strands.capacity());
        if room > ROOM && strands < room / 8 {
            self.strands.shrink_to(ROOM.max(2 * strands), TableSlot::hash);
        }
        if strands == 0 { self.stay.take() } else { None }
    }

    /// Takes out the strands that were stopped before their drain tasks began. These drain tasks will find no
    /// task, so the life need not wait for them.
    pub(super) fn leave_if(&mut self, is_stopped: impl Fn(&L) -> bool) -> (Vec<K>, Option<InFlight>) {
        let stopped = self.strands.extract_if(|slot| is_stopped(&slot.strand));
        let keys = stopped.map(|slot| slot.key).collect();
        (keys, self.strand_has_left())
    }

    /// Returns the strands, in an arbitrary order.
    pub(super) fn strands(&self) -> impl Iterator<Item = &Arc<L>> {
        self.strands.iter().map(|slot| &slot.strand)
    }

    /// Returns the strand of a key, if the key has one.
    pub(super) fn find(&self, hash: u64, key: &K) -> Option<&Arc<L>>
    where
        K: Eq,
    {
        self.strands.find(hash, |slot| slot.is_of(hash, key)).map(|slot| &slot.strand)
    }

    /// Returns the spare strands, and keeps no strand from now on. A spare strand has an `Arc` of the owner
    /// of this table, so strand and owner would keep each other alive.
    pub(super) fn give_up_spare(&mut self) -> Option<Vec<Arc<L>>> {
        self.spare.take()
    }
}
