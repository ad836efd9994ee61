//! A call that makes a thread wait for a future.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::wait::{Deadline, wait};
use crate::cancel::cancelled::Cancelled;
use crate::cancel::interrupted;

/// Waits for a future on this thread, and returns its output.
///
/// Use this function to combine the handles of tasks with `async` and `await`, in a program that has no
/// asynchronous runtime. A [`TaskHandle`](crate::TaskHandle) is a future. This call has no reactor and no
/// timer, so a future that needs a reactor or a timer must run in an asynchronous runtime.
///
/// ```
/// use executor::{TaskError, ThreadPoolExecutor, block_on, prelude::*};
///
/// let pool = ThreadPoolExecutor::fixed(2);
/// let (low, high) = (pool.submit(|| 40)?, pool.submit(|| 2)?);
/// let sum = block_on(async { Ok::<_, TaskError>(low.await? + high.await?) })??;
/// assert_eq!(sum, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`struct@Cancelled`] if the task of the caller was cancelled during the wait. Then the future is dropped,
/// and [`cancel_on_drop`](crate::TaskHandle::cancel_on_drop) passes the cancellation on to the awaited tasks.
/// If the future is ready at its first poll, even a cancelled task gets the output.
///
/// # Panics
/// Panics if the future panics.
///
/// # Blocking
/// Blocks until the future is ready. This call finds no starvation: if a task waits here for a task of its
/// own pool, the waiting task keeps its thread. A task that waits for a task of its own pool must use
/// [`join`](crate::TaskHandle::join) instead of this call.
///
/// # Cancellation
/// A cancellation point, unless the future is ready.
pub fn block_on<F: Future>(future: F) -> Result<F::Output, Cancelled> {
    let mut future = pin!(future);
    let poll = |waker: &Waker| match future.as_mut().poll(&mut Context::from_waker(waker)) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    };
    wait(Deadline::NEVER, poll).map_err(|_| interrupted())
}
