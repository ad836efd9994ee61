//! Checks the problems of `examples/divide_and_conquer` and the sorts of `examples/merge_sort`. Their results
//! must equal the results that one thread computes, for inputs of every kind, on pools of several sizes.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use executor::CancelToken;
use executor::fork_join::ForkJoinPool;

use crate::support::within_deadline;

#[path = "../../examples/merge_sort/fork_join.rs"]
// The modules are written like modules of a library, and this test needs only some of their items.
#[allow(unreachable_pub, dead_code)]
mod fork_join;
#[path = "../../examples/merge_sort/input.rs"]
#[allow(unreachable_pub, dead_code)]
mod input;
#[path = "../../examples/merge_sort/merge.rs"]
#[allow(unreachable_pub)]
mod merge;

#[path = "../../examples/divide_and_conquer/find.rs"]
#[allow(unreachable_pub)]
mod find;
#[path = "../../examples/divide_and_conquer/hull.rs"]
#[allow(unreachable_pub)]
mod hull;
#[path = "../../examples/divide_and_conquer/matrix.rs"]
#[allow(unreachable_pub)]
mod matrix;
#[path = "../../examples/divide_and_conquer/one_thread.rs"]
#[allow(unreachable_pub)]
mod one_thread;
#[path = "../../examples/divide_and_conquer/quicksort.rs"]
#[allow(unreachable_pub)]
mod quicksort;
#[path = "../../examples/divide_and_conquer/tree.rs"]
#[allow(unreachable_pub)]
mod tree;

use hull::Point;

/// Runs a check on pools of several sizes.
fn on_pools(check: impl Fn() + Sync + Send + 'static) {
    within_deadline(move || {
        for threads in [1, 2, 5] {
            ForkJoinPool::new(threads).unwrap().invoke(&check).unwrap();
        }
    });
}

/// Returns lists of all lengths: empty, short, as long as a piece, and longer. The elements are random, or
/// random with many equal elements, or all equal, or sorted, or in reverse order.
fn lists() -> Vec<Vec<u32>> {
    let lengths = [0, 1, 2, 3, 499, 500, 501, 999, 1000, 1001, 4000, 5077];
    let of_length = |length: usize| {
        let numbers = |most| input::numbers(length as u64, length, most);
        let mut sorted = numbers(1 << 20);
        sorted.sort_unstable();
        let reversed = sorted.iter().rev().copied().collect();
        [numbers(1 << 20), numbers(3), vec![7; length], sorted, reversed]
    };
    lengths.into_iter().flat_map(of_length).collect()
}

#[test]
fn every_sort_sorts_every_kind_of_list() {
    on_pools(|| {
        for list in lists() {
            let mut sorted = list.clone();
            sorted.sort_unstable();
            for sort in [quicksort::sort, fork_join::sort] {
                let mut ours = list.clone();
                sort(&mut ours);
                assert!(ours == sorted, "{} numbers, beginning {:?}", list.len(), list.first());
            }
        }
    });
}

#[test]
fn what_is_in_a_list_is_found_and_nothing_else() {
    on_pools(|| {
        for list in lists() {
            for wanted in list.iter().step_by(777).chain(list.last()) {
                let place = find::find(&list, wanted).expect("it is there");
                assert_eq!(list[place], *wanted);
            }
            assert_eq!(find::find(&list, &u32::MAX), None);
        }
    });
}

/// A number that counts how often it is compared.
struct Counted<'a>(u32, &'a AtomicUsize);

impl PartialEq for Counted<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.1.fetch_add(1, Relaxed);
        self.0 == other.0
    }
}

/// If there is only one worker, the worker begins the other halves only after it has found the element in the
/// first piece.
#[test]
fn the_other_halves_learn_that_it_was_found() {
    within_deadline(|| {
        let looked_at = AtomicUsize::new(0);
        let items: Vec<_> = (0..20_000).map(|n| Counted(n, &looked_at)).collect();
        let pool = ForkJoinPool::new(1).unwrap();
        assert_eq!(pool.invoke(|| find::find(&items, &Counted(2, &looked_at))).unwrap(), Some(2));
        assert_eq!(looked_at.load(Relaxed), 3);
    });
}

#[test]
fn what_is_in_a_tree_is_found_and_nothing_else() {
    within_deadline(|| {
        for threads in [1, 2, 5] {
            let pool = ForkJoinPool::new(threads).unwrap();
            let root = tree::of_depth(7, 1);
            for wanted in 0..130 {
                let found = tree::find(&pool, &root, wanted).unwrap().map(|node| node.value);
                assert_eq!(found, (1..128).contains(&wanted).then_some(wanted));
            }
        }
    });
}

#[test]
fn a_search_that_is_called_off_does_not_say_that_there_is_nothing() {
    within_deadline(|| {
        let pool = ForkJoinPool::new(2).unwrap();
        let root = tree::of_depth(5, 1);
        let called_off = CancelToken::new();
        called_off.cancel();
        let _attached = called_off.attached();
        assert!(tree::find(&pool, &root, 0).is_err());
    });
}

#[test]
fn products_of_every_shape_are_as_by_one_thread() {
    on_pools(|| {
        for (rows, inner, width) in
            [(0, 3, 2), (1, 1, 1), (2, 3, 5), (16, 4, 1), (17, 1, 3), (33, 7, 2), (100, 5, 9)]
        {
            let a = input::numbers(rows as u64, rows * inner, u32::MAX >> 4);
            let b = input::numbers(width as u64, inner * width, u32::MAX >> 4);
            let product = matrix::multiply(&a, &b, inner, width);
            assert_eq!(product.len(), rows * width);
            assert_eq!(product, one_thread::multiply(&a, &b, inner, width), "{rows}, {inner}, {width}");
        }
    });
}

#[test]
fn the_hull_of_points_on_one_line_has_two_corners_at_most() {
    on_pools(|| {
        assert_eq!(hull::hull(&[]), []);
        assert_eq!(hull::hull(&[(3, 4); 5]), [(3, 4)]);
        for (dx, dy) in [(0, 1), (1, 0), (1, 1), (2, -3), (-1, -1)] {
            let line: Vec<Point> = [4, 0, 9, 2, 2, 7].iter().map(|n| (n * dx, n * dy)).collect();
            let mut corners = hull::hull(&line);
            corners.sort_unstable();
            let mut ends = [(0, 0), (9 * dx, 9 * dy)];
            ends.sort_unstable();
            assert_eq!(corners, ends);
        }
    });
}

/// There are only a few different coordinates, so many points are equal or lie on one straight line.
#[test]
fn hulls_are_as_by_one_thread() {
    on_pools(|| {
        for (seed, most) in (0..40_u8).flat_map(|seed| [(seed, 3), (seed, 9), (seed, 1000)]) {
            let points = hull::points(&input::numbers(seed.into(), 2 * (usize::from(seed) + 1), most));
            assert_eq!(hull::hull(&points), one_thread::hull(&points), "seed {seed}, up to {most}");
        }
        let parabola: Vec<Point> = (-200..200).map(|x| (x, x * x)).collect();
        assert_eq!(hull::hull(&parabola).len(), parabola.len(), "each is a corner");
        assert_eq!(hull::hull(&parabola), one_thread::hull(&parabola));
    });
}
