//! Parallel sorting: a quicksort in which several workers share the partitions and the sorts of the halves.
//!
//! A partition by a pivot makes two sides; then the two halves of a [`join`] sort these sides. With joins
//! alone, one worker would partition the whole slice, and only two workers would do the next two partitions.
//! So several workers also share a long partition: they partition each half of the slice by the same pivot.
//! Then the elements that are in the wrong half are exchanged.
//!
//! ```text
//!   left half            right half
//!   ├ less ┤├ not less ┤├ less ┤├ not less ┤
//!            └──── change places ────┘
//! ```
//!
//! Short pieces are sorted by the standard library, because few sorts on one thread are faster. If the pivots
//! of a piece were bad too often, the standard library sorts that piece, too. So even with bad pivots, the
//! time of the whole sort grows like the time of the standard sort.
//!
//! Quicksort is by Hoare (1961). The partition method is Lomuto's, in a form without a branch that depends on
//! the elements: a mispredicted branch takes longer than an unnecessary exchange.

use super::join::join;
use super::par::threads;

/// A piece up to this length is sorted on one thread.
const LEAF: usize = 1 << 14;
/// A long slice is cut into this number of pieces for each worker, so that all workers are busy until the
/// end.
const PIECES: usize = 8;
/// A piece up to this length is partitioned on one thread.
const PARTITION: usize = 1 << 17;
/// The number of elements whose median is the pivot.
const SAMPLE: usize = 255;

/// Sorts a slice, on the workers of the current pool or of the common pool. Equal elements may change places.
///
/// ```
/// use executor::fork_join::par_sort_unstable;
///
/// let mut words = ["quick", "sort", "by", "halves"];
/// par_sort_unstable(&mut words);
/// assert_eq!(words, ["by", "halves", "quick", "sort"]);
/// ```
///
/// # Panics
/// Panics if a comparison panics, or if the sort notices that `Ord` defines no order (for example `a < b` and
/// `b < a`). After a panic, the order of the elements is not specified, but no element is lost.
///
/// # Blocking
/// Blocks until the slice is sorted. A cancellation does not end the sort.
#[doc(alias = "parallelSort")]
pub fn par_sort_unstable<T: Ord + Send + Sync>(slice: &mut [T]) {
    // For elements in random order, the depth of the recursion is about twice the logarithm of the length. A
    // depth of twice that value is a sign of bad pivots.
    let depth = 4 * slice.len().max(1).ilog2();
    let leaf = LEAF.max(slice.len() / (PIECES * threads()));
    sort(slice, leaf, depth);
}

fn sort<T: Ord + Send + Sync>(slice: &mut [T], leaf: usize, depth: u32) {
    if slice.len() <= leaf || depth == 0 {
        return slice.sort_unstable();
    }
    let pivot = median_of_sample(slice);
    slice.swap(0, pivot);
    let (pivot, rest) = slice.split_first_mut().expect("it is longer than a leaf");
    let less = partition(rest, &|element| *element < *pivot);
    let is_lopsided = less < rest.len() / 8;
    if is_lopsided {
        // Many elements may equal the pivot. When these elements are next to the pivot, they need not be
        // sorted further.
        let equal = partition(&mut rest[less..], &|element| *element <= *pivot);
        let (below, above) = (less, less + equal);
        slice.swap(0, below);
        let (left, right) = slice.split_at_mut(above + 1);
        join(|| sort(&mut left[..below], leaf, depth - 1), || sort(right, leaf, depth - 1));
    } else {
        slice.swap(0, less);
        let (left, right) = slice.split_at_mut(less);
        join(|| sort(left, leaf, depth - 1), || sort(&mut right[1..], leaf, depth - 1));
    }
}

/// Returns the index of the median of a sample of elements at equal distances.
fn median_of_sample<T: Ord>(slice: &[T]) -> usize {
    let step = slice.len() / SAMPLE;
    let mut places: [usize; SAMPLE] = std::array::from_fn(|n| n * step);
    *places.select_nth_unstable_by(SAMPLE / 2, |&a, &b| slice[a].cmp(&slice[b])).1
}

/// Moves to the front the elements for which `is_first` returns true. Returns the number of elements that are
/// now in front.
fn partition<T: Send>(slice: &mut [T], is_first: &(impl Fn(&T) -> bool + Sync)) -> usize {
    if slice.len() <= PARTITION {
        return partition_here(slice, is_first);
    }
    let middle = slice.len() / 2;
    let (left, right) = slice.split_at_mut(middle);
    let (of_left, of_right) = join(|| partition(left, is_first), || partition(right, is_first));
    let (late, early) = (&mut left[of_left..], &mut right[..of_right]);
    let wrong = late.len().min(early.len());
    exchange(&mut late[..wrong], &mut early[of_right - wrong..]);
    of_left + of_right
}

fn exchange<T: Send>(left: &mut [T], right: &mut [T]) {
    if left.len() <= PARTITION {
        return left.swap_with_slice(right);
    }
    let middle = left.len() / 2;
    let ((left, later_left), (right, later_right)) = (left.split_at_mut(middle), right.split_at_mut(middle));
    join(|| exchange(left, right), || exchange(later_left, later_right));
}

fn partition_here<T>(slice: &mut [T], is_first: &impl Fn(&T) -> bool) -> usize {
    let mut first = 0;
    for place in 0..slice.len() {
        // `is_first` is called before the exchange, so that the processor need not wait for the exchange.
        let is_one = is_first(&slice[place]);
        slice.swap(first, place);
        first += usize::from(is_one);
    }
    first
}
