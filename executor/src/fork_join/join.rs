//! Two halves of one piece of work.

use super::common::common;
use super::demand;
use super::worker::{WorkerThread, here};
use super::worker_queue::QueuedJob;
use crate::cancel::Context;
use crate::task::borrowed;

/// Calls both closures, perhaps at the same time on two threads, and returns both results.
///
/// `a` is called on this thread. `b` is offered to other workers while it runs, and called on this thread if
/// no other has taken it. Both may borrow, from each other's surroundings, too: two halves of a slice, for
/// instance.
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
/// One that finds enough offered already costs about a nanosecond more than two calls. So a recursion may use
/// it down to small pieces; but not to single elements, where the calls themselves are the cost.
///
/// # Panics
/// If one of them does, with its payload. If it is `a`, then `b` is not called any more, if no thread has
/// begun it; otherwise this waits for its end. If both panic, it is `a`'s payload, and `b`'s goes to the
/// [panic handler](crate::panics).
///
/// # Blocking
/// Blocks until both have ended. While another thread has `b`, this one runs pieces of it. Outside any pool
/// it blocks until the [common pool](super::ForkJoinPool::common) has done both.
///
/// # Cancellation
/// No cancellation point: it always has both results. The current token is the same in both closures, so a
/// computation that looks at [`CancelToken::current`](crate::CancelToken::current) now and then, or blocks in
/// this crate, ends soon.
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

/// The same where a thief may want the second half.
#[cold]
#[inline(never)]
fn join_openly<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    match here() {
        Some(here) => join_here(&here, a, b),
        None => common().run_or_call(|| join(a, b)),
    }
}

fn join_here<A, B, RA, RB>(here: &WorkerThread, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB + Send,
    RB: Send,
{
    let publish = |b| {
        let job_id = here.queue().push(QueuedJob::Half(b), Context::of_this_place());
        here.registry.announce();
        job_id
    };
    let (of_a, of_b) = borrowed::lend(b, publish, a, |&job_id, unwinding| here.settle(job_id, unwinding));
    match of_b.expect("it is dropped only if `a` unwinds") {
        Ok(of_b) => (of_a, of_b),
        Err(panic) => panic.resume(),
    }
}
