//! Fork/join: work that splits itself, on threads that take pieces from each other.
//!
//! A computation over a large input is often the same computation over its two halves, and something that
//! puts the results together. The halves do not depend on each other, so two threads can do them; and each
//! half has halves. The program does not say how many threads there are, or which does what: a worker that
//! has nothing to do *steals* a piece from another.
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
//! | [`join`] | two halves, which may borrow. The fastest, and the one to begin with |
//! | [`scope`](crate::ExecutorExt::scope) | any number of pieces, which may borrow |
//! | [`fork`], and [`TaskHandle::join`](crate::TaskHandle::join) | a piece whose result is wanted later, or elsewhere. It owns its data |
//! | [`par_for_each`], [`par_map`], [`par_map_reduce`] | all elements of a slice, or a range |
//! | [`par_sort_unstable`] | a slice in order |
//!
//! All of them may be called anywhere. On a worker of a [`ForkJoinPool`] they work there; on any other
//! thread, in the [common pool](ForkJoinPool::common).
//!
//! # How it works
//!
//! Each worker has a queue of its own. `join(a, b)` puts `b` there, runs `a`, and takes `b` back; so without
//! thieves it is two calls. A thief takes the *oldest* piece of another's queue, which is the largest: of a
//! sort, one half of all. So steals are rare, and a thief has work for long.
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
//! To put every second half into a queue that others can see would cost more than most halves take. So while
//! pieces are fine, a queue that has three to offer is enough, and a `join` further down is two plain calls:
//! see [`worker_queue`] and [`demand`].
//!
//! A worker that waits for a stolen half helps with *pieces of that half*, and with nothing else. The
//! literature calls it leapfrogging (Wagner and Calder, 1993). Work stealing with queues as here is described
//! by Blumofe and Leiserson (1999), and by Frigo, Leiserson and Randall (1998) as it was done in Cilk.
//!
//! # What is not promised
//!
//! That the halves of a join run at the same time. A half that waits for something which only the other half
//! brings about may wait without end: with one worker, or with others that are busy, or because the halves
//! are so small that they are not offered. The same holds for the pieces of a scope.

mod demand; // the first look of each join
mod stack; // how much of it is used
mod worker_queue; // what a worker shares with thieves
mod registry; // what the workers share
mod worker; // what a worker does, and what it does while it waits
mod growth; // where workers come from
mod quiescence; // waiting until there is nothing left to do
mod pool; // what its user sees
mod builder; // how a pool is put together
mod common; // the pool of those who have none
mod join; // two halves
mod fork; // tasks with handles
mod blocking; // a worker that waits for something else than its own work
mod par; // loops
mod sort; // quicksort

pub use blocking::blocking;
pub use builder::{ForkJoinBuilder, ForkJoinConfigError};
pub use fork::{RecursiveTask, fork};
pub use join::join;
pub use par::{Pieces, par_for_each, par_map, par_map_reduce};
pub use pool::{ForkJoinPool, ForkJoinStats, InvokeError, in_pool, surplus, worker_index};
pub use sort::par_sort_unstable;
