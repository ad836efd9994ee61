//! Where the lines of the stripes are found: by the hash of the key, and then by the key.
//!
//! A table has the lines of those keys that have a task, and of no others. It is told hashes and keeps them, so a key is hashed
//! once, by its submitter and outside the lock; and a line that leaves is found without its key, by its hash and its address.
//!
//! # Invariants
//!
//! 1. A line is in the table from before its first task until it is idle, or was stopped before its head had begun. It comes
//!    and goes under the lock of the table.
//! 2. After a shutdown there is a stay while there is a line: one counts for all of them. Before it nobody waits for the end,
//!    so that lines come and go without a word to the life of the executor, which all threads would have to lock.
//! 3. Under the lock, `Eq` of keys is called, before anything is changed, and no other code of the user's.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::life::Stay;
use crate::sync::Arc;

pub(super) struct Table<K, L> {
    lines: HashTable<Slot<K, L>>,
    /// Lines that have left, for the next keys. None any more when the executor is gone.
    spare: Option<Vec<Arc<L>>>,
    stay: Option<Stay>,
    /// Tasks that have ended in lines that have left.
    pub(super) completed: u64,
}

struct Slot<K, L> {
    hash: u64,
    key: K,
    line: Arc<L>,
}

impl<K, L> Slot<K, L> {
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

/// What has left a table, to be dropped when the lock is free: a user's key, and the stay, with which a life may end.
pub(super) type Left<K> = (Option<K>, Option<Stay>);

/// How many lines are kept for the next keys. A key whose tasks come one by one needs a new line for each of them, which would
/// be allocated by one thread and freed by another.
const SPARE: usize = 8;

/// Room for so many lines is not given back.
const ROOM: usize = 16;

impl<K, L> Table<K, L> {
    pub(super) fn new() -> Self {
        Self { lines: HashTable::new(), spare: Some(Vec::new()), stay: None, completed: 0 }
    }

    /// The executor was shut down: no more lines come. The end waits for those that are here.
    pub(super) fn shutdown(&mut self, stay: &Stay) {
        if !self.lines.is_empty() {
            self.stay = Some(stay.another());
        }
    }

    /// Has a task come into the line of a key. If there is none, `make` makes one, of a spare one if there is one, and it takes
    /// the key.
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
        let line = match self.lines.entry(hash, |slot| slot.is_of(hash, wanted), Slot::hash) {
            Entry::Occupied(place) => &place.into_mut().line,
            Entry::Vacant(place) => {
                let key = key.take().expect("it was compared just now");
                let line = make(self.spare.as_mut().and_then(Vec::pop));
                &place.insert(Slot { hash, key, line }).into_mut().line
            }
        };
        enter(line)
    }

    /// Takes a line out that is idle, to be used again.
    pub(super) fn leave(&mut self, hash: u64, line: &Arc<L>) -> Left<K> {
        let place = self.lines.find_entry(hash, |slot| Arc::ptr_eq(&slot.line, line));
        let Ok(place) = place else { return (None, None) };
        let (slot, _) = place.remove();
        if let Some(spare) = &mut self.spare
            && spare.len() < SPARE
        {
            spare.push(slot.line);
        }
        (Some(slot.key), self.line_has_left())
    }

    fn line_has_left(&mut self) -> Option<Stay> {
        let (lines, room) = (self.lines.len(), self.lines.capacity());
        if room > ROOM && lines < room / 8 {
            self.lines.shrink_to(ROOM.max(2 * lines), Slot::hash);
        }
        if lines == 0 { self.stay.take() } else { None }
    }

    /// Takes those lines out that are stopped before their heads have begun. Nobody needs to wait for their heads, which will
    /// find nothing.
    pub(super) fn leave_if(&mut self, is_stopped: impl Fn(&L) -> bool) -> (Vec<K>, Option<Stay>) {
        let stopped = self.lines.extract_if(|slot| is_stopped(&slot.line));
        let keys = stopped.map(|slot| slot.key).collect();
        (keys, self.line_has_left())
    }

    /// The lines, in no order that means anything.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Arc<L>> {
        self.lines.iter().map(|slot| &slot.line)
    }

    /// The line of a key, if it has one.
    pub(super) fn find(&self, hash: u64, key: &K) -> Option<&Arc<L>>
    where
        K: Eq,
    {
        self.lines.find(hash, |slot| slot.is_of(hash, key)).map(|slot| &slot.line)
    }

    /// Keeps no idle lines any more: each of them has an `Arc` of what has this table, so they would keep it for ever.
    pub(super) fn give_up_spare(&mut self) -> Option<Vec<Arc<L>>> {
        self.spare.take()
    }
}
