//! Parallel loops over slices and ranges, and over their chunks and pairs.
//!
//! # How far
//!
//! At first, a loop is split into as many pieces as there are workers. While no worker is idle, more pieces
//! only cost time. A worker that *steals* a piece was idle before. So this worker splits the stolen piece
//! again, into as many pieces as there are workers. Thus the loop has smaller pieces in the parts of the
//! input where elements take longer. (The idea comes from rayon's adaptive splitting.)

use std::ops::Range;

use super::join;
use super::pool::{ForkJoinPool, worker_index};

/// The input of a parallel loop, which can be cut into two parts: a slice, a range of whole numbers, a pair
/// of inputs, or the [chunks](Self::chunks_of) of an input.
///
/// A pair of inputs has pairs of elements: the first elements of both inputs, then the second elements, and
/// so on, up to the end of the shorter input.
///
/// ```
/// use executor::fork_join::{Pieces, par_for_each, par_map};
///
/// let (left, mut right) = ([1, 2, 3], [10, 20, 30]);
/// par_for_each((&left[..], &mut right[..]), |(left, right)| *right += left);
/// assert_eq!(right, [11, 22, 33]);
///
/// let mut picture = [0; 6];
/// par_for_each(picture.as_mut_slice().chunks_of(3).enumerated(), |(y, row)| row.fill(y));
/// assert_eq!(picture, [0, 0, 0, 1, 1, 1]);
/// assert_eq!(par_map(picture.chunks_of(4), |part: &[usize]| part.len()), [4, 2]);
/// ```
///
/// A method call on a slice borrows the slice. To change the elements of a slice, call the method on
/// `slice.as_mut_slice()`, or on `&mut slice[..]` in parentheses.
pub trait Pieces: Cut {
    /// Splits this input into parts of `length` elements each. The last part can be shorter. A loop over the
    /// parts gets each part as an input of the same type: the parts of a slice are slices.
    ///
    /// # Panics
    /// Panics if `length` is zero.
    fn chunks_of(self, length: usize) -> Chunks<Self> {
        assert!(length > 0, "parts of no elements never come to an end");
        Chunks { pieces: self, chunk: length }
    }

    /// Returns this input with its elements numbered from zero: a pair of a range and this input.
    fn enumerated(self) -> (Range<usize>, Self) {
        (0..self.length(), self)
    }
}

mod sealed {
    pub trait Cut: Send + Sized {
        type Element;
        fn length(&self) -> usize;
        fn cut_at(self, middle: usize) -> (Self, Self);
        fn elements(self) -> impl Iterator<Item = Self::Element>;
    }
}
use sealed::Cut;

impl<T: Sync> Pieces for &[T] {}
impl<'a, T: Sync> Cut for &'a [T] {
    type Element = &'a T;

    fn length(&self) -> usize {
        self.len()
    }

    fn cut_at(self, middle: usize) -> (Self, Self) {
        self.split_at(middle)
    }

    fn elements(self) -> impl Iterator<Item = &'a T> {
        self.iter()
    }
}

impl<T: Send> Pieces for &mut [T] {}
impl<'a, T: Send> Cut for &'a mut [T] {
    type Element = &'a mut T;

    fn length(&self) -> usize {
        self.len()
    }

    fn cut_at(self, middle: usize) -> (Self, Self) {
        self.split_at_mut(middle)
    }

    fn elements(self) -> impl Iterator<Item = &'a mut T> {
        self.iter_mut()
    }
}

impl Pieces for Range<usize> {}
impl Cut for Range<usize> {
    type Element = usize;

    fn length(&self) -> usize {
        self.len()
    }

    fn cut_at(self, middle: usize) -> (Self, Self) {
        let middle = self.start + middle;
        (self.start..middle, middle..self.end)
    }

    fn elements(self) -> impl Iterator<Item = usize> {
        self
    }
}

/// The parts of an input, all of the same length: see [`Pieces::chunks_of`].
#[derive(Debug, Clone)]
pub struct Chunks<P> {
    pieces: P,
    chunk: usize,
}

impl<P: Pieces> Pieces for Chunks<P> {}
impl<P: Pieces> Cut for Chunks<P> {
    type Element = P;

    fn length(&self) -> usize {
        self.pieces.length().div_ceil(self.chunk)
    }

    fn cut_at(self, middle: usize) -> (Self, Self) {
        let elements = middle.saturating_mul(self.chunk).min(self.pieces.length());
        let (left, right) = self.pieces.cut_at(elements);
        (Self { pieces: left, chunk: self.chunk }, Self { pieces: right, chunk: self.chunk })
    }

    fn elements(self) -> impl Iterator<Item = P> {
        let mut rest = Some(self.pieces);
        std::iter::from_fn(move || {
            let pieces = rest.take().filter(|rest| rest.length() > 0)?;
            let length = self.chunk.min(pieces.length());
            let (next, others) = pieces.cut_at(length);
            rest = Some(others);
            Some(next)
        })
    }
}

impl<A: Pieces, B: Pieces> Pieces for (A, B) {}
impl<A: Pieces, B: Pieces> Cut for (A, B) {
    type Element = (A::Element, B::Element);

    fn length(&self) -> usize {
        self.0.length().min(self.1.length())
    }

    fn cut_at(self, middle: usize) -> (Self, Self) {
        let ((left, right), (other_left, other_right)) = (self.0.cut_at(middle), self.1.cut_at(middle));
        ((left, other_left), (right, other_right))
    }

    fn elements(self) -> impl Iterator<Item = Self::Element> {
        self.0.elements().zip(self.1.elements())
    }
}

/// Calls `f` with each element, on the workers of the current pool. Outside any pool the call uses the common
/// pool.
///
/// ```
/// use executor::fork_join::par_for_each;
///
/// let mut pixels = vec![100_u8; 10_000];
/// par_for_each(&mut pixels[..], |pixel| *pixel = pixel.saturating_add(200));
/// assert!(pixels.iter().all(|&pixel| pixel == 255));
/// ```
///
/// # Panics
/// Panics if `f` panics. After a panic, it is possible that `f` was not called with some of the elements.
///
/// # Blocking
/// Blocks until `f` has returned for each element.
pub fn par_for_each<P: Pieces>(pieces: P, f: impl Fn(P::Element) + Sync) {
    split(pieces, Splits::begin(), &|piece: P| piece.elements().for_each(&f), &|(), ()| ());
}

/// Calls `f` with each element and returns the results, in order.
///
/// ```
/// use executor::fork_join::par_map;
///
/// let words = ["fork", "join"];
/// assert_eq!(par_map(&words[..], |word| word.len()), [4, 4]);
/// assert_eq!(par_map(0..5, |n| n * n), [0, 1, 4, 9, 16]);
/// ```
///
/// # Panics
/// Panics if `f` panics.
///
/// # Blocking
/// Blocks until `f` has returned for each element.
pub fn par_map<P: Pieces, R: Send>(pieces: P, f: impl Fn(P::Element) -> R + Sync) -> Vec<R> {
    let length = pieces.length();
    let leaf = |piece: P| vec![piece.elements().map(&f).collect::<Vec<R>>()];
    let parts = split(pieces, Splits::begin(), &leaf, &|mut left: Vec<Vec<R>>, mut right| {
        left.append(&mut right);
        left
    });
    let mut all = Vec::with_capacity(length);
    for part in parts {
        all.extend(part);
    }
    all
}

/// Calls `map` with each element, and combines the results with `reduce`, in order. Returns `None` if there
/// are no elements.
///
/// `reduce` must be associative. The results are combined in the order of the elements, but it is not
/// specified which neighbouring results are combined first.
///
/// ```
/// use executor::fork_join::par_map_reduce;
///
/// let words = ["divide", "and", "conquer"];
/// assert_eq!(par_map_reduce(&words[..], |word| word.len(), |a, b| a + b), Some(16));
/// assert_eq!(par_map_reduce(0..0, |n| n, usize::max), None);
/// ```
///
/// # Panics
/// Panics if `map` or `reduce` panics.
///
/// # Blocking
/// Blocks until all results are combined.
pub fn par_map_reduce<P: Pieces, R: Send>(
    pieces: P,
    map: impl Fn(P::Element) -> R + Sync,
    reduce: impl Fn(R, R) -> R + Sync,
) -> Option<R> {
    let leaf = |piece: P| piece.elements().map(&map).reduce(&reduce);
    split(pieces, Splits::begin(), &leaf, &|left, right| match (left, right) {
        (Some(left), Some(right)) => Some(reduce(left, right)),
        (left, right) => left.or(right),
    })
}

/// The state of a piece: the number of pieces into which it must still be cut, and the worker that has cut
/// it.
#[derive(Clone, Copy)]
struct Splits {
    left: usize,
    by: Option<usize>,
}

impl Splits {
    fn begin() -> Self {
        Self { left: threads(), by: worker_index() }
    }

    /// Returns the state of a piece after one more cut; returns `None` if the piece must not be cut
    /// again.
    fn one_more(self) -> Option<Self> {
        let by = worker_index();
        let left = if by == self.by { self.left / 2 } else { threads().max(self.left / 2) };
        (left > 0).then_some(Self { left, by })
    }
}

/// Returns the number of workers that can take part in a loop. Spare threads do not count.
pub(super) fn threads() -> usize {
    super::worker::here()
        .map_or_else(|| ForkJoinPool::common().threads(), |here| here.registry.settings.threads)
}

fn split<P: Cut, R: Send>(
    pieces: P,
    splits: Splits,
    leaf: &(impl Fn(P) -> R + Sync),
    together: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let length = pieces.length();
    let splits = if length > 1 { splits.one_more() } else { None };
    let Some(splits) = splits else { return leaf(pieces) };
    let (left, right) = pieces.cut_at(length / 2);
    let (left, right) = join(|| split(left, splits, leaf, together), || split(right, splits, leaf, together));
    together(left, right)
}
