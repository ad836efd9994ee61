//! Items that record their comparisons, and a joiner that records its joins.

use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};

use exercises_harness::{expect, fail, panic_on_purpose};

use super::super::exercise::{Failed, Half, Joiner, sort};
use super::{AT_ONCE, NO_END};
use crate::probe::{Counter, Shared};
use crate::sync::{Arc, thread};

/// The ways in which a joiner calls two halves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    /// Calls first the left half, then the right half, on the calling thread.
    InTurn,
    /// Calls first the right half, then the left half.
    OtherFirst,
    /// Calls each half on its own thread.
    AtOnce,
}

/// The halves that the joiner calls although the join must return an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Calls {
    Both,
    One,
    None,
}

/// An item; two items are equal if their keys are equal.
#[derive(Clone)]
pub(super) struct Item {
    pub(super) key: u32,
    /// The index that the item had before the sort.
    pub(super) number: usize,
    bench: Arc<Bench>,
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bench.compares(self.number, other.number);
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Item {}

/// A joiner that records its calls and the comparisons of the items.
pub(super) struct Bench {
    how: How,
    /// The number of items in the whole sort.
    items: Shared<usize>,
    pub(super) seen: Shared<Seen>,
    /// The number of the join that returns an error.
    fails: Option<(usize, Calls)>,
    /// The number of the comparison that panics.
    panics: Option<usize>,
    /// The counter for the two threads of a join: the thread that compares first waits until the other thread
    /// compares, too.
    pub(super) meet: Option<Counter>,
}

#[derive(Default)]
pub(super) struct Seen {
    pub(super) joins: usize,
    pub(super) comparisons: usize,
    /// The number of joins that have not returned.
    open: usize,
    /// The parts that are being sorted: first the whole, then one of its halves, then a half of that half,
    /// and so on. Used only if the joiner calls halves one after the other.
    parts: Vec<Part>,
    /// For each join, how many items its first and its second half have compared; the last entry is for the
    /// join of all items.
    pub(super) splits: Vec<(usize, usize)>,
    /// The items that were compared by both halves of a part.
    pub(super) shared: Vec<usize>,
    /// True if a part failed, and after its failure still compared items or returned success.
    pub(super) went_on: bool,
    pub(super) hidden: bool,
    pub(super) threads: Vec<thread::ThreadId>,
}

#[derive(Default)]
struct Part {
    /// The items that the part has compared.
    compared: Vec<usize>,
    failed: bool,
}

impl Seen {
    fn part(&mut self) -> Option<&mut Part> {
        self.parts.last_mut()
    }

    fn note_failure(&mut self, failed: bool) {
        if let Some(part) = self.part() {
            part.failed |= failed;
        }
    }
}

/// The result of a sort, and the items after the sort.
pub(super) struct Outcome {
    /// `None` if the sort panicked.
    pub(super) result: Option<Result<(), Failed>>,
    pub(super) items: Vec<Item>,
}

impl Bench {
    pub(super) fn new(how: How) -> Self {
        Self { how, items: Shared::default(), seen: Shared::default(), fails: None, panics: None, meet: None }
    }

    /// Makes a bench for joins on two threads: the thread that compares first waits until the other thread
    /// compares, too.
    pub(super) fn where_they_meet() -> Self {
        Self {
            meet: Some(Counter::new("the other half to compare its first items")),
            ..Self::new(How::AtOnce)
        }
    }

    /// Makes a bench in which one join fails; the first join is number 1.
    pub(super) fn that_fails(join: usize, calls: Calls) -> Self {
        Self { fails: Some((join, calls)), ..Self::new(How::InTurn) }
    }

    /// Makes a bench in which one comparison panics; the first comparison is number 1.
    pub(super) fn that_panics(comparison: usize) -> Self {
        Self { panics: Some(comparison), ..Self::new(How::InTurn) }
    }

    /// Sorts items with the given keys. `cause` is the likely cause if the sort never ends.
    pub(super) fn sort(self, keys: &[u32], threshold: usize, cause: &str) -> (Outcome, Arc<Self>) {
        let bench = Arc::new(self);
        let item = |(number, key): (usize, &u32)| Item { key: *key, number, bench: Arc::clone(&bench) };
        let mut items: Vec<Item> = keys.iter().enumerate().map(item).collect();
        bench.items.with(|items| *items = keys.len());
        bench.seen.with(|seen| seen.parts.push(Part::default()));
        let call = || sort(&mut items, threshold, &*bench);
        let result = expect("sort()", cause, || catch_unwind(AssertUnwindSafe(call))).ok();
        bench.seen.with(|seen| {
            let part = seen.parts.pop().unwrap_or_default();
            seen.hidden |= part.failed && result == Some(Ok(()));
        });
        (Outcome { result, items }, bench)
    }

    fn compares(&self, one: usize, other: usize) {
        let me = thread::current().id();
        let (number, meets) = self.seen.with(|seen| {
            seen.comparisons += 1;
            if let Some(part) = seen.part() {
                let failed = part.failed;
                part.compared.extend([one, other]);
                seen.went_on |= failed;
            }
            let is_new = (seen.open > 0 || self.meet.is_none()) && !seen.threads.contains(&me);
            if is_new {
                seen.threads.push(me);
            }
            (seen.comparisons, is_new)
        });
        if self.panics == Some(number) {
            panic_on_purpose();
        }
        if let Some(meet) = self.meet.as_ref().filter(|_| meets) {
            meet.add();
            expect("waiting for the other half to begin", AT_ONCE, || meet.wait_for(2));
        }
    }

    /// Counts a join that begins. If this join must fail, returns the halves that the joiner must call.
    fn begins(&self) -> Option<Calls> {
        let (joins, open) = self.seen.with(|seen| {
            seen.joins += 1;
            seen.open += 1;
            (seen.joins, seen.open)
        });
        let items = self.items.with(|items| *items);
        if open > items {
            fail(&format!("{items} items, and {open} calls of join(), each inside the one before"), NO_END);
        }
        self.fails.filter(|(number, _)| *number == joins).map(|(_, calls)| calls)
    }

    /// Calls a half on the calling thread. Returns the items that the half has compared, and whether the half
    /// has failed.
    fn call(&self, half: Half<'_>) -> (Vec<usize>, bool) {
        self.seen.with(|seen| seen.parts.push(Part::default()));
        let is_ok = is_ok(half);
        self.seen.with(|seen| {
            let mut part = seen.parts.pop().unwrap_or_default();
            seen.hidden |= part.failed && is_ok;
            part.compared.sort_unstable();
            part.compared.dedup();
            if let Some(outer) = seen.part() {
                outer.compared.extend(&part.compared);
            }
            (part.compared, part.failed || !is_ok)
        })
    }

    fn in_turn(&self, first: Half<'_>, second: Half<'_>) -> bool {
        let (one, one_failed) = self.call(first);
        let (other, other_failed) = self.call(second);
        let failed = one_failed || other_failed;
        self.seen.with(|seen| {
            seen.shared.extend(one.iter().filter(|number| other.contains(number)));
            seen.splits.push((one.len().max(1), other.len().max(1))); // a single item is not compared
            seen.note_failure(failed);
        });
        failed
    }
}

fn is_ok(half: Half<'_>) -> bool {
    matches!(catch_unwind(AssertUnwindSafe(half)), Ok(Ok(())))
}

fn ended_well(thread: thread::ScopedJoinHandle<'_, bool>) -> bool {
    thread.join().unwrap_or(false)
}

impl Joiner for Bench {
    fn join<'a>(&self, one: Half<'a>, other: Half<'a>) -> Result<(), Failed> {
        let fails = self.begins();
        let failed = match (fails, self.how) {
            (Some(Calls::None), _) => true,
            (Some(Calls::One), _) => {
                self.call(one);
                true
            }
            (Some(Calls::Both), _) => {
                self.in_turn(one, other);
                true
            }
            (None, How::InTurn) => self.in_turn(one, other),
            (None, How::OtherFirst) => self.in_turn(other, one),
            (None, How::AtOnce) => thread::scope(|threads| {
                let other = threads.spawn(move || is_ok(other));
                let one = threads.spawn(move || is_ok(one));
                !(ended_well(one) & ended_well(other))
            }),
        };
        self.seen.with(|seen| {
            seen.open -= 1;
            seen.note_failure(failed);
        });
        if failed { Err(Failed) } else { Ok(()) }
    }
}
