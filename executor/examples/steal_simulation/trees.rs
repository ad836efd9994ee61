//! The trees of the course's tables.

use super::tree::{Piece, Tree};

const MICROS: u64 = 1_000;

/// Returns each tree with its name.
pub fn all() -> [(&'static str, Tree); 4] {
    [
        ("coarse: 1,024 leaves of 100 µs", balanced(10, 100 * MICROS)),
        ("fine: 65,536 leaves of 50 ns", balanced(16, 50)),
        ("skewed: fibonacci(18), leaves of 10 µs", fibonacci(18)),
        ("merge sort: 2 ns for each element that is merged", merge_sort(1 << 20)),
    ]
}

/// Returns several trees; the work of each tree takes a tenth of a second. The system may put a woken worker
/// on a busy core, and may need some milliseconds to move the worker to another core; a simulation cannot
/// show this delay.
pub fn to_check() -> [(&'static str, Tree); 4] {
    [
        ("256 leaves of 400 µs", balanced(8, 400 * MICROS)),
        ("65,536 leaves of 2 µs", balanced(16, 2 * MICROS)),
        ("fibonacci(20), 10 µs", fibonacci(20)),
        ("merge sort of 2,097,152", merge_sort(1 << 21)),
    ]
}

/// A tree in which each half is divided again, down to the depth `depth`.
pub fn balanced(depth: u32, leaf: u64) -> Tree {
    Tree::grow(depth, &|depth| match depth {
        0 => Piece::Leaf(leaf),
        _ => Piece::Join { before: 0, halves: [depth - 1; 2], after: 0 },
    })
}

/// A tree in which each first half is larger than the second half.
fn fibonacci(n: u64) -> Tree {
    Tree::grow(n, &|n| match n {
        0 | 1 => Piece::Leaf(10 * MICROS),
        _ => Piece::Join { before: 0, halves: [n - 1, n - 2], after: 0 },
    })
}

/// A tree in which one worker merges everything after the join of the largest halves.
fn merge_sort(elements: u64) -> Tree {
    Tree::grow(elements, &|elements| match elements {
        ..=1_024 => Piece::Leaf(20 * elements),
        _ => Piece::Join { before: 0, halves: [elements / 2; 2], after: 2 * elements },
    })
}

/// A tree over a range, for the pictures. The pieces of this tree take between one and four times as long as
/// the shortest piece.
pub fn uneven() -> Tree {
    Tree::grow(1..9_u64, &|range| match range.end - range.start {
        1 => Piece::Leaf((4 + range.start * 5 % 13) * MICROS),
        length => {
            let middle = range.start + length / 2;
            Piece::Join {
                before: 0,
                halves: [range.start..middle, middle..range.end],
                after: length * MICROS / 2,
            }
        }
    })
}
