//! Where the strands of the stripes are found: by the hash of the key, and then by the key.
//!
//! A table has the strands of those keys that have a task, and of no others. It is told hashes and keeps
//! them, so a key is hashed once, by its submitter and outside the lock; and a strand that leaves is found
//! without its key, by its hash and its address.
//!
//! # Invariants
//!
//! 1. A strand is in the table from before its first task until it is idle, or was stopped before its drain
//!    task had begun. It comes and goes under the lock of the table.
//! 2. After a shutdown there is a stay while there is a strand: one counts for all of them. Before it nobody
//!    waits for the end, so that strands come and go without a word to the life of the executor, which all
//!    threads would have to lock.
//! 3. Under the lock, `Eq` of keys is called, before anything is changed, and no other code of the user's.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::composed::lifecycle::InFlight;
use crate::sync::Arc;

pub(super) struct Table<K, L> {
    strands: HashTable<TableSlot<K, L>>,
    /// Strands that have left, for the next keys. None any more when the executor is gone.
    spare: Option<Vec<Arc<L>>>,
    stay: Option<InFlight>,
    /// Tasks that have ended in strands that have left.
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

    /// Keys are compared only if their hashes are equal.
    fn is_of(&self, hash: u64, key: &K) -> bool
    where
        K: Eq,
    {
        self.hash == hash && self.key == *key
    }
}

/// What has left a table, to be dropped when the lock is free: a user's key, and the stay, with which a life
/// may end.
pub(super) type Left<K> = (Option<K>, Option<InFlight>);

/// How many strands are kept for the next keys. A key whose tasks come one by one needs a new strand for each
/// of them, which would be allocated by one thread and freed by another.
const SPARE: usize = 8;

/// Room for so many strands is not given back.
const ROOM: usize = 16;

impl<K, L> Table<K, L> {
    pub(super) fn new() -> Self {
        Self { strands: HashTable::new(), spare: Some(Vec::new()), stay: None, completed: 0 }
    }

    /// The executor was shut down: no more strands come. The end waits for those that are here.
    pub(super) fn shutdown(&mut self, stay: &InFlight) {
        if !self.strands.is_empty() {
            self.stay = Some(stay.another());
        }
    }

    /// Has a task come into the strand of a key. If there is none, `make` makes one, of a spare one if there
    /// is one, and it takes the key.
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
        let wanted = key.as_ref().expect("it is taken by the line that is made for it");
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

    /// Takes a strand out that is idle, to be used again.
    pub(super) fn leave(&mut self, hash: u64, strand: &Arc<L>) -> Left<K> {
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

    /// Takes those strands out that are stopped before their drain tasks have begun. Nobody needs to wait for
    /// their drain tasks, which will find nothing.
    pub(super) fn leave_if(&mut self, is_stopped: impl Fn(&L) -> bool) -> (Vec<K>, Option<InFlight>) {
        let stopped = self.strands.extract_if(|slot| is_stopped(&slot.strand));
        let keys = stopped.map(|slot| slot.key).collect();
        (keys, self.strand_has_left())
    }

    /// The strands, in no order that means anything.
    pub(super) fn strands(&self) -> impl Iterator<Item = &Arc<L>> {
        self.strands.iter().map(|slot| &slot.strand)
    }

    /// The strand of a key, if it has one.
    pub(super) fn find(&self, hash: u64, key: &K) -> Option<&Arc<L>>
    where
        K: Eq,
    {
        self.strands.find(hash, |slot| slot.is_of(hash, key)).map(|slot| &slot.strand)
    }

    /// Keeps no idle strands any more: each of them has an `Arc` of what has this table, so they would keep
    /// it for ever.
    pub(super) fn give_up_spare(&mut self) -> Option<Vec<Arc<L>>> {
        self.spare.take()
    }
}
