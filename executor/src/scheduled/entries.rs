//! Entries by time: a heap of which any entry can be taken out.
//!
//! The entries lie in numbered *slots* and stay there. The heap has the time and the slot of each, and each slot knows its place in
//! the heap. So whoever has the number of a slot takes its entry out in a few steps, wherever it is in the heap.
//!
//! ```text
//!   heap     3     7     5     9          slots   0: free   1: at 2   2: at 0   3: at 3   4: at 1
//!   slot     2     4     1     3
//! ```
//!
//! A node has four children, and not two. The heap is half as deep, and the keys that are compared lie side by side. (A *d-ary
//! heap*: D. B. Johnson, "Priority queues with update and finding minimum spanning trees", 1975.) A sorted map would take any entry
//! out, too. To insert into one of a hundred thousand costs many times as much, since an entry goes to its place among all
//! others; here it stays near the end, unless it is earlier than most.
//!
//! # Invariants
//!
//! 1. No node comes before its parent: the first of all is at 0.
//! 2. Each node has a slot in use, which knows the place of that node; and each slot in use has a node.

use crate::sync::Instant;

/// When, and the how manyth that was inserted: no two are equal.
type Key = (Instant, u64);

const CHILDREN: usize = 4;

/// So many slots stay for the next entries.
const KEPT: usize = 1_024;

pub(super) struct Entries<W> {
    heap: Vec<Node>,
    slots: Vec<Slot<W>>,
    free: Vec<usize>,
    inserted: u64,
}

#[derive(Clone, Copy)]
struct Node {
    key: Key,
    slot: usize,
}

struct Slot<W> {
    /// In the heap, if there is an entry.
    at: usize,
    entry: Option<W>,
}

impl<W> Entries<W> {
    pub(super) const fn new() -> Self {
        Self { heap: Vec::new(), slots: Vec::new(), free: Vec::new(), inserted: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The time of the first entry, and its slot. Of entries for the same time, the one that was inserted first is the first.
    pub(super) fn first(&self) -> Option<(Instant, usize)> {
        self.heap.first().map(|node| (node.key.0, node.slot))
    }

    /// The entry in a slot.
    pub(super) fn get(&self, slot: usize) -> Option<&W> {
        self.slots.get(slot)?.entry.as_ref()
    }

    /// All slots, those without an entry among them.
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The slots of all entries, in the order of their times.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut nodes = self.heap.clone();
        nodes.sort_unstable_by_key(|node| node.key);
        nodes.into_iter().map(|node| node.slot).collect()
    }

    /// Inserts an entry, and says in which slot it is.
    pub(super) fn insert(&mut self, time: Instant, entry: W) -> usize {
        let at = self.heap.len();
        let new = Slot { at, entry: Some(entry) };
        let slot = self.free.pop().unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(new);
        } else {
            self.slots[slot] = new;
        }
        self.heap.push(Node { key: (time, self.inserted), slot });
        self.inserted += 1;
        self.rise(at);
        slot
    }

    /// Takes the entry out of a slot.
    pub(super) fn remove(&mut self, slot: usize) -> Option<W> {
        let Slot { at, entry } = self.slots.get_mut(slot)?;
        let (entry, at) = (entry.take()?, *at);
        self.free.push(slot);
        let last = self.heap.pop().expect("each entry has a node");
        if at < self.heap.len() {
            self.put(last, at);
            if self.rise(at) == at {
                self.sink(at);
            }
        }
        if self.heap.is_empty() && self.slots.len() > KEPT {
            *self = Self { inserted: self.inserted, ..Self::new() }; // what a burst has needed
        }
        Some(entry)
    }

    fn put(&mut self, node: Node, at: usize) {
        self.heap[at] = node;
        self.slots[node.slot].at = at;
    }

    /// Lets a node change places with its parents until none comes after it. Where it is then.
    fn rise(&mut self, mut at: usize) -> usize {
        let node = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.heap[parent].key < node.key {
                break;
            }
            self.put(self.heap[parent], at);
            at = parent;
        }
        self.put(node, at);
        at
    }

    /// Lets a node change places with its first child until none comes before it.
    fn sink(&mut self, mut at: usize) {
        let node = self.heap[at];
        loop {
            let children = (CHILDREN * at + 1)..(CHILDREN * at + 1 + CHILDREN).min(self.heap.len());
            let Some(child) = children.min_by_key(|&child| self.heap[child].key) else { break };
            if node.key < self.heap[child].key {
                break;
            }
            self.put(self.heap[child], at);
            at = child;
        }
        self.put(node, at);
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::sync::Duration;

    /// The next of a sequence of numbers without a pattern.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    fn is_a_heap<W>(entries: &Entries<W>) {
        for (at, node) in entries.heap.iter().enumerate() {
            assert!(at == 0 || entries.heap[(at - 1) / CHILDREN].key < node.key, "a parent comes later");
            assert_eq!(entries.slots[node.slot].at, at);
        }
        let used = entries.slots.iter().filter(|slot| slot.entry.is_some()).count();
        assert_eq!(used, entries.heap.len());
    }

    #[test]
    fn it_does_what_a_sorted_map_does() {
        let (start, mut state) = (Instant::now(), 1);
        for most in [3, 40, 2_000] {
            let (mut entries, mut map) = (Entries::new(), BTreeMap::new());
            let mut in_slots = BTreeMap::new();
            for number in 0..20_000_u64 {
                if map.len() < most && random(&mut state) % 5 < 3 {
                    let time = start + Duration::from_secs(random(&mut state) % 50);
                    let slot = entries.insert(time, number);
                    map.insert((time, number), slot);
                    assert!(in_slots.insert(slot, (time, number)).is_none(), "the slot was free");
                } else if random(&mut state).is_multiple_of(2) {
                    let first = map.first_key_value().map(|(&(time, _), &slot)| (time, slot));
                    assert_eq!(entries.first(), first);
                    let Some((key, slot)) = map.pop_first() else { continue };
                    in_slots.remove(&slot);
                    assert_eq!(entries.remove(slot), Some(key.1));
                } else {
                    let slot = usize::try_from(random(&mut state)).unwrap() % most;
                    let expected = in_slots.remove(&slot);
                    expected.map(|key| map.remove(&key));
                    assert_eq!(entries.remove(slot), expected.map(|(_, number)| number));
                }
                if number.is_multiple_of(100) {
                    is_a_heap(&entries);
                    assert!(entries.in_order().iter().eq(map.values()));
                }
            }
        }
    }

    #[test]
    fn what_a_burst_has_needed_is_given_up_when_it_is_over() {
        let (mut entries, time) = (Entries::new(), Instant::now());
        let slots: Vec<usize> = (0..=KEPT).map(|n| entries.insert(time, n)).collect();
        for slot in slots {
            entries.remove(slot);
        }
        assert!(entries.heap.capacity() + entries.slots.capacity() + entries.free.capacity() == 0);
    }
}
