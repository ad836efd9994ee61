//! Tests of loops over all elements of a slice or a range.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use executor::fork_join::{Pieces, par_for_each, par_map, par_map_reduce, worker_index};

use super::pool;
use crate::support::within_deadline;

#[test]
fn each_element_is_seen_once_and_results_come_in_order() {
    within_deadline(|| {
        for threads in [1, 2, 4] {
            for length in [0, 1, 2, 3, 7, 64, 1000] {
                pool(threads)
                    .invoke(|| {
                        let seen: Vec<_> = (0..length).map(|_| AtomicUsize::new(0)).collect();
                        par_for_each(0..length, |n| _ = seen[n].fetch_add(1, Ordering::Relaxed));
                        assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
                        let squares = par_map(0..length, |n| n * n);
                        assert_eq!(squares, (0..length).map(|n| n * n).collect::<Vec<_>>());
                        let text = par_map_reduce(&squares[..], ToString::to_string, |a, b| a + "," + &b);
                        let expected: Vec<_> = squares.iter().map(ToString::to_string).collect();
                        assert_eq!(text.unwrap_or_default(), expected.join(","));
                    })
                    .unwrap();
            }
        }
    });
}

#[test]
fn elements_of_a_slice_can_be_changed() {
    let mut numbers: Vec<u32> = (0..1000).collect();
    pool(2).invoke(|| par_for_each(&mut numbers[..], |n| *n += 1)).unwrap();
    assert_eq!(numbers, (1..=1000).collect::<Vec<_>>());
}

#[test]
fn a_range_that_is_empty_or_reaches_to_the_end_of_its_type_is_cut_right() {
    #[expect(clippy::reversed_empty_ranges)]
    let none = par_map(5..3, |n| n);
    assert!(none.is_empty());
    let last = usize::MAX;
    assert_eq!(par_map_reduce(last - 10..last, |n| n, usize::max), Some(last - 1));
}

#[test]
fn a_panic_in_a_loop_is_passed_on() {
    let pool = pool(2);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        pool.invoke(|| par_for_each(0..1000, |n| assert!(n != 700, "element 700")))
    }));
    assert!(panicked.unwrap_err().downcast_ref() == Some(&"element 700"));
    assert_eq!(pool.invoke(|| par_map_reduce(0..10, |n| n, |a, b| a + b)).unwrap(), Some(45));
}

/// Two pieces of the loop wait for each other.
#[test]
fn with_two_workers_two_pieces_of_a_loop_run_at_the_same_time() {
    within_deadline(|| {
        let both = Barrier::new(2);
        let pool = pool(2);
        pool.invoke(|| par_for_each(0..2, |_| _ = both.wait())).unwrap();
        let on = pool.invoke(|| {
            par_map(0..2, |_| {
                both.wait();
                worker_index()
            })
        });
        assert_eq!(on.unwrap().into_iter().flatten().collect::<BTreeSet<_>>().len(), 2);
    });
}

fn compare_with_the_standard_library() {
    for (length, chunk) in [(0, 1), (1, 1), (7, 1), (7, 3), (64, 8), (65, 8), (10, 100), (1000, usize::MAX)] {
        let numbers: Vec<usize> = (0..length).collect();
        let chunks = par_map(numbers.chunks_of(chunk), <[usize]>::to_vec);
        assert_eq!(chunks, numbers.chunks(chunk).map(<[usize]>::to_vec).collect::<Vec<_>>());
        let ranges = par_map((0..length).chunks_of(chunk), |range| range);
        assert_eq!(ranges.into_iter().flatten().collect::<Vec<_>>(), numbers);

        let mut rows = numbers.clone();
        par_for_each(rows.as_mut_slice().chunks_of(chunk).enumerated(), |(number, row)| row.fill(number));
        assert_eq!(rows, numbers.iter().map(|n| n / chunk).collect::<Vec<_>>());

        let pairs = par_map((&numbers[..], 5..length.max(5)), |(a, b)| (*a, b));
        assert_eq!(pairs, numbers.iter().copied().zip(5..length.max(5)).collect::<Vec<_>>());
        let in_chunks = (&numbers[..], &rows[..]).chunks_of(chunk);
        let products = |(left, right): (&[usize], &[usize])| left.iter().zip(right).map(|(a, b)| a * b).sum();
        let sums: Vec<usize> = par_map(in_chunks, products);
        let whole: usize = numbers.iter().zip(&rows).map(|(a, b)| a * b).sum();
        assert_eq!(sums.into_iter().sum::<usize>(), whole);
    }
}

#[test]
fn chunks_and_pairs_are_those_of_the_standard_library() {
    within_deadline(|| {
        for threads in [1, 4] {
            pool(threads).invoke(compare_with_the_standard_library).unwrap();
        }
    });
}

#[test]
#[should_panic(expected = "parts of no elements")]
fn chunks_of_nothing_are_a_mistake() {
    let _ = (0..3).chunks_of(0);
}
