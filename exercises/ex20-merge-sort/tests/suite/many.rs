//! Tests with many items. These tests do not use the bench, because the bench records every comparison.

use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use exercises_harness::{expect, fail};

use super::super::exercise::{Failed, Half, Joiner, sort};
use super::{SPLIT, STABLE, joins, orders};

const AT_SIZE: &str = "a sort of eight items has to sort tens of thousands, too: an index has to be as wide as a usize, \
                       and no function may call itself for each item, since the stack is short";

/// A joiner that calls the halves one after the other, and counts the joins.
struct InTurn(AtomicUsize);

impl Joiner for InTurn {
    fn join<'a>(&self, one: Half<'a>, other: Half<'a>) -> Result<(), Failed> {
        self.0.fetch_add(1, Relaxed);
        one().and(other())
    }
}

/// Checks that a sort puts items with the given keys into order. Returns the number of joins that the sort
/// took.
fn sorts(keys: &[u32], threshold: usize) -> usize {
    let (joiner, what) =
        (InTurn(AtomicUsize::new(0)), format!("{} items, a threshold of {threshold}", keys.len()));
    let mut items: Vec<&u32> = keys.iter().collect(); // equal items can be told apart by their addresses
    let result = expect("sort()", AT_SIZE, || sort(&mut items, threshold, &joiner));
    let mut sorted = keys.to_vec();
    sorted.sort_unstable();
    let place = items.iter().zip(&sorted).position(|(item, key)| *item != key);
    if result != Ok(()) || place.is_some() {
        let seen =
            format!("{what}: sort() returned {result:?}, and the first item in the wrong place: {place:?}");
        fail(&seen, AT_SIZE);
    }
    if items.windows(2).any(|pair| pair[0] == pair[1] && ptr::from_ref(pair[0]) >= ptr::from_ref(pair[1])) {
        fail(&format!("{what}: equal items have changed places"), STABLE);
    }
    joiner.0.load(Relaxed)
}

pub fn many_items_are_sorted() {
    if !exercises_harness::first_run!() {
        return; // each run would do the same
    }
    for (items, threshold) in [(70_000, 1000), (101, 1), (3000, usize::MAX)] {
        for keys in orders(items) {
            let (joined, expected) = (sorts(&keys, threshold), joins(items, threshold));
            if keys.is_sorted_by(|one, next| one > next) && joined != expected {
                let seen =
                    format!("{items} items, a threshold of {threshold}, and calls of join(): {joined}");
                fail(&format!("{seen}; expected: {expected}"), SPLIT);
            }
        }
        let few_keys: Vec<u32> = (0..).take(items).map(|number: u32| u32::MAX - number % 3).collect();
        sorts(&few_keys, threshold);
        sorts(&vec![0; items], threshold);
    }
}
