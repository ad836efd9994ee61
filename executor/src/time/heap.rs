//! A heap that orders entries by time, and from which any entry can be removed.
//!
//! Each entry stays in a numbered *slot*. The heap stores the time and the slot of each entry, and each slot
//! stores the place of its entry in the heap. So a caller that knows the slot of an entry can remove the
//! entry in a few steps, wherever the entry is in the heap.
//!
//! ```text
//!   heap     3     7     5     9          slots   0: free   1: at 2   2: at 0   3: at 3   4: at 1
//!   slot     2     4     1     3
//! ```
//!
//! A node has four children, not two. So the heap is half as deep, and the keys that are compared are
//! neighbours in memory. This structure is a *d-ary heap* (Donald Johnson, "Priority queues with update and
//! finding minimum spanning trees", 1975).
//!
//! # Why not a sorted map
//!
//! Most deadlines are removed long before their time, so the structure must remove any entry at once. A heap
//! without slots cannot do this, but a sorted map can do it. But a map moves each new entry to its place
//! among all other entries. In the heap, a new entry stays near the end, unless its time is before the time
//! of most other entries. On the other hand, when the first entry is removed, another entry moves through the
//! whole depth of the heap. The time of one insertion and one removal, in nanoseconds:
//!
//! ```sh
//! cargo test --release -p task-execution --lib heap_and_map -- --ignored --nocapture
//! ```
//!
//! | other entries | remove any deadline: heap, map | the oldest: heap, map | the first task: heap, map |
//! |---|---|---|---|
//! | 10 | 49, 84 | 51, 80 | 54, 94 |
//! | 1,000 | 55, 156 | 91, 118 | 77, 101 |
//! | 100,000 | 361, 668 | 112, 155 | 263, 301 |
//!
//! Also, a canceller needs a number with which it finds a task, and the slot number serves this purpose.
//!
//! # Invariants
//!
//! 1. No node has a smaller key than its parent, so the first entry is at index 0.
//! 2. Each node has a slot in use, which stores the place of that node. Each slot in use has a node.
//! 3. Slots are reused. The caller must check whether the slot still contains the same entry.

use crate::sync::{Duration, Instant};

const CHILDREN: usize = 4;

/// The number of empty slots that an empty heap keeps for later entries.
const KEPT: usize = 1_024;

pub(crate) struct Heap<W> {
    nodes: Vec<HeapNode>,
    /// For each slot with an entry, the index of the entry's node. This table is small, so that most of it
    /// stays in a processor's cache.
    places: Vec<u32>,
    entries: Vec<Option<W>>,
    free: Vec<u32>,
    /// The moment from which the times in the nodes count: the moment of the first insertion.
    epoch: Option<Instant>,
    inserted: u32,
}

#[derive(Clone, Copy)]
struct HeapNode {
    /// The time, in nanoseconds after the epoch.
    time: i64,
    /// The number of entries that were inserted before this entry. So no two keys are equal.
    number: u32,
    slot: u32,
}

impl HeapNode {
    fn key(&self) -> (i64, u32) {
        (self.time, self.number)
    }
}

impl<W> Heap<W> {
    pub(crate) const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            places: Vec::new(),
            entries: Vec::new(),
            free: Vec::new(),
            epoch: None,
            inserted: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the time and the slot of the first entry. Entries with equal times are in the order of
    /// their insertion.
    pub(crate) fn first(&self) -> Option<(Instant, usize)> {
        let (node, epoch) = (self.nodes.first()?, self.epoch?);
        let distance = Duration::from_nanos(node.time.unsigned_abs());
        let time = if node.time < 0 { epoch.checked_sub(distance) } else { epoch.checked_add(distance) };
        Some((time.expect("the time is between the epoch and an inserted time"), node.slot as usize))
    }

    /// Returns the entry in a slot.
    pub(crate) fn get(&self, slot: usize) -> Option<&W> {
        self.entries.get(slot)?.as_ref()
    }

    /// Returns the number of slots, with and without an entry.
    pub(crate) fn slots(&self) -> usize {
        self.entries.len()
    }

    /// Returns the slots of all entries, in the order of their times.
    pub(crate) fn in_order(&self) -> Vec<usize> {
        let mut nodes = self.nodes.clone();
        nodes.sort_unstable_by_key(HeapNode::key);
        nodes.into_iter().map(|node| node.slot as usize).collect()
    }

    /// Returns the nanoseconds from the epoch to a time. All times that are more than 292 years away
    /// count as equal.
    fn after_epoch(&mut self, time: Instant) -> i64 {
        let epoch = *self.epoch.get_or_insert_with(Instant::now);
        let nanos = |distance: Duration| i64::try_from(distance.as_nanos()).unwrap_or(i64::MAX);
        if time < epoch { -nanos(epoch - time) } else { nanos(time - epoch) }
    }

    /// Inserts an entry, and returns its slot.
    pub(crate) fn insert(&mut self, time: Instant, entry: W) -> usize {
        if self.inserted == u32::MAX {
            self.renumber();
        }
        let time = self.after_epoch(time);
        let at = self.nodes.len();
        let slot = if let Some(slot) = self.free.pop() {
            self.entries[slot as usize] = Some(entry);
            slot
        } else {
            self.entries.push(Some(entry));
            self.places.push(0);
            u32::try_from(self.places.len() - 1).expect("memory has room for fewer entries")
        };
        self.nodes.push(HeapNode { time, number: self.inserted, slot });
        self.inserted += 1;
        self.rise(at);
        slot as usize
    }

    /// Gives the entries new numbers, in the order of the entries.
    #[cold]
    fn renumber(&mut self) {
        self.nodes.sort_unstable_by_key(HeapNode::key);
        for (number, node) in (0..).zip(&mut self.nodes) {
            node.number = number;
            self.places[node.slot as usize] = number;
            self.inserted = number + 1;
        }
    }

    /// Takes the entry out of a slot if `wanted` returns true.
    pub(crate) fn remove_if(&mut self, slot: usize, wanted: impl FnOnce(&W) -> bool) -> Option<W> {
        if wanted(self.get(slot)?) { self.remove(slot) } else { None }
    }

    /// Takes the entry out of a slot.
    pub(crate) fn remove(&mut self, slot: usize) -> Option<W> {
        let entry = self.entries.get_mut(slot)?.take()?;
        let at = self.places[slot] as usize;
        self.free.push(self.nodes[at].slot);
        let last = self.nodes.pop().expect("each entry has a node");
        if at < self.nodes.len() {
            self.put(last, at);
            if self.rise(at) == at {
                self.sink(at);
            }
        }
        if self.nodes.is_empty() && self.entries.len() > KEPT {
            *self = Self::new(); // frees the memory of a burst of entries
        }
        Some(entry)
    }

    #[expect(clippy::cast_possible_truncation, reason = "there are no more nodes than slots")]
    fn put(&mut self, node: HeapNode, at: usize) {
        self.nodes[at] = node;
        self.places[node.slot as usize] = at as u32;
    }

    /// Moves a node up until it is the root or its parent has a smaller key. Returns its new index.
    fn rise(&mut self, mut at: usize) -> usize {
        let node = self.nodes[at];
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.nodes[parent].key() < node.key() {
                break;
            }
            self.put(self.nodes[parent], at);
            at = parent;
        }
        self.put(node, at);
        at
    }

    /// Moves a node down until no child has a smaller key. Each step exchanges the node with the child that
    /// has the smallest key.
    fn sink(&mut self, mut at: usize) {
        let node = self.nodes[at];
        loop {
            let children = (CHILDREN * at + 1)..(CHILDREN * at + 1 + CHILDREN).min(self.nodes.len());
            let Some(child) = children.min_by_key(|&child| self.nodes[child].key()) else { break };
            if node.key() < self.nodes[child].key() {
                break;
            }
            self.put(self.nodes[child], at);
            at = child;
        }
        self.put(node, at);
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Returns the next pseudo-random number.
    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    fn is_a_heap<W>(entries: &Heap<W>) {
        for (at, node) in entries.nodes.iter().enumerate() {
            assert!(at == 0 || entries.nodes[(at - 1) / CHILDREN].key() < node.key(), "a parent comes later");
            assert_eq!(entries.places[node.slot as usize] as usize, at);
        }
        let used = entries.entries.iter().flatten().count();
        assert_eq!(used, entries.nodes.len());
    }

    #[test]
    fn it_does_what_a_sorted_map_does() {
        let (start, mut state) = (Instant::now(), 1);
        for most in [3, 40, 2_000] {
            let (mut entries, mut map) = (Heap::new(), BTreeMap::new());
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

    /// Measures one insertion and one removal while a number of other entries wait.
    #[test]
    #[ignore = "a measurement"]
    fn heap_and_map_side_by_side() {
        const TURNS: u64 = 1_000_000;
        let (start, mut state) = (Instant::now(), 1);
        println!("waiting  workload    heap ns  map ns");
        for waiting in [10, 1_000, 100_000] {
            // The deadline of an entry is a fixed time after the insertion of the entry, and the test removes
            // any entry or the oldest entry. Each task is due at a random time after its insertion, and the
            // test removes the first task.
            for workload in ["any", "oldest", "tasks"] {
                let (mut heap, mut map) = (Heap::new(), BTreeMap::new());
                let (mut slots, mut keys) = (Vec::new(), Vec::new());
                let (mut by_heap, mut by_map) = (Duration::ZERO, Duration::ZERO);
                for number in 0..TURNS + waiting {
                    let spread = if workload == "tasks" { random(&mut state) % 1_000_000_000 } else { 0 };
                    let key = (start + Duration::from_nanos(number * 1_000 + spread), number);
                    let oldest = workload == "oldest";
                    let chosen = (if oldest { number } else { random(&mut state) }) % waiting;
                    let chosen = usize::try_from(chosen).unwrap();
                    let leaves = number >= waiting;
                    let began = Instant::now();
                    let slot = heap.insert(key.0, [number; 6]);
                    if leaves && workload == "tasks" {
                        heap.remove(heap.first().unwrap().1);
                    } else if leaves {
                        heap.remove(std::mem::replace(&mut slots[chosen], slot));
                    } else {
                        slots.push(slot);
                    }
                    let between = Instant::now();
                    map.insert(key, [number; 6]);
                    if leaves && workload == "tasks" {
                        map.pop_first();
                    } else if leaves {
                        map.remove(&std::mem::replace(&mut keys[chosen], key));
                    } else {
                        keys.push(key);
                    }
                    if leaves {
                        by_heap += between - began;
                        by_map += between.elapsed();
                    }
                }
                let each = |time: Duration| time.as_nanos() / u128::from(TURNS);
                println!("{waiting:7}  {workload:9}  {:8}  {:6}", each(by_heap), each(by_map));
            }
        }
    }

    #[test]
    fn entries_that_are_numbered_anew_keep_their_order() {
        let (mut entries, early) = (Heap::new(), Instant::now()); // before the first insertion
        let time = early + Duration::from_secs(9);
        entries.inserted = u32::MAX - 5;
        let far = time + Duration::from_secs(1_000 * 365 * 24 * 60 * 60); // further than a node can tell
        let times = [far, time, early, time, far, time, far, time, time];
        let slots = times.map(|time| entries.insert(time, ()));
        is_a_heap(&entries);
        assert_eq!(entries.inserted, 9, "they were numbered anew once");
        assert_eq!(entries.in_order(), [2, 1, 3, 5, 7, 8, 0, 4, 6].map(|n: usize| slots[n]));
        assert_eq!(entries.first(), Some((times[2], slots[2])));
    }

    #[test]
    fn what_a_burst_has_needed_is_given_up_when_it_is_over() {
        let (mut entries, time) = (Heap::new(), Instant::now());
        let slots: Vec<usize> = (0..=KEPT).map(|n| entries.insert(time, n)).collect();
        for slot in slots {
            entries.remove(slot);
        }
        assert!(entries.nodes.capacity() + entries.places.capacity() + entries.entries.capacity() == 0);
    }
}
