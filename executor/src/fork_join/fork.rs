//! Forked tasks: they own their data, and their handles give the results later.

use super::pool::ForkJoinPool;
use super::worker::here;
use super::worker_queue::of_context;
use crate::cancel::Context;
use crate::executor::{Executor, RejectedExecution};
use crate::handle::{FutureTask, TaskHandle};

/// Forks a task: offers the task to the workers of the current pool, and returns the handle of the task.
///
/// A worker that calls [`TaskHandle::join`] runs the task itself if no worker has begun the task. If a thief
/// has begun the task, the worker runs second halves of the joins in that task; while there is no second
/// half, the worker waits. Prefer [`join`](super::join()) where you can use it: a `join` keeps more workers
/// busy than a `fork`. Join handles in the reverse order of forking: the task that was forked last is the
/// least likely to be stolen.
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
/// Outside any pool the task goes to the [common pool](super::ForkJoinPool::common). If the pool is stopping,
/// the task is cancelled, and its handle reports the cancellation.
///
/// # Cancellation
/// The task's token is a child of the token that is current at the call, no matter which thread makes the
/// call. So a cancelled computation also cancels the tasks that it has forked, including a task that was
/// [taken back](TaskHandle::remove). A task that is forked in a [`masked`](crate::masked) step is the
/// exception: its token is not a child of the current token.
///
/// # How deep
/// If a worker joins a task that no worker has begun, the worker runs this task on top of the task that
/// waits. The joined task may join a third task, which then runs on top of the joined task, and so on. The
/// worker runs joined tasks while at least half of its [stack](super::ForkJoinBuilder::stack_size) is free.
/// When less than half of the stack is free, the worker runs up to about 32 more tasks, if no other worker
/// can run them. After these tasks, the next join ends as [starved](crate::JoinError::Starved). So even a
/// very long chain of tasks that wait for each other does not overflow the stack, if the last 32 tasks fit
/// into half of the stack.
pub fn fork<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> TaskHandle<T> {
    let FutureTask { task, handle } = FutureTask::new(f);
    let context = Context::of_this_place();
    if let Some(here) = here() {
        here.registry.push(&here.queue, task, context);
    } else if let Err(RejectedExecution { task, .. }) =
        ForkJoinPool::common().execute_task(of_context(task, context))
    {
        task.run(); // the system has refused to start a thread
    }
    handle
}

/// A computation that splits itself and returns a result. A type that implements this trait holds the
/// arguments of the computation.
///
/// Closures with [`join`](super::join()) are shorter to write, but this trait gives a computation a
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
#[doc(alias = "ForkJoinTask")]
pub trait RecursiveTask: Send + Sized + 'static {
    /// The result of the computation.
    type Output: Send + 'static;

    /// Computes the result.
    ///
    /// ```
    /// # use executor::fork_join::RecursiveTask;
    /// /// Counts the leaves of a tree of this depth.
    /// struct Leaves(u32);
    ///
    /// impl RecursiveTask for Leaves {
    ///     type Output = u64;
    ///
    ///     fn compute(self) -> u64 {
    ///         if self.0 == 0 {
    ///             return 1;
    ///         }
    ///         let right = Leaves(self.0 - 1).fork();
    ///         Leaves(self.0 - 1).compute() + right.join().expect("it is not cancelled")
    ///     }
    /// }
    ///
    /// assert_eq!(Leaves(5).compute(), 32); // the outermost call runs on this thread
    /// ```
    fn compute(self) -> Self::Output;

    /// Forks the computation: see [`fork`](fork()).
    ///
    /// ```
    /// # use executor::fork_join::RecursiveTask;
    /// struct Square(u64);
    ///
    /// impl RecursiveTask for Square {
    ///     type Output = u64;
    ///
    ///     fn compute(self) -> u64 {
    ///         self.0 * self.0
    ///     }
    /// }
    ///
    /// let (a, b) = (Square(3).fork(), Square(4).fork());
    /// assert_eq!(b.join()? + a.join()?, 25);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn fork(self) -> TaskHandle<Self::Output> {
        fork(|| self.compute())
    }
}
