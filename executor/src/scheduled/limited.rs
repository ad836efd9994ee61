//! Tasks with a time limit, as methods of the pool. [`FutureTask::timeout`] implements the limit.

use super::ScheduledThreadPoolExecutor;
use super::rule::later;
use crate::cancel::CancelToken;
use crate::cancel::reason::{CancelKind, CancelReason};
use crate::executor::{ExecutorExt, RejectedSubmission};
use crate::handle::{FutureTask, IntoFutureTask, Promise, TaskHandle};
use crate::panics::contain;
use crate::sync::{Arc, Duration, Instant};

impl ScheduledThreadPoolExecutor {
    /// Submits a task with a time limit: if the task has not ended after `timeout`, it is cancelled. The limit
    /// includes the task's wait for a thread.
    ///
    /// ```
    /// use executor::{FutureTask, JoinError, ScheduledThreadPoolExecutor};
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let sleeps = FutureTask::cancellable(|token| token.sleep(Duration::from_secs(3600)));
    /// let sleeps = pool.submit_with_timeout(Duration::from_millis(5), sleeps)?;
    /// assert!(matches!(sleeps.join(), Err(JoinError::Cancelled(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`RejectedSubmission`] if the executor was shut down. The error gives the task back, and the time
    /// limit still applies to that task.
    #[doc(alias = "orTimeout")]
    pub fn submit_with_timeout<T: Send + 'static>(
        &self,
        timeout: Duration,
        task: impl IntoFutureTask<T>,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        self.submit(task.into().timeout(timeout))
    }

    /// Submits a task whose handle gets a substitute result if the task takes too long. If `body` has not ended
    /// after `timeout`, `instead` is called. The handle gets the return value or the panic of `instead`, and the
    /// task is cancelled.
    ///
    /// A thread of the process's timer calls `instead`.
    ///
    /// ```
    /// use executor::{CancelToken, ScheduledThreadPoolExecutor};
    /// use std::time::Duration;
    ///
    /// let pool = ScheduledThreadPoolExecutor::new(1);
    /// let load = || CancelToken::current().sleep(Duration::from_secs(3600)).map_or("nothing", |()| "advertisement");
    /// let banner = pool.submit_with_timeout_or(Duration::from_millis(5), load, || "stand-in")?;
    /// assert_eq!(banner.join()?, "stand-in");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`submit_with_timeout`](Self::submit_with_timeout).
    #[doc(alias = "completeOnTimeout")]
    pub fn submit_with_timeout_or<T: Send + 'static>(
        &self,
        timeout: Duration,
        body: impl FnOnce() -> T + Send + 'static,
        instead: impl FnOnce() -> T + Send + 'static,
    ) -> Result<TaskHandle<T>, RejectedSubmission<T>> {
        let (promise, handle) = Promise::new();
        let promise = Arc::new(promise);
        let (of_the_limit, asked) = (Arc::clone(&promise), promise.token());
        let inner = FutureTask::new(move || {
            let token = CancelToken::linked([&CancelToken::current(), &asked]);
            keep(&promise, || token.attach(body));
        });
        let canceller = inner.handle.canceller();
        canceller.will_be_called();
        let give_up = move || {
            keep(&of_the_limit, instead); // before the cancel, because the cancel would complete the handle
            canceller.cancel_because(CancelReason::of(CancelKind::Deadline));
        };
        let task = FutureTask { task: inner.task, handle };
        self.submit(task.limited(later(Instant::now(), timeout), give_up))
    }
}

/// Completes a promise with the return value or the panic of `f`, unless the promise was completed before.
fn keep<T: Send + 'static>(promise: &Promise<T>, f: impl FnOnce() -> T) {
    match contain(f) {
        Ok(value) => drop(promise.complete(value)),
        Err(panic) => {
            let payload = panic.take_payload().expect("no other code has seen the panic");
            if promise.panic_with(payload).is_ok() {
                panic.mark_read(); // the handle has the panic now
            }
        }
    }
}
