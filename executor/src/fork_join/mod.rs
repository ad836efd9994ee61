//! Fork/join: computations that split themselves into pieces, and worker threads that steal pieces from each
//! other.
//!
//! A computation over a large input can often be split: the program does the same work for each half of the
//! input, and then combines the two results. Two threads can process the two halves at the same time, and
//! each half can be split again. The program does not say how many threads there are, or which thread
//! processes which half. A worker that has nothing to do *steals* a piece from another worker.
//!
//! ```
//! use executor::fork_join::join;
//!
//! fn sum(numbers: &[u64]) -> u64 {
//!     if numbers.len() <= 1000 {
//!         return numbers.iter().sum(); // small enough: splitting it would cost more than it saves
//!     }
//!     let (left, right) = numbers.split_at(numbers.len() / 2);
//!     let (left, right) = join(|| sum(left), || sum(right));
//!     left + right
//! }
//!
//! let numbers: Vec<u64> = (1..=100_000).collect();
//! assert_eq!(sum(&numbers), 5_000_050_000);
//! ```
//!
//! # Which call
//!
//! | | for |
//! |---|---|
//! | [`join()`] | two halves, which may borrow. This is the fastest call: try it first |
//! | [`scope`](crate::ExecutorExt::scope) | any number of pieces, which may borrow |
//! | [`fork()`], and [`TaskHandle::join`](crate::TaskHandle::join) | a piece whose result is wanted later, or in another place. The piece owns its data |
//! | [`par_for_each`], [`par_map`], [`par_map_reduce`] | all elements of a slice, a range, or their chunks and pairs |
//! | [`par_sort_unstable`] | sorting a slice |
//!
//! All functions of this module can be called on any thread. On a worker of a [`ForkJoinPool`] the pieces run
//! in that pool; on any other thread they run in the [common pool](ForkJoinPool::common).
//!
//! # How it works
//!
//! Each worker has a queue of its own. `join(a, b)` puts `b` into the queue of the calling worker, runs `a`,
//! takes `b` back and runs it. An idle worker, the *thief*, takes the *oldest* piece of another worker's
//! queue. The oldest piece is also the largest: in a sort, one half of the slice. So a thief is busy for a
//! long time, and steals are rare.
//!
//! ```text
//!   worker 1                         queue of worker 1      worker 2
//!   join(A, B)  runs A               B                      (idle) ── steals the oldest: B
//!     join(A1, A2)  runs A1          A2                     join(B1, B2)  runs B1
//!       join(A11, A12)  runs A11     A2 A12                   …
//!       takes A12 back, runs it      A2
//!     takes A2 back, runs it
//!   B is not there: helps worker 2 with pieces of B, or waits
//! ```
//!
//! It takes longer to put a half into a queue that other threads can see than to run a small half. So while
//! pieces are small, a worker keeps only three pieces in its queue. For its other joins, the worker only
//! calls the two closures: see [`worker_queue`] and [`demand`].
//!
//! A worker whose half was stolen waits for the thief. While the worker waits, it runs *pieces of the stolen
//! half*, and no other job. The literature calls this leapfrogging (Wagner and Calder, 1993). Blumofe and
//! Leiserson (1999) describe work stealing with one queue per worker; Frigo, Leiserson and Randall (1998)
//! describe its implementation in Cilk.
//!
//! # What is not promised
//!
//! The halves of a join run one after the other if the pool has one worker, if all other workers are busy, or
//! if the join does not offer its second half to thieves. So a half must not wait for anything that the other
//! half does, because such a wait may never end. The pieces of a scope must not wait for each other either.

mod demand; // whether a join must offer its second half
mod stack; // how much of a stack is used
mod worker_queue; // what a worker shares with thieves
mod registry; // what the workers of a pool share
mod worker; // what a worker does, and what it does while it waits
mod running; // what runs now, for a dump
mod growth; // how workers are started
mod quiescence; // waiting until a pool has nothing left to do
mod pool; // the public interface of a pool
mod builder; // the builder of a pool, and the pool for calls outside any pool
mod join; // `join`, for two halves
mod fork; // tasks with handles
mod blocking; // a worker that waits for something outside the pool
mod par; // loops
mod sort; // quicksort

pub use blocking::blocking;
pub use builder::{ForkJoinBuilder, ForkJoinConfigError};
pub use fork::{RecursiveTask, fork};
pub use join::join;
pub use par::{Chunks, Pieces, par_for_each, par_map, par_map_reduce};
pub use pool::{ForkJoinPool, ForkJoinStats, InvokeError, in_pool, surplus, worker_index};
pub use sort::par_sort_unstable;
