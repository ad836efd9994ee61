//! Merge sort, with the same code for each side.

use crate::sides::Side;

/// If a piece is shorter than this length, the standard library sorts the piece.
const LEAF: usize = 1 << 13;

/// The merge sort of the textbooks: both halves are sorted at the same time, and then merged through a copy.
pub(crate) fn merge_sort<S: Side>(context: &mut S::Context<'_>, all: &mut [u32], scratch: &mut [u32]) {
    if all.len() <= LEAF {
        return all.sort_unstable();
    }
    let middle = all.len() / 2;
    let (left, right) = all.split_at_mut(middle);
    let (left_scratch, right_scratch) = scratch.split_at_mut(middle);
    S::join(
        context,
        |c| merge_sort::<S>(c, left, left_scratch),
        |c| merge_sort::<S>(c, right, right_scratch),
    );
    merge_back(all, scratch, middle);
}

#[inline(never)] // otherwise it is compiled differently for each side
fn merge_back(all: &mut [u32], scratch: &mut [u32], middle: usize) {
    scratch.copy_from_slice(all);
    let (left, right) = scratch.split_at(middle);
    let (mut l, mut r) = (0, 0);
    for place in all {
        *place = if r == right.len() || l < left.len() && left[l] <= right[r] {
            l += 1;
            left[l - 1]
        } else {
            r += 1;
            right[r - 1]
        };
    }
}

/// Merge sort with a better way to merge. The halves are written to the other array, so nothing is copied
/// back. A step of the merge has no branch that depends on the numbers, and a large merge is cut into two
/// parts.
pub(crate) fn better_merge_sort<S: Side>(context: &mut S::Context<'_>, all: &mut [u32], scratch: &mut [u32]) {
    if all.len() <= LEAF {
        return all.sort_unstable();
    }
    let middle = all.len() / 2;
    let (left, right) = all.split_at_mut(middle);
    let (left_scratch, right_scratch) = scratch.split_at_mut(middle);
    S::join(context, |c| sort_into::<S>(c, left, left_scratch), |c| sort_into::<S>(c, right, right_scratch));
    merge::<S>(context, left_scratch, right_scratch, all);
}

/// Writes the sorted numbers of `from` to `to`.
fn sort_into<S: Side>(context: &mut S::Context<'_>, from: &mut [u32], to: &mut [u32]) {
    if from.len() <= LEAF {
        to.copy_from_slice(from);
        return to.sort_unstable();
    }
    let middle = from.len() / 2;
    let (left, right) = from.split_at_mut(middle);
    let (to_left, to_right) = to.split_at_mut(middle);
    S::join(
        context,
        |c| better_merge_sort::<S>(c, left, to_left),
        |c| better_merge_sort::<S>(c, right, to_right),
    );
    merge::<S>(context, left, right, to);
}

/// A merge that is shorter than this length is not cut into parts.
const MERGE: usize = 1 << 15;

fn merge<S: Side>(context: &mut S::Context<'_>, left: &[u32], right: &[u32], to: &mut [u32]) {
    if to.len() <= MERGE {
        return merge_here(left, right, to);
    }
    let middle = to.len() / 2;
    let of_left = from_left(left, right, middle);
    let (left, later_left) = left.split_at(of_left);
    let (right, later_right) = right.split_at(middle - of_left);
    let (to, later_to) = to.split_at_mut(middle);
    S::join(
        context,
        |c| merge::<S>(c, left, right, to),
        |c| merge::<S>(c, later_left, later_right, later_to),
    );
}

/// Returns how many of the `rank` smallest numbers are in `left`.
fn from_left(left: &[u32], right: &[u32], rank: usize) -> usize {
    let (mut least, mut most) = (rank.saturating_sub(right.len()), rank.min(left.len()));
    while least < most {
        let middle = usize::midpoint(least, most);
        if left[middle] <= right[rank - middle - 1] { least = middle + 1 } else { most = middle }
    }
    least
}

/// Merges two sorted slices on this thread. Each step selects the smaller number by arithmetic, because a
/// mispredicted branch would cost more than the whole step.
#[inline(never)]
fn merge_here(left: &[u32], right: &[u32], to: &mut [u32]) {
    let (mut l, mut r) = (0, 0);
    let mut places = to.iter_mut();
    while l < left.len() && r < right.len() {
        let Some(place) = places.next() else { return };
        let (a, b) = (left[l], right[r]);
        let is_left = a <= b;
        *place = if is_left { a } else { b };
        l += usize::from(is_left);
        r += usize::from(!is_left);
    }
    for (place, &number) in places.zip(left[l..].iter().chain(&right[r..])) {
        *place = number;
    }
}
