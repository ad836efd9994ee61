//! Where the lines of the stripes are found: by the hash of the key, and then by the key.
//!
//! A table has the lines of those keys that have a task, and of no others. It knows hashes, not keys: a map from hash to line,
//! with a chain for keys of the same hash. So a key is hashed once, by its submitter and outside the lock, and a line that
//! leaves is found without its key.
//!
//! # Invariants
//!
//! 1. A line is in the table from before its first task until it is idle, or was stopped before its head had begun. It comes
//!    and goes under the lock of the table.
//! 2. After a shutdown there is a stay while there is a line: one counts for all of them. Before it nobody waits for the end,
//!    so that lines come and go without a word to the life of the executor, which all threads would have to lock.
//! 3. Under the lock, `Eq` of keys is called, before anything is changed, and no other code of the user's.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use crate::life::Stay;
use crate::sync::Arc;

pub(super) struct Table<K, L> {
    lines: HashMap<u64, Slot<K, L>, BuildHasherDefault<AsItIs>>,
    /// Lines that have left, for the next keys. None any more when the executor is gone.
    spare: Option<Vec<Arc<L>>>,
    stay: Option<Stay>,
    /// Tasks that have ended in lines that have left.
    pub(super) completed: u64,
}

struct Slot<K, L> {
    key: K,
    line: Arc<L>,
    /// That of another key with the same hash.
    next: Option<Box<Self>>,
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
        Self { lines: HashMap::default(), spare: Some(Vec::new()), stay: None, completed: 0 }
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
        let spare = &mut self.spare;
        let new = |key: &mut Option<K>| {
            let key = key.take().expect("it is taken by the line that is made for it");
            Slot { key, line: make(spare.as_mut().and_then(Vec::pop)), next: None }
        };
        let mut slot = match self.lines.entry(hash) {
            Entry::Vacant(place) => return enter(&place.insert(new(key)).line),
            Entry::Occupied(place) => place.into_mut(),
        };
        while key.as_ref() != Some(&slot.key) {
            if slot.next.is_none() {
                slot.next = Some(Box::new(new(key)));
                return enter(&slot.next.as_ref().expect("it was put there").line);
            }
            slot = slot.next.as_mut().expect("there is one");
        }
        enter(&slot.line)
    }

    /// Takes a line out that is idle, to be used again.
    pub(super) fn leave(&mut self, hash: u64, line: &Arc<L>) -> Left<K> {
        let Some(slot) = self.take(hash, line) else { return (None, None) };
        if let Some(spare) = &mut self.spare
            && spare.len() < SPARE
        {
            spare.push(slot.line);
        }
        (Some(slot.key), self.line_has_left())
    }

    fn take(&mut self, hash: u64, line: &Arc<L>) -> Option<Slot<K, L>> {
        let Entry::Occupied(mut place) = self.lines.entry(hash) else { return None };
        let found = if Arc::ptr_eq(&place.get().line, line) {
            match place.get_mut().next.take() {
                Some(next) => place.insert(*next),
                None => place.remove(),
            }
        } else {
            let mut before = place.into_mut();
            while !before.next.as_ref().is_some_and(|next| Arc::ptr_eq(&next.line, line)) {
                before = before.next.as_mut()?;
            }
            let mut found = before.next.take()?;
            before.next = found.next.take();
            *found
        };
        Some(found)
    }

    fn line_has_left(&mut self) -> Option<Stay> {
        let (lines, room) = (self.lines.len(), self.lines.capacity());
        if room > ROOM && lines < room / 8 {
            self.lines.shrink_to(ROOM.max(2 * lines));
        }
        if lines == 0 { self.stay.take() } else { None }
    }

    /// Takes those lines out that are stopped before their heads have begun. Nobody needs to wait for their heads, which will
    /// find nothing.
    pub(super) fn leave_if(&mut self, is_stopped: impl Fn(&L) -> bool) -> (Vec<K>, Option<Stay>) {
        let lines = self.slots().filter(|(_, slot)| is_stopped(&slot.line));
        let stopped: Vec<_> = lines.map(|(hash, slot)| (hash, Arc::clone(&slot.line))).collect();
        let keys = stopped.iter().filter_map(|(hash, line)| self.take(*hash, line)).map(|slot| slot.key);
        let keys = keys.collect();
        (keys, self.line_has_left())
    }

    /// The lines, in no order that means anything.
    pub(super) fn lines(&self) -> impl Iterator<Item = &Arc<L>> {
        self.slots().map(|(_, slot)| &slot.line)
    }

    fn slots(&self) -> impl Iterator<Item = (u64, &Slot<K, L>)> {
        self.lines.iter().flat_map(|(&hash, first)| {
            std::iter::successors(Some(first), |slot| slot.next.as_deref()).map(move |slot| (hash, slot))
        })
    }

    /// The line of a key, if it has one.
    pub(super) fn find(&self, hash: u64, key: &K) -> Option<&Arc<L>>
    where
        K: Eq,
    {
        let mut slots = std::iter::successors(self.lines.get(&hash), |slot| slot.next.as_deref());
        slots.find(|slot| slot.key == *key).map(|slot| &slot.line)
    }

    /// Keeps no lines any more: each of them has a share of what has the table.
    pub(super) fn give_up_spare(&mut self) -> Option<Vec<Arc<L>>> {
        self.spare.take()
    }
}

/// What is hashed is a hash.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only hashes are hashed")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
