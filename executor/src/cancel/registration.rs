//! Registration with a token: users' callbacks, and threads that a cancellation must wake.
//!
//! The [module `cancel`](super) says when callbacks run, and in which order.

use std::fmt;
use std::task::Waker;

use super::callbacks;
use super::outside::call_outside;
use super::reason::{CancelKind, CancelReason};
use super::tree::{CancelToken, next_key};
use crate::panics::{OnDrop, UserCode};
use crate::sync::thread;

impl CancelToken {
    /// Registers a callback that runs when this token is cancelled. Some blocking calls do not look at a
    /// token; the callback can release a thread from one of these calls. For example, the callback can shut
    /// down the thread's socket, close its channel, or wake its event loop.
    ///
    /// The callback runs at most once, on the thread that cancels the token, outside any task. If the token
    /// is already cancelled, the callback runs at once, on the calling thread. Before the callbacks run, the
    /// cancellation wakes all threads that wait in this crate and whose wait obeys the token (see
    /// [`cancel`](Self::cancel)). Then the callbacks run in order of registration. If one callback panics,
    /// the other callbacks still run. The drop of the [`Registration`] deregisters the callback;
    /// [`Registration::keep`] leaves the callback registered. If the cancellation wakes a task, and the task
    /// drops its registration before the callback begins, the callback does not run.
    ///
    /// `cancel` returns only when the callback has ended, so keep the callback short. A callback can cause
    /// other callbacks, if it cancels a token or completes a [`Promise`](crate::Promise). Callbacks nest to a
    /// depth of 32. At a greater depth, a callback is deferred: it runs on the same thread when the callback
    /// that caused it returns or blocks in this crate. If 32 nested deferred callbacks block, the next
    /// callback runs on a new thread. If the token was cancelled before the registration, the drop of the
    /// registration cannot stop a deferred callback.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # let token = executor::CancelToken::new();
    /// let (tell, told) = mpsc::channel();
    /// let registration = token.on_cancel(move || tell.send("stop").unwrap());
    /// token.cancel();
    /// assert_eq!(told.recv(), Ok("stop"));
    /// # drop(registration);
    /// ```
    pub fn on_cancel(&self, callback: impl FnOnce() + Send + 'static) -> Registration {
        let key = next_key();
        let mut callback: Option<UserCode> = Some(Box::new(callback));
        let registered = self.if_live(|state| {
            state.callbacks.extend(callback.take().map(|callback| (key, callback)));
        });
        if let Some(callback) = callback {
            call_outside(callback);
        }
        Registration { place: registered.map(|()| (self.clone(), key)) }
    }

    /// Registers a callback that gets the reason of the cancellation, so that the callback can cancel another
    /// token or task for the same reason.
    pub(crate) fn on_cancel_because(
        &self,
        cancel: impl FnOnce(CancelReason) + Send + 'static,
    ) -> Registration {
        let token = self.clone(); // the callback has a clone until the registration is taken back
        self.on_cancel(move || {
            let reason = token.reason().unwrap_or(CancelReason::of(CancelKind::Requested));
            cancel(reason.inherited());
        })
    }

    /// Registers the waker of a thread that waits in this crate, so that a cancellation wakes the thread. The
    /// drop of the result deregisters the waker; this drop does not wait, because a late wake-up does no
    /// harm. Returns `None` if the token is already cancelled.
    pub(crate) fn wake_on_cancel(
        &self,
        waiter: &Waker,
    ) -> Option<OnDrop<impl FnMut() + Send + Sync + use<>>> {
        let (token, key) = (self.clone(), next_key());
        self.if_live(|state| state.waiters.insert(key, waiter.clone()))?;
        Some(OnDrop(move || {
            let waiter = token.node.state.lock().waiters.remove(&key);
            drop(waiter); // after the lock
        }))
    }
}

/// A guard that keeps a callback registered with a [`CancelToken`]. When the guard is dropped, the callback
/// is deregistered.
///
/// ```
/// use executor::CancelToken;
/// use std::sync::mpsc;
///
/// let (token, (tell, told)) = (CancelToken::new(), mpsc::channel());
/// let registration = token.on_cancel(move || tell.send("stop").unwrap());
/// drop(registration);
/// token.cancel();
/// assert!(told.recv().is_err()); // the callback was dropped, and its sender with it
/// ```
///
/// # Blocking
///
/// If the callback is running on another thread, the drop waits until the callback has ended. So after the
/// drop, the callback no longer uses the values that it has captured. Do not drop a registration while you
/// hold a lock that its callback takes. On the thread that runs the callback, the drop does not wait.
#[must_use = "dropping it takes the callback back at once"]
pub struct Registration {
    place: Option<(CancelToken, u64)>,
}

impl Registration {
    /// Leaves the callback registered without this guard.
    ///
    /// After `keep`, the callback can no longer be deregistered. If the token is cancelled, the callback
    /// runs. If the last copy of the token and its last child are dropped before the token is cancelled, the
    /// callback is dropped and does not run. As long as a callback is registered, the callback and its
    /// captured values occupy memory. So if a token exists for a long time, such as the token of a whole
    /// program, each call of `keep` occupies more memory. If a callback has captured its own token, this
    /// memory is freed only when the token is cancelled.
    ///
    /// ```
    /// # use std::sync::mpsc;
    /// # let (token, (tell, told)) = (executor::CancelToken::new(), mpsc::channel());
    /// token.on_cancel(move || tell.send("stop").unwrap()).keep();
    /// token.cancel();
    /// assert_eq!(told.recv(), Ok("stop"));
    /// ```
    pub fn keep(mut self) {
        self.place = None;
    }

    /// Deregisters the callback if it has not begun. Unlike the drop, `take_back` does not wait for a
    /// callback that is running.
    pub(crate) fn take_back(mut self) {
        let Some((token, key)) = self.place.take() else { return };
        let callback = token.node.state.lock().callbacks.remove(&key);
        if let Some(callback) = callback {
            callbacks::drop_value(callback);
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let Some((token, key)) = self.place.take() else { return };
        let mut state = token.node.state.lock();
        if let Some(callback) = state.callbacks.remove(&key) {
            drop(state);
            callbacks::drop_value(callback); // the callback may have captured the next registration
            return;
        }
        if state.running.is_some_and(|(running, _)| running == key) {
            drop(state);
            callbacks::about_to_block();
            state = token.node.state.lock();
        }
        while state.running.is_some_and(|(running, by)| running == key && by != thread::current().id()) {
            state = token.node.callback_done.wait(state);
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").finish_non_exhaustive()
    }
}
