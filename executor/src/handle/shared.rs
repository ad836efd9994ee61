//! Shared handles: several readers can get the result of one task.
//!
//! A [`TaskHandle`] has room for one listener, and its result can be taken once. A shared handle uses a relay
//! as this listener. When the task has ended, the relay stores the result in an [`Arc`], where every
//! [`SharedHandle`] finds it. Then the relay wakes the waiters and calls the callbacks.
//!
//! # Invariants
//!
//! 1. If there is no result yet, every handle that waits is in the list of waiters, because one lock protects
//!    result and waiters.
//! 2. First the waiters (threads and asynchronous tasks) are woken, in the order in which they began to wait.
//!    Then the callbacks are called, in the order in which they were registered. So a waiter never waits for
//!    a callback to end.
//! 3. Each waiter has at most one waker in the list. Each wait has one numbered place for its waker, and each
//!    handle that is polled has one place, too. The waiter's next waker replaces the previous waker at this
//!    place. The place becomes free when the wait ends or the handle is dropped.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::error::{SharedJoinError, TaskError};
use super::listener::{Broadcast, ResultCallback, TaskResult, mark_read, wake};
use super::{Canceller, TaskHandle, debug_handle};
use crate::cancel::call_outside;
use crate::cancel::callbacks;
use crate::cancel::reason::CancelReason;
use crate::ids::TaskId;
use crate::panics::{contain, discard};
use crate::sync::{Arc, Duration, Mutex};
use crate::task::TaskState;
use crate::waiting::awaited::Awaited;
use crate::waiting::error::WaitError;
use crate::waiting::wait::{Deadline, wait_for};

impl<T: Send + Sync + 'static> TaskHandle<T> {
    /// Turns the handle into a shared handle, which can be cloned and joined several times. Each join returns
    /// an [`Arc`] of the same value.
    ///
    /// ```
    /// # use executor::{ThreadPoolExecutor, prelude::*};
    /// # let pool = ThreadPoolExecutor::single();
    /// let page = pool.submit(|| "<html>".to_owned())?.shared();
    /// assert_eq!(page.join()?.len(), 6);
    /// assert_eq!(page.clone().join()?.len(), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Panics if the handle was polled as a [`Future`] before and has given its result.
    pub fn shared(mut self) -> SharedHandle<T> {
        self.released = true;
        let canceller = self.canceller();
        let cell = Arc::new(SharedCell {
            state: Mutex::new(SharedState {
                result: None,
                wakers: BTreeMap::new(),
                callbacks: Vec::new(),
                places: 0,
            }),
            drop_result: callbacks::drop_value,
        });
        self.cell.relay_when_done(Arc::clone(&cell) as Arc<dyn Broadcast<T>>);
        SharedHandle { cell, canceller, polled: None }
    }
}

/// A handle for several waiters, made by [`TaskHandle::shared`].
///
/// Threads can join a shared handle, and asynchronous tasks can await it. Only one asynchronous task at a
/// time can await the same clone. After a clone has returned the result, it can be joined or awaited again.
///
/// ```
/// use executor::{ThreadPoolExecutor, prelude::*};
///
/// let pool = ThreadPoolExecutor::single();
/// let page = pool.submit(|| "<html>".to_owned())?.shared();
/// let readers = [page.clone(), page].map(|page| std::thread::spawn(move || page.join().map(|text| text.len())));
/// for reader in readers {
///     assert_eq!(reader.join().unwrap()?, 6);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SharedHandle<T> {
    cell: Arc<SharedCell<T>>,
    canceller: Canceller,
    /// The place in the list of waiters that holds the waker from this handle's last poll.
    polled: Option<u64>,
}

struct SharedCell<T> {
    state: Mutex<SharedState<T>>,
    /// The function that drops the result; the result can be the last owner of another cell. The function is
    /// a field, because the `Drop` of this type cannot require that `T` is `Send`.
    drop_result: fn(TaskResult<Arc<T>>),
}

struct SharedState<T> {
    result: Option<TaskResult<Arc<T>>>,
    /// The wakers of the waiters. The keys are the places. Each new place has a higher number, so the waiters
    /// are in the order in which they were added.
    wakers: BTreeMap<u64, Waker>,
    callbacks: Vec<ResultCallback<Arc<T>>>, // in the order in which they came
    /// The number of places that this list has given out.
    places: u64,
}

impl<T> SharedState<T> {
    fn new_place(&mut self) -> u64 {
        self.places += 1;
        self.places
    }
}

// ANCHOR: complete
impl<T: Send + Sync + 'static> Broadcast<T> for SharedCell<T> {
    fn publish(&self, result: TaskResult<T>) {
        let wakers = {
            let mut state = self.state.lock();
            state.result = Some(result.map(Arc::new)); // unread until a handle gives it out
            std::mem::take(&mut state.wakers)
        };
        wakers.into_values().for_each(wake);
    }

    fn call_back(&self) {
        let callbacks = std::mem::take(&mut self.state.lock().callbacks);
        for callback in callbacks {
            // A callback that panics must not prevent the calls of the other callbacks.
            discard(contain(|| callback(self.result().expect("it was published before"))));
        }
    }
}
// ANCHOR_END: complete

impl<T> SharedCell<T> {
    fn result(&self) -> Option<TaskResult<Arc<T>>> {
        let result = self.state.lock().result.clone();
        result.inspect(mark_read)
    }

    /// Returns the result. If there is no result yet, leaves the waker at `place` in the list of waiters. The
    /// first call sets `place`.
    fn look(&self, place: &mut Option<u64>, waker: &Waker) -> Option<TaskResult<Arc<T>>> {
        if let Some(result) = self.result() {
            return Some(result);
        }
        let waker = waker.clone(); // this may run user code, so no lock is held
        let mut state = self.state.lock();
        if let Some(result) = state.result.clone() {
            drop(state);
            return Some(result).inspect(mark_read);
        }
        let place = *place.get_or_insert_with(|| state.new_place());
        let replaced = state.wakers.insert(place, waker);
        drop(state);
        discard(replaced);
        None
    }

    fn leave(&self, place: u64) {
        let left = self.state.lock().wakers.remove(&place);
        discard(left);
    }
}

impl<T: Send + Sync + 'static> SharedCell<T> {
    fn call_when_done(&self, callback: ResultCallback<Arc<T>>) {
        let mut state = self.state.lock();
        let Some(result) = state.result.clone() else {
            state.callbacks.push(callback);
            return;
        };
        drop(state);
        mark_read(&result);
        call_outside(|| callback(result));
    }
}

impl<T> Drop for SharedCell<T> {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        let result = state.result.take();
        let (wakers, callbacks) = (std::mem::take(&mut state.wakers), std::mem::take(&mut state.callbacks));
        drop(state);
        result.into_iter().for_each(self.drop_result);
        wakers.into_values().for_each(discard);
        callbacks.into_iter().for_each(discard);
    }
}

impl<T: Send + Sync + 'static> SharedHandle<T> {
    /// Waits for the task and returns its result. All handles of the task share this result.
    ///
    /// ```
    /// # use executor::{ThreadPoolExecutor, prelude::*};
    /// # let pool = ThreadPoolExecutor::single();
    /// let page = pool.submit(|| "<html>".to_owned())?.shared();
    /// assert_eq!(*page.join()?, "<html>");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`TaskHandle::join`]. The errors give no handle back, because the caller keeps its
    /// handle.
    ///
    /// # Blocking
    /// Blocks as [`TaskHandle::join`] does.
    #[doc(alias = "get")]
    pub fn join(&self) -> Result<Arc<T>, SharedJoinError> {
        self.join_until(Deadline::NEVER)
    }

    /// Waits until the task has ended, for `timeout` at most, and returns its result.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// use executor::SharedJoinError;
    /// use std::time::Duration;
    ///
    /// let answer = handle.shared();
    /// assert_eq!(answer.join_timeout(Duration::from_millis(1)), Err(SharedJoinError::TimedOut));
    /// task.run();
    /// assert_eq!(*answer.join_timeout(Duration::from_secs(1))?, 42);
    /// # Ok::<(), SharedJoinError>(())
    /// ```
    ///
    /// # Errors
    /// [`SharedJoinError::TimedOut`] if the task is not finished in time; the other errors are those of
    /// [`join`](Self::join).
    ///
    /// # Blocking
    /// Blocks as [`TaskHandle::join_timeout`] does.
    #[doc(alias = "get")]
    pub fn join_timeout(&self, timeout: Duration) -> Result<Arc<T>, SharedJoinError> {
        self.join_until(Deadline::after(timeout))
    }

    fn join_until(&self, deadline: Deadline) -> Result<Arc<T>, SharedJoinError> {
        let mut place = None;
        let look = |waker: &Waker| self.cell.look(&mut place, waker);
        let Canceller { cell, name } = &self.canceller;
        let what = || Some(Awaited::Task(Arc::clone(cell), name.clone()));
        let result = wait_for(deadline, (look, what));
        if let (Err(_), Some(place)) = (&result, place) {
            self.cell.leave(place);
        }
        match result {
            Ok(result) => result.map_err(SharedJoinError::from),
            Err(WaitError::Interrupted) => Err(SharedJoinError::Interrupted),
            Err(WaitError::TimedOut) => Err(SharedJoinError::TimedOut),
            Err(WaitError::Starved(starvation)) => Err(SharedJoinError::Starved(starvation)),
        }
    }

    /// Returns the result, or `None` if the task is not finished. Never blocks.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// let answer = handle.shared();
    /// assert!(answer.try_join().is_none());
    /// task.run();
    /// assert_eq!(*answer.try_join().unwrap()?, 42);
    /// # Ok::<(), executor::TaskError>(())
    /// ```
    ///
    /// # Errors
    /// [`TaskError`] tells how the task ended without a result.
    #[doc(alias = "resultNow")]
    #[doc(alias = "exceptionNow")]
    #[doc(alias = "getNow")]
    pub fn try_join(&self) -> Option<Result<Arc<T>, TaskError>> {
        self.cell.result()
    }

    /// Registers a callback for the result. The thread that finishes (or cancels) the task calls the
    /// callback. If the task is already finished, the calling thread calls the callback at once.
    ///
    /// A handle and its clones can have several callbacks. After the waiters have been woken, the callbacks
    /// are called one after the other, in the order in which they were registered. If one callback panics,
    /// the other callbacks are still called. In all other respects, the rules of [`TaskHandle::on_done`]
    /// apply.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use executor::{ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::single();
    /// let page = pool.submit(|| "<html>".to_owned())?.shared();
    /// let (tell, told) = mpsc::channel();
    /// for reader in ["cache", "log"] {
    ///     let tell = tell.clone();
    ///     page.on_done(move |page| tell.send((reader, page.unwrap().len())).unwrap());
    /// }
    /// assert_eq!(told.recv()?, ("cache", 6));
    /// assert_eq!(told.recv()?, ("log", 6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "whenComplete")]
    pub fn on_done(&self, callback: impl FnOnce(Result<Arc<T>, TaskError>) + Send + 'static) {
        self.cell.call_when_done(Box::new(callback));
    }

    /// Cancels the task for all of its handles, as [`TaskHandle::cancel`] does.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// let answer = handle.shared();
    /// let other_reader = answer.clone();
    /// assert!(answer.cancel());
    /// assert!(other_reader.join().is_err());
    /// # drop(task);
    /// ```
    ///
    /// # Blocking
    /// Blocks as [`TaskHandle::cancel`] does.
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel(&self) -> bool {
        self.canceller.cancel()
    }

    /// Cancels the task for all its handles and gives a reason, as [`TaskHandle::cancel_because`] does.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// use executor::SharedJoinError;
    ///
    /// let answer = handle.shared();
    /// assert!(answer.cancel_because("no reader is left"));
    /// let Err(SharedJoinError::Cancelled(cancelled)) = answer.join() else { unreachable!() };
    /// assert_eq!(cancelled.reason().unwrap().message(), Some("no reader is left"));
    /// # drop(task);
    /// ```
    ///
    /// # Blocking
    /// Blocks as [`TaskHandle::cancel`] does.
    pub fn cancel_because(&self, reason: impl Into<CancelReason>) -> bool {
        self.canceller.cancel_because(reason)
    }

    /// Cancels the task, but lets a running body continue, as [`TaskHandle::cancel_keep_running`] does.
    ///
    /// ```
    /// let (promise, answer) = executor::Promise::<u32>::new();
    /// assert!(answer.shared().cancel_keep_running());
    /// assert!(!promise.token().is_cancelled());
    /// ```
    #[expect(clippy::must_use_candidate, reason = "as for `TaskHandle::cancel`")]
    pub fn cancel_keep_running(&self) -> bool {
        self.canceller.cancel_keep_running()
    }

    /// Returns whether the outcome is decided. If the outcome is decided, [`join`](Self::join) does not
    /// block.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// let answer = handle.shared();
    /// assert!(!answer.is_finished());
    /// task.run();
    /// assert!(answer.is_finished());
    /// ```
    #[doc(alias = "isDone")]
    pub fn is_finished(&self) -> bool {
        self.cell.state.lock().result.is_some()
    }

    /// Returns the state of the task.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// use executor::TaskState;
    ///
    /// let answer = handle.shared();
    /// assert_eq!(answer.state(), TaskState::Pending);
    /// task.run();
    /// assert_eq!(answer.state(), TaskState::Completed);
    /// ```
    #[doc(alias = "isCancelled")]
    pub fn state(&self) -> TaskState {
        self.canceller.state()
    }

    /// Returns the task's id.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// let answer = handle.shared();
    /// assert_eq!(answer.id(), task.id());
    /// assert_eq!(answer.clone().id(), task.id());
    /// ```
    pub fn id(&self) -> TaskId {
        self.canceller.id()
    }

    /// Returns the task's name, as [`TaskHandle::name`] does.
    ///
    /// ```
    /// let index = executor::FutureTask::new(|| 10).named("index");
    /// assert_eq!(index.handle.shared().name(), Some("index"));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.canceller.name()
    }

    /// Returns a handle that can only cancel the task, as [`TaskHandle::canceller`] does.
    ///
    /// ```
    /// # let executor::FutureTask { task, handle } = executor::FutureTask::new(|| 6 * 7);
    /// let answer = handle.shared();
    /// assert!(answer.canceller().cancel());
    /// assert!(answer.is_finished());
    /// # drop(task);
    /// ```
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }
}

impl<T: Send + Sync + 'static> Future for SharedHandle<T> {
    type Output = Result<Arc<T>, TaskError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        this.cell.look(&mut this.polled, context.waker()).map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T> Clone for SharedHandle<T> {
    fn clone(&self) -> Self {
        Self { cell: Arc::clone(&self.cell), canceller: self.canceller.clone(), polled: None }
    }
}

impl<T> Drop for SharedHandle<T> {
    fn drop(&mut self) {
        if let Some(place) = self.polled {
            self.cell.leave(place);
        }
    }
}

impl<T> fmt::Debug for SharedHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = match &self.cell.state.lock().result {
            Some(Err(TaskError::Panicked(panic))) => Some(panic.message().to_owned()),
            _ => None,
        };
        debug_handle(f, "SharedHandle", &*self.canceller.cell, self.canceller.name(), message)
    }
}
