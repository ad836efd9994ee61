//! A handle for asynchronous callers: its drop cancels the task.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::TaskHandle;
use super::error::TaskError;

/// A handle that cancels its task when the handle is dropped: see [`TaskHandle::cancel_on_drop`].
#[must_use = "dropping it cancels the task"]
pub struct CancelOnDrop<T: Send + 'static>(Option<TaskHandle<T>>);

impl<T: Send + 'static> TaskHandle<T> {
    /// Turns this handle into a handle that cancels the task when the handle is dropped.
    ///
    /// Use it in asynchronous code. Asynchronous code gives up a future by dropping it, for example after a
    /// time-out, in a `select!`, or when a client hangs up. If a plain handle is dropped, the task continues,
    /// and this behaviour is right for threads. If this handle is dropped, the task is stopped: if it waits
    /// in a queue, it never begins; if it is running, its token is cancelled.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, block_on, prelude::*};
    /// use std::time::Duration;
    ///
    /// let pool = ThreadPoolExecutor::single();
    /// let sum = async { pool.submit(|| 6 * 7).unwrap().cancel_on_drop().await };
    /// assert_eq!(block_on(sum)??, 42);
    ///
    /// let report = pool.submit_cancellable(|token| token.sleep(Duration::from_secs(3600)))?;
    /// drop(report.cancel_on_drop()); // as a time-out would
    /// pool.close(); // does not take an hour
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    /// The drop does not wait until the task has ended. But like [`cancel`](Self::cancel), the drop runs
    /// users' code on the calling thread, and blocks until this code has ended.
    #[doc(alias = "AbortOnDropHandle")]
    pub fn cancel_on_drop(self) -> CancelOnDrop<T> {
        CancelOnDrop(Some(self))
    }
}

impl<T: Send + 'static> CancelOnDrop<T> {
    /// Returns the plain handle. If the plain handle is dropped, the task continues.
    ///
    /// ```
    /// # use executor::FutureTask;
    /// let FutureTask { task, handle } = FutureTask::new(|| 42);
    /// let handle = handle.cancel_on_drop().into_handle();
    /// task.run();
    /// assert_eq!(handle.join().unwrap(), 42);
    /// ```
    ///
    /// # Panics
    /// Never panics, because the handle exists until the drop.
    pub fn into_handle(mut self) -> TaskHandle<T> {
        self.0.take().expect("only this call and the drop take the handle")
    }
}

/// Awaits the result in the same way as a [`TaskHandle`].
impl<T: Send + 'static> Future for CancelOnDrop<T> {
    type Output = Result<T, TaskError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let handle = self.0.as_mut().expect("only `into_handle` and the drop take the handle");
        Pin::new(handle).poll(context)
    }
}

impl<T: Send + 'static> Drop for CancelOnDrop<T> {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            handle.cancel_because("its handle was dropped");
        }
    }
}

impl<T: Send + 'static> fmt::Debug for CancelOnDrop<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CancelOnDrop").field(&self.0).finish()
    }
}
