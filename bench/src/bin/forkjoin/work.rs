//! The computations, with the same code for each side.

use std::hint::black_box;
use std::thread;

use crate::sides::{Sequential, Side};

/// Computes almost nothing, with a very large number of joins.
pub(crate) fn fibonacci<S: Side>(context: &mut S::Context<'_>, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = S::join(context, |c| fibonacci::<S>(c, n - 1), |c| fibonacci::<S>(c, n - 2));
    a + b
}

/// Returns how often [`fibonacci`] joins.
pub(crate) fn joins_of_fibonacci(n: u32) -> u64 {
    if n < 2 { 0 } else { 1 + joins_of_fibonacci(n - 1) + joins_of_fibonacci(n - 2) }
}

/// A complete binary tree with numbers at its nodes.
pub(crate) struct Node {
    number: u32,
    children: Option<(Box<Node>, Box<Node>)>,
}

impl Node {
    /// Makes the tree with 2^`levels` − 1 nodes. The function that computes the sum visits the nodes in the
    /// reverse order of their allocation.
    pub(crate) fn tree(levels: u32) -> Self {
        let children = (levels > 1).then(|| {
            let left = Box::new(Self::tree(levels - 1));
            (left, Box::new(Self::tree(levels - 1)))
        });
        Self { number: levels, children }
    }

    pub(crate) fn sum<S: Side>(&self, context: &mut S::Context<'_>) -> u64 {
        let number = u64::from(self.number);
        let Some((left, right)) = &self.children else { return number };
        let (right, left) = S::join(context, |c| right.sum::<S>(c), |c| left.sum::<S>(c));
        number + left + right
    }

    /// Computes the sum with two bare threads; two workers of a pool cannot be faster.
    pub(crate) fn sum_by_two_threads(&self) -> u64 {
        let Some((left, right)) = &self.children else { return u64::from(self.number) };
        let (left, right) = thread::scope(|scope| {
            let left = scope.spawn(|| left.sum::<Sequential>(&mut ()));
            (right.sum::<Sequential>(&mut ()), left.join().expect("it does not panic"))
        });
        u64::from(self.number) + left + right
    }
}

/// Computes `pieces` pieces of the same length; each consists of `rounds` rounds of [`spin`].
pub(crate) fn coarse<S: Side>(context: &mut S::Context<'_>, pieces: u32, rounds: u64) -> u64 {
    if pieces == 1 {
        return spin(rounds);
    }
    let half = pieces / 2;
    let (a, b) =
        S::join(context, |c| coarse::<S>(c, half, rounds), |c| coarse::<S>(c, pieces - half, rounds));
    a ^ b
}

/// One round takes as long as a few dependent multiplications.
#[inline(never)] // otherwise it is compiled differently for each side
pub(crate) fn spin(rounds: u64) -> u64 {
    (0..rounds).fold(1_u64, |x, round| black_box(x.wrapping_mul(6_364_136_223_846_793_005) ^ round))
}

/// Runs a loop of joins that are not nested; each of them computes almost nothing.
pub(crate) fn shallow<S: Side>(context: &mut S::Context<'_>, times: u64) -> u64 {
    (0..times).fold(0, |sum: u64, n| {
        let (a, b) = S::join(context, |_| black_box(n), |_| black_box(1));
        sum.wrapping_add(a ^ b)
    })
}

/// Returns numbers without a pattern; each call returns the same numbers.
pub(crate) fn numbers(count: usize) -> Vec<u32> {
    let mut x = 0x2545_f491_4f6c_dd1d_u64;
    let next = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 32) as u32
    };
    std::iter::repeat_with(next).take(count).collect()
}
