//! The parallel sort.

use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use executor::fork_join::par_sort_unstable;

use super::pool;
use crate::support::within_deadline;

/// A list length that is large enough for several workers to do the first partitions.
const LONG_ONE: usize = 140_000;

/// Returns numbers without a pattern, from 0 to `most`.
fn random(length: usize, most: u64) -> Vec<u64> {
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    let next = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 16) % (most + 1)
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[test]
fn it_sorts_whatever_the_standard_library_sorts() {
    within_deadline(|| {
        let pool = pool(3);
        for length in [0, 1, 2, 3, 100, 16_385, LONG_ONE] {
            let up: Vec<u64> = (0..length as u64).collect();
            let down: Vec<u64> = up.iter().rev().copied().collect();
            let organ_pipes: Vec<u64> = up.iter().map(|&n| n.min(length as u64 - n)).collect();
            let equal = vec![7; length];
            let mostly_equal = random(length, 90).into_iter().map(|n| n.max(80)).collect();
            let any = random(length, u64::MAX >> 16);
            let inputs = [any, random(length, 3), up, down, organ_pipes, equal, mostly_equal];
            for mut numbers in inputs {
                let mut expected = numbers.clone();
                expected.sort_unstable();
                pool.invoke(|| par_sort_unstable(&mut numbers)).unwrap();
                assert!(numbers == expected, "{length} numbers");
            }
        }
    });
}

#[test]
fn elements_without_a_size_and_those_that_own_something_are_sorted() {
    within_deadline(|| {
        par_sort_unstable(&mut [(); LONG_ONE]);
        let mut words: Vec<String> = random(LONG_ONE, 99_999).iter().map(ToString::to_string).collect();
        let mut expected = words.clone();
        expected.sort_unstable();
        par_sort_unstable(&mut words); // runs in the common pool
        assert!(words == expected);
    });
}

/// A value that is compared by its number, and that panics at a chosen comparison.
struct Panics<'a> {
    number: u64,
    left: &'a AtomicUsize,
}

impl Ord for Panics<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.left.fetch_sub(1, Relaxed) == 0 {
            resume_unwind(Box::new("no more comparisons")); // without a backtrace, which would take a second
        }
        self.number.cmp(&other.number)
    }
}

impl PartialOrd for Panics<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Panics<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Panics<'_> {}

#[test]
fn after_a_comparison_that_panics_every_element_is_still_there() {
    within_deadline(|| {
        let numbers = random(LONG_ONE, u64::MAX >> 16);
        let mut expected = numbers.clone();
        expected.sort_unstable();
        for comparisons in [0, 300, 100_000, 1_000_000] {
            let left = AtomicUsize::new(comparisons);
            let mut elements: Vec<_> = numbers.iter().map(|&number| Panics { number, left: &left }).collect();
            let sorted =
                catch_unwind(AssertUnwindSafe(|| pool(2).invoke(|| par_sort_unstable(&mut elements))));
            assert!(sorted.is_err(), "after {comparisons} comparisons");
            let mut kept: Vec<_> = elements.iter().map(|element| element.number).collect();
            kept.sort_unstable();
            assert!(kept == expected, "after {comparisons} comparisons");
        }
    });
}

/// A value that claims to be less than every other value; if two such values are compared, each of them
/// claims to be less.
#[derive(PartialEq, Eq, Clone, Copy)]
struct NoOrder(u64);

impl Ord for NoOrder {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Less
    }
}

impl PartialOrd for NoOrder {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[test]
fn an_order_that_is_none_ends_the_sort_and_loses_nothing() {
    within_deadline(|| {
        // For each small piece, the standard library's sort may panic when it notices that the order is
        // wrong.
        let mut elements: Vec<_> = (0..40_000).map(NoOrder).collect();
        let _ = catch_unwind(AssertUnwindSafe(|| par_sort_unstable(&mut elements)));
        let mut kept: Vec<_> = elements.iter().map(|element| element.0).collect();
        kept.sort_unstable();
        assert!(kept.into_iter().eq(0..40_000));
    });
}
