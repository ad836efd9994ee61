//! The properties of a merge sort; each property is a function. `exercise.toml` lists the properties and says
//! what each one promises.

use exercises_harness::{fail, live_threads};

use super::exercise::Failed;
use crate::probe::Counter;
use crate::sync::{Arc, thread};

mod bench;
mod many;

pub use many::*;

use bench::{Bench, Calls, How, Outcome};

const ORDER: &str = "a part is sorted when both of its halves are, and when they were merged: the merge always takes the \
                     smaller one of the two items that are first in their halves";
const LAST: &str = "the right half ends where the part ends. The last item is left out if a bound is the index of the \
                    last item in one place, and the number of items in another";
const ONCE: &str = "a merge takes each item of both halves once: after it has taken an item, it goes on to the next item \
                    of that half only; when one half is used up, it takes the rest of the other; and equal items are \
                    items like any others";
const STABLE: &str = "equal items keep their order: of two equal items the merge takes that of the left half first, and a \
                      part that is not split is sorted by a stable sort, such as slice::sort()";
const NO_END: &str = "a part is split that must not be split, or a half is as long as its part. One item is sorted, \
                      whatever the threshold says; so is an empty part";
const SPOT: &str = "a part whose length is at most the threshold is sorted on the spot: a join costs more there than \
                    it gains";
const SPLIT: &str = "each part with more items than the threshold is split once, in the middle, and both halves are given \
                     to the joiner: if short parts are cut off at one end, there is one join inside the other for each of \
                     them, and they wait for each other";
const AT_ONCE: &str = "give both halves to one call of join(), sort each in its closure, and hold no lock meanwhile that \
                       the other half needs: work that is done before the call or after it, or under a lock, is done one \
                       after the other";
const ANYWHERE: &str =
    "the joiner may call the halves in any order and on any thread, so neither may need what the other does";
const OWN: &str = "a half compares its own items and no others: perhaps the other half is not sorted yet. So no half \
                   sorts the whole part, and the merge comes after join() has returned";
const THREADS: &str = "which threads there are is the joiner's affair: sort on the thread that calls sort(), or in the \
                       closures that the joiner calls";
const ONE_PASS: &str = "the halves are sorted, so a merge of n items needs fewer than n comparisons, each of the two \
                        items that are first: do not look for the place of each item from one end, and do not sort again \
                        what is sorted";
const TOLD: &str = "an error of join() says that a half is not sorted, and then the part is not sorted, either: return the error (`?` \
     does)";
const DEEP: &str = "the closure of a half must return the result of its sort(): the joiner learns of a failure further \
                    down only by that";
const NO_MERGE: &str = "one half is not sorted, so there is nothing to merge: return the error at once";
const KEEP: &str = "any comparison may panic, and then the items stay as they are at that moment. So merge into a Vec of \
                    its own, and copy it back in one go when it is complete. Where a part is sorted on the spot, hold no \
                    item aside while you compare";
const PANIC_TOLD: &str = "a comparison has panicked, so the items are not sorted: let the panic go through, or return the error, but \
                          do not return Ok";

/// Returns the given number of different keys in several orders.
fn orders(items: usize) -> Vec<Vec<u32>> {
    let ascending: Vec<u32> = (0..).take(items).collect();
    let descending: Vec<u32> = ascending.iter().rev().copied().collect();
    let (mut rotated, mut zigzag) = (ascending.clone(), ascending.clone());
    rotated.rotate_left(items.min(1));
    zigzag.sort_by_key(|key| (key % 2, *key));
    let mut back = rotated.clone();
    back.reverse();
    vec![ascending, descending, rotated, zigzag, back]
}

fn descending(items: u32) -> Vec<u32> {
    (0..items).rev().collect()
}

/// Checks that the sort has kept each item exactly once.
fn check_complete(keys: &[u32], outcome: &Outcome, when: &str, cause: &str) {
    let mut numbers: Vec<usize> = outcome.items.iter().map(|item| item.number).collect();
    numbers.sort_unstable();
    if numbers.iter().copied().ne(0..keys.len()) {
        let left: Vec<u32> = outcome.items.iter().map(|item| item.key).collect();
        fail(
            &format!("{when} the items {keys:?} have become {left:?}: some are missing, others there twice"),
            cause,
        );
    }
}

/// Checks that the items are sorted.
fn check(keys: &[u32], threshold: usize, outcome: &Outcome, cause: &str) {
    let when = format!("with a threshold of {threshold},");
    match outcome.result {
        Some(Ok(())) => {}
        Some(Err(Failed)) => {
            fail(&format!("{when} sort() of {keys:?} returned an error, though nothing had failed"), cause)
        }
        None => fail(&format!("{when} sort() of {keys:?} panicked"), cause),
    }
    check_complete(keys, outcome, &when, ONCE);
    let sorted: Vec<u32> = outcome.items.iter().map(|item| item.key).collect();
    if sorted.is_sorted() {
        return;
    }
    let all_but_last = sorted[..sorted.len() - 1].is_sorted() && sorted.last() == keys.last();
    let cause = if all_but_last { LAST } else { cause };
    fail(&format!("{when} sort() made {sorted:?} of {keys:?}"), cause);
}

fn sorts(how: How, keys: &[u32], threshold: usize, cause: &str) {
    let (outcome, _) = Bench::new(how).sort(keys, threshold, cause);
    check(keys, threshold, &outcome, cause);
}

pub fn the_items_come_out_in_order() {
    for keys in (0..8).flat_map(orders) {
        for threshold in 2..4 {
            sorts(How::InTurn, &keys, threshold, ORDER);
        }
    }
    sorts(How::InTurn, &[5, 1, 5, 5, 1, 3, 1, 5], 2, ORDER);
}

pub fn equal_items_keep_their_order() {
    let many: Vec<u32> = (0..40).map(|number| number * 7 % 3).collect();
    for (keys, threshold) in [(&[1; 6][..], 1), (&[2, 1, 2, 1, 2, 1, 2, 1], 2), (&many, 5), (&many, 64)] {
        let (outcome, _) = Bench::new(How::InTurn).sort(keys, threshold, ORDER);
        check(keys, threshold, &outcome, ORDER);
        for pair in outcome.items.windows(2) {
            let [one, next] = pair else { continue };
            if one.key == next.key && one.number > next.number {
                let seen = format!(
                    "two items with the key {} were at {} and {} and have changed places; threshold: {threshold}, items: {}",
                    one.key,
                    next.number,
                    one.number,
                    keys.len()
                );
                fail(&seen, STABLE);
            }
        }
    }
}

pub fn any_threshold_will_do() {
    for threshold in [0, 1, 2, 3, usize::MAX] {
        for keys in (0..5).map(descending) {
            sorts(How::InTurn, &keys, threshold, NO_END);
        }
    }
}

pub fn a_part_up_to_the_threshold_is_not_split() {
    for (items, threshold) in [(0, 1), (1, 1), (2, 2), (3, 4), (4, 4), (6, usize::MAX)] {
        let (_, bench) = Bench::new(How::InTurn).sort(&descending(items), threshold, NO_END);
        let joins = bench.seen.with(|seen| seen.joins);
        if joins > 0 {
            let seen = format!("{items} items, a threshold of {threshold}, and calls of join(): {joins}");
            fail(&seen, SPOT);
        }
    }
}

pub fn a_half_compares_its_own_items_only() {
    let (_, bench) = Bench::new(How::InTurn).sort(&descending(8), 2, OWN);
    let shared = bench.seen.with(|seen| seen.shared.clone());
    if !shared.is_empty() {
        fail(&format!("both halves of a part have compared the items that were at {shared:?}"), OWN);
    }
}

pub fn halves_may_run_anywhere_and_in_any_order() {
    for keys in orders(7) {
        sorts(How::OtherFirst, &keys, 2, ANYWHERE);
    }
    sorts(How::AtOnce, &descending(4), 2, ANYWHERE);
}

/// Returns the number of joins that a sort of the given number of items takes.
fn joins(items: usize, threshold: usize) -> usize {
    if items <= threshold.max(1) {
        return 0;
    }
    1 + joins(items / 2, threshold) + joins(items - items / 2, threshold)
}

pub fn a_longer_part_is_split_in_the_middle() {
    for (items, threshold) in [(5, 4), (8, 2), (11, 1), (5, 0), (13, 3)] {
        let (keys, what) = (descending(items), format!("{items} items, a threshold of {threshold}"));
        let (outcome, bench) = Bench::new(How::InTurn).sort(&keys, threshold, NO_END);
        check(&keys, threshold, &outcome, ORDER);
        let (splits, seen) = bench.seen.with(|seen| (seen.splits.clone(), seen.joins));
        let whole = splits.last().map_or(0, |(one, other)| one + other);
        if seen > 0 && whole < keys.len() {
            fail(&format!("{what}: the halves of the last join() have compared {whole} items"), AT_ONCE);
        }
        if let Some((one, other)) = splits.iter().find(|(one, other)| one.abs_diff(*other) > 1) {
            fail(&format!("{what}: of two halves one has {one} items, and the other {other}"), SPLIT);
        }
        let expected = joins(keys.len(), threshold);
        if seen != expected {
            fail(&format!("{what}: calls of join(): {seen}, and it should be {expected}"), SPLIT);
        }
    }
}

pub fn both_halves_can_run_at_once() {
    let keys = descending(4);
    let (outcome, bench) = Bench::where_they_meet().sort(&keys, 2, AT_ONCE);
    let began = bench.meet.as_ref().map_or(0, Counter::get);
    if began < 2 {
        fail(
            &format!(
                "4 items, a threshold of 2: the number of halves that compare items in join() is {began}"
            ),
            AT_ONCE,
        );
    }
    check(&keys, 2, &outcome, AT_ONCE);
}

pub fn only_the_joiner_has_threads() {
    let (_, bench) = Bench::new(How::InTurn).sort(&descending(8), 2, THREADS);
    let threads = bench.seen.with(|seen| seen.threads.clone());
    let others = threads.iter().filter(|thread| **thread != thread::current().id()).count();
    if others > 0 || live_threads() > 0 {
        let seen = format!(
            "the joiner has started no thread, but items were compared on other threads; their number: {others}"
        );
        fail(&seen, THREADS);
    }
}

pub fn a_merge_is_one_pass() {
    const HALF: usize = 64;
    let (low, high) = (0..64, 64..128);
    let rotated: Vec<u32> = high.clone().chain(low.clone()).collect();
    let zigzag: Vec<u32> = (0..128).step_by(2).chain((1..128).step_by(2)).collect();
    for keys in [rotated, zigzag] {
        let sorted = comparisons(&keys[..HALF], HALF) + comparisons(&keys[HALF..], HALF);
        let merged = comparisons(&keys, HALF).saturating_sub(sorted);
        if merged > 8 * HALF {
            let all = 2 * HALF;
            fail(
                &format!("the merge of two sorted halves with {all} items took {merged} comparisons"),
                ONE_PASS,
            );
        }
    }
}

fn comparisons(keys: &[u32], threshold: usize) -> usize {
    let (_, bench) = Bench::new(How::InTurn).sort(keys, threshold, NO_END);
    bench.seen.with(|seen| seen.comparisons)
}

/// The joins for 8 items with a threshold of 2: one join of all the items, and one join of each half.
const DEEPER: [usize; 2] = [2, 3];

const WAYS: [Calls; 3] = [Calls::Both, Calls::One, Calls::None];

fn failed(join: usize, calls: Calls) -> (Outcome, Arc<Bench>) {
    Bench::that_fails(join, calls).sort(&descending(8), 2, TOLD)
}

/// Checks that a sort has returned an error or has panicked.
fn check_told(outcome: &Outcome, what: &str, cause: &str) {
    match outcome.result {
        Some(Err(Failed)) => {}
        Some(Ok(())) => fail(&format!("{what} gave an error, and sort() gave Ok"), cause),
        None => fail(&format!("{what} gave an error, and sort() panicked"), cause),
    }
}

pub fn an_error_of_join_is_told() {
    for calls in WAYS {
        let (outcome, _) = failed(1, calls);
        check_told(&outcome, &format!("join() (which called: {calls:?})"), TOLD);
    }
}

pub fn a_failure_further_down_is_told() {
    for join in DEEPER {
        for calls in WAYS {
            let (outcome, bench) = failed(join, calls);
            check_told(&outcome, "the join() of a half", DEEP);
            if bench.seen.with(|seen| seen.hidden) {
                fail("the closure of a half returned Ok, though a join() in it had returned an error", DEEP);
            }
        }
    }
}

pub fn after_an_error_nothing_is_compared() {
    for join in [1, 2, 3] {
        for calls in WAYS {
            let (_, bench) = failed(join, calls);
            if bench.seen.with(|seen| seen.went_on) {
                fail(
                    "a join() has returned an error, and after that items of this part were compared",
                    NO_MERGE,
                );
            }
        }
    }
}

pub fn a_failure_loses_no_item() {
    for join in [1, 2, 3] {
        for calls in WAYS {
            let (outcome, _) = failed(join, calls);
            check_complete(&descending(8), &outcome, "after an error of join()", KEEP);
        }
    }
    let keys = [3, 5, 0, 4, 2, 1];
    // With the second of the two thresholds, no part is split.
    for threshold in [2, keys.len()] {
        for comparison in 1.. {
            let (outcome, bench) = Bench::that_panics(comparison).sort(&keys, threshold, KEEP);
            check_complete(&keys, &outcome, "after a comparison has panicked", KEEP);
            if bench.seen.with(|seen| seen.comparisons) < comparison {
                break;
            }
        }
    }
}

pub fn a_panic_is_told() {
    for comparison in 1.. {
        let (outcome, bench) = Bench::that_panics(comparison).sort(&[3, 5, 0, 4, 2, 1], 2, PANIC_TOLD);
        if bench.seen.with(|seen| seen.comparisons) < comparison {
            break;
        }
        if outcome.result == Some(Ok(())) {
            fail(&format!("comparison {comparison} has panicked, and sort() gave Ok"), PANIC_TOLD);
        }
    }
}
