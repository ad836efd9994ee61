//! Registrations with a token: users' callbacks, and threads that must be woken.
//!
//! The [page of the folder](super) says when callbacks run, and in which order.

use std::fmt;
use std::task::Waker;

use super::callbacks;
use super::outside::call_outside;
use super::tree::{CancelCallback, CancelToken, next_key};
use crate::sync::thread;

impl CancelToken {
    /// Registers a callback for a cancellation, to reach a thread that is blocked where no token is looked
    /// at: shut its socket down, close its channel, wake its event loop.
    ///
    /// The callback runs at most once, on the thread that cancels, outside any task. If the token is already
    /// cancelled, it runs at once and on this thread. Callbacks run in order of registration, after all
    /// threads that wait in this crate under the token were released (see [`cancel`](Self::cancel)). A panic
    /// in one callback does not keep the others from running. Dropping the [`Registration`] takes the
    /// callback back; [`Registration::keep`] leaves it. Suppose that a task is blocked in this crate, is
    /// woken, and drops its registration: it may be quicker than the callback, which then does not run.
    ///
    /// The canceller waits for the callback, so keep it short. Callbacks that bring about others (by a
    /// `cancel`, or by completing a [`Promise`](crate::Promise)) nest to a depth of 32. A callback that is
    /// due deeper down runs on the same thread when the callback around it has returned or blocks in this
    /// crate. It runs on a thread of its own if 32 such callbacks block inside each other. At a token that
    /// was cancelled before, such a callback runs whatever becomes of its registration.
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
        let mut callback: Option<CancelCallback> = Some(Box::new(callback));
        let registered = self.if_live(|state| {
            state.callbacks.extend(callback.take().map(|callback| (key, callback)));
        });
        if let Some(callback) = callback {
            call_outside(callback);
        }
        Registration { place: registered.map(|()| (self.clone(), key)) }
    }

    /// Registers the waker of a thread that waits in this crate, to be woken by a cancellation. Returns
    /// `None` if the token is already cancelled.
    pub(crate) fn wake_on_cancel(&self, waiter: &Waker) -> Option<WaitRegistration> {
        let key = next_key();
        self.if_live(|state| state.waiters.insert(key, waiter.clone()))?;
        Some(WaitRegistration { token: self.clone(), key })
    }
}

/// Keeps a callback registered with a [`CancelToken`]; dropping it takes the callback back.
///
/// # Blocking
///
/// If the callback is running on another thread, the drop waits for it to end, so that afterwards nothing it
/// refers to is in use any more. (On the thread that runs the callback, the drop does not wait.) Therefore
/// never drop a registration while you hold a lock that its callback takes.
#[must_use = "dropping it takes the callback back at once"]
pub struct Registration {
    place: Option<(CancelToken, u64)>,
}

impl Registration {
    /// Leaves the callback registered without this guard.
    ///
    /// The callback can then no longer be taken back. It runs when the token is cancelled, or is dropped
    /// unrun when the last copy of the token and the last of its children are gone. Until then the callback
    /// and all that it has captured take memory. On a token that lives long, such as that of a program, each
    /// call adds one. A callback that has captured the token itself takes memory until the token is
    /// cancelled.
    pub fn keep(mut self) {
        self.place = None;
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let Some((token, key)) = self.place.take() else { return };
        let mut state = token.node.state.lock();
        if let Some(callback) = state.callbacks.remove(&key) {
            drop(state);
            callbacks::drop_value(callback); // it may have captured the next registration
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

/// Keeps the waker of a waiting thread with a token. The drop does not wait: a late wake-up does no harm.
#[must_use]
pub(crate) struct WaitRegistration {
    token: CancelToken,
    key: u64,
}

impl Drop for WaitRegistration {
    fn drop(&mut self) {
        let waiter = self.token.node.state.lock().waiters.remove(&self.key);
        drop(waiter);
    }
}
