//! One call of [`Fetcher::fetch`](super::Fetcher::fetch), from the view of its sockets.
//!
//! `ureq` keeps connections in a pool and gives a connection to any later call, so a connection cannot belong
//! to a token. But each call belongs to a token, and during the call, a thread-local variable of the calling
//! thread refers to the call. Before a socket blocks, it takes from the call the token, the deadline, and the
//! number of bytes that may still arrive. The socket also stores itself in the call, so that a cancellation
//! finds the socket that must be shut down. When the answer is complete, the socket is removed from the call
//! before another call can get the socket.

use super::FetchError;
use executor::CancelToken;
use std::cell::{Cell, RefCell};
use std::net::{Shutdown, TcpStream};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

thread_local! {
    static CURRENT: RefCell<Option<Rc<Call>>> = const { RefCell::new(None) };
}

/// The limits of a call, and its state.
pub(super) struct Call {
    token: CancelToken,
    deadline: Cell<Option<Instant>>,
    /// The socket that this call is blocked on.
    pub(super) socket: Arc<Slot>,
    /// The number of bytes that may still be received.
    pub(super) wire_left: Cell<u64>,
    /// True if the call wanted more bytes than `wire_left`.
    pub(super) is_over: Cell<bool>,
    /// True if the connection has served another call before.
    pub(super) is_reused: Cell<bool>,
    /// True if a byte of the answer has been received.
    pub(super) has_received: Cell<bool>,
    /// The reason why a step failed, in the words of this package; the error that `ureq` gets has no text.
    failure: RefCell<Option<FetchError>>,
}

impl Call {
    pub(super) fn new(token: &CancelToken, timeout: Duration, wire: u64) -> Rc<Call> {
        Rc::new(Call {
            token: token.clone(),
            deadline: Cell::new(Instant::now().checked_add(timeout)), // out of range: no limit
            socket: Arc::default(),
            wire_left: Cell::new(wire),
            is_over: Cell::new(false),
            is_reused: Cell::new(false),
            has_received: Cell::new(false),
            failure: RefCell::new(None),
        })
    }

    /// Makes this call the current call of the thread while `f` runs.
    pub(super) fn run<R>(self: &Rc<Call>, f: impl FnOnce() -> R) -> R {
        struct Restore(Option<Rc<Call>>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.replace(self.0.take());
            }
        }
        let _restore = Restore(CURRENT.replace(Some(Rc::clone(self))));
        f()
    }

    /// Returns the current call of this thread.
    ///
    /// # Errors
    /// Fails only outside of a call, where no socket is used.
    pub(super) fn current() -> Result<Rc<Call>, ureq::Error> {
        CURRENT.with_borrow(Clone::clone).ok_or(ureq::Error::ConnectionFailed)
    }

    /// Returns `Ok` if the call may continue.
    ///
    /// # Errors
    /// Returns [`FetchError::Cancelled`] or [`FetchError::TimedOut`] if the call must end.
    pub(super) fn check(&self) -> Result<(), FetchError> {
        self.token.check()?;
        if self.left().is_zero() { Err(FetchError::TimedOut) } else { Ok(()) }
    }

    /// Returns the remaining time of the call.
    pub(super) fn left(&self) -> Duration {
        self.deadline
            .get()
            .map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Limits the rest of the call to `longest`, counted from now, because the caller already has the data
    /// that it needs.
    pub(super) fn hurry(&self, longest: Duration) {
        self.deadline.set(Instant::now().checked_add(self.left().min(longest)));
    }

    /// Returns the token that ends the call early.
    pub(super) fn token(&self) -> &CancelToken {
        &self.token
    }

    /// Remembers why the call fails, for [`take_failure`](Call::take_failure), and returns an error that
    /// `ureq` passes on.
    pub(super) fn fail(&self, why: FetchError) -> ureq::Error {
        self.failure.replace(Some(why));
        ureq::Error::ConnectionFailed
    }

    pub(super) fn take_failure(&self) -> Option<FetchError> {
        self.failure.take()
    }
}

/// Stores the socket that a call is blocked on.
#[derive(Default)]
pub(super) struct Slot(Mutex<Option<Arc<TcpStream>>>);

impl Slot {
    /// Stores a socket. The caller must check the token *after* storing the socket, because an earlier
    /// cancellation has not found the socket.
    pub(super) fn put(&self, socket: &Arc<TcpStream>) {
        *self.lock() = Some(Arc::clone(socket));
    }

    /// Removes the socket. After this removal, a cancellation does not shut the socket down.
    pub(super) fn clear(&self) {
        *self.lock() = None;
    }

    /// Shuts the stored socket down.
    pub(super) fn shut_down(&self) {
        if let Some(socket) = &*self.lock() {
            let _ = socket.shutdown(Shutdown::Both); // fails only if the connection is over anyway
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<TcpStream>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
