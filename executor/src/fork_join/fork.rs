//! Tasks that are forked: they own their data, and their results can be had later.

use super::common::common;
use super::worker::here;
use super::worker_queue::of_context;
use crate::cancel::Context;
use crate::executor::{Executor, RejectedExecution};
use crate::handle::{FutureTask, TaskHandle};

/// Has a task run by this pool, in which others may steal it, and returns its handle.
///
/// [`TaskHandle::join`] on a worker runs the task there if nobody has begun it. If another worker has, it
/// helps that one with the halves of its joins, and otherwise waits. So where both would do,
/// [`join`](super::join) keeps more workers busy. Join handles in the reverse order of forking: what was
/// forked last is least likely stolen.
///
/// ```
/// use executor::fork_join::{ForkJoinPool, fork};
///
/// fn leaves(depth: u32) -> u64 {
///     if depth == 0 {
///         return 1;
///     }
///     let right = fork(move || leaves(depth - 1));
///     leaves(depth - 1) + right.join().expect("it neither panics nor is cancelled")
/// }
///
/// assert_eq!(ForkJoinPool::new(2)?.invoke(|| leaves(10))?, 1024);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Outside any pool the task goes to the [common pool](super::ForkJoinPool::common). If a pool cannot take it
/// because it is stopping, it is cancelled, as the handle then says.
///
/// # Cancellation
/// The task's token is a child of the one that is current here, on a worker and anywhere else: to cancel a
/// computation cancels what it has forked. That holds for a task that was [taken back](TaskHandle::remove),
/// too. A task that is forked in a [`masked`](crate::masked) step hangs below no token of that place.
///
/// # How deep
/// A worker that joins a task which nobody has begun runs it itself, on top of the one that waits, and that
/// may join another. It does so while half of its [stack](super::ForkJoinBuilder::stack_size) is free, and
/// some 32 times more if no other worker can. Then the join ends as [starved](crate::JoinError::Starved): the
/// stack does not overflow by a chain of tasks, however long, in which each waits for the one before it. What
/// the tasks themselves put on the stack has to fit into the other half.
pub fn fork<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> TaskHandle<T> {
    let FutureTask { task, handle } = FutureTask::new(f);
    let context = Context::of_this_place();
    if let Some(here) = here() {
        here.registry.push(here.queue(), task, context);
    } else if let Err(RejectedExecution { task, .. }) = common().execute_task(of_context(task, context)) {
        task.run(); // the system has no thread to give
    }
    handle
}

/// A computation with a result that splits itself: a function with its arguments, as a type.
///
/// Closures with [`join`](super::join) are shorter. This is for those who want to give the computation a
/// name.
///
/// ```
/// use executor::fork_join::RecursiveTask;
///
/// struct Fibonacci(u32);
///
/// impl RecursiveTask for Fibonacci {
///     type Output = u64;
///
///     fn compute(self) -> u64 {
///         if self.0 < 2 {
///             return u64::from(self.0);
///         }
///         let left = Fibonacci(self.0 - 1).fork();
///         let right = Fibonacci(self.0 - 2).compute();
///         left.join().expect("it is not cancelled") + right
///     }
/// }
///
/// assert_eq!(Fibonacci(15).fork().join()?, 610);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "RecursiveAction")]
pub trait RecursiveTask: Send + Sized + 'static {
    /// What it computes.
    type Output: Send + 'static;

    /// The computation.
    fn compute(self) -> Self::Output;

    /// Has it run by this pool: see [`fork`](fork()).
    fn fork(self) -> TaskHandle<Self::Output> {
        fork(|| self.compute())
    }
}
