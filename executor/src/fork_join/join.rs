//! Joins: a join calls two closures, the halves of a piece of work, perhaps at the same time.

use super::demand;
use super::pool::ForkJoinPool;
use super::worker::{WorkerThread, here};
use super::worker_queue::QueuedJob;
use crate::cancel::Context;
use crate::task::borrowed;

/// Calls both closures, perhaps at the same time on two threads, and returns both results.
///
/// `a` is called on this thread. Meanwhile `b` is offered to other workers. If no worker has taken `b` when
/// `a` has ended, this thread calls `b`. Both closures may borrow, even from the same value: for example, two
/// halves of a slice.
///
/// ```
/// use executor::fork_join::join;
///
/// let mut numbers = vec![4, 1, 3, 2];
/// let (low, high) = numbers.split_at_mut(2);
/// join(|| low.sort_unstable(), || high.sort_unstable());
/// assert_eq!(numbers, [1, 4, 2, 3]);
/// ```
///
/// If this worker's queue already offers enough pieces to other workers, a join takes about a nanosecond
/// longer than two calls. So a recursion may use joins down to small pieces. The recursion should not use
/// joins down to single elements, because the calls themselves then take most of the time. In a loop of joins
/// that each take less than 400 ns, most joins call both closures on this thread, because the hand-over of a
/// closure would take longer.
///
/// # Panics
/// If one of the closures panics, the call panics with the payload of that closure. If `a` panics and no
/// thread has begun `b`, then `b` is never called. If a thread has begun `b`, the call waits until `b` has
/// ended. If `a` and `b` both panic, the call panics with the payload of `a`, and the payload of `b` goes to
/// the [panic handler](crate::panics).
///
/// # Blocking
/// Blocks until both closures have ended. While another thread runs `b`, this thread runs pieces of `b`.
/// Outside any pool the call blocks until the [common pool](super::ForkJoinPool::common) has run both
/// closures.
///
/// # Cancellation
/// A join is not a cancellation point: it always returns both results. Both closures have the caller's
/// current token. A computation ends soon after a cancellation if it checks
/// [`CancelToken::current`](crate::CancelToken::current) now and then, or blocks in this crate.
#[doc(alias = "CountedCompleter")]
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    if demand::is_shut() {
        return (a(), b());
    }
    join_openly(a, b)
}

/// Calls both closures of a join, and offers the second closure to thieves unless the thread works alone.
#[cold]
#[inline(never)]
fn join_openly<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    if demand::counts_alone() {
        return (a(), b());
    }
    match here() {
        Some(_) if demand::stays_alone() => (a(), b()),
        Some(here) => join_here(&here, a, b),
        None => ForkJoinPool::common().run_or_call(|| join(a, b)),
    }
}

fn join_here<A, B, RA, RB>(here: &WorkerThread, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB + Send,
    RB: Send,
{
    let publish = |b| {
        let job_id = here.queue.push(QueuedJob::Half(b), Context::of_this_place());
        here.registry.announce();
        job_id
    };
    let (of_a, of_b) = borrowed::lend(b, publish, a, |&job_id, unwinding| here.settle(job_id, unwinding));
    match of_b.expect("it is dropped only if `a` unwinds") {
        Ok(of_b) => (of_a, of_b),
        Err(panic) => panic.resume(),
    }
}
