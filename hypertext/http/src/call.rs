//! One call of [`Fetcher::fetch`](super::Fetcher::fetch), as its sockets see it.
//!
//! `ureq` keeps connections in a pool and hands them to whichever call comes next, so a connection cannot
//! belong to a token. But the call belongs to a token: while it runs, a thread-local variable of its thread
//! holds it. A socket that is about to block looks there for the token, for the end of the time, and for the
//! number of bytes that may still come; and it stores itself there, so that a cancel finds the socket that
//! must be shut down. When the answer is complete, the socket is removed from the call before another call
//! can get it.

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
    /// The socket on which this call waits.
    pub(super) socket: Arc<Slot>,
    /// Bytes that may still come over the wire.
    pub(super) wire_left: Cell<u64>,
    /// The call wanted more bytes than `wire_left`.
    pub(super) is_over: Cell<bool>,
    /// The connection has served another call before.
    pub(super) is_reused: Cell<bool>,
    /// A byte of the answer has come.
    pub(super) has_received: Cell<bool>,
    /// Why a step failed, in this package's own words; the error that `ureq` gets has no text.
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

    /// Makes this the call of the current thread while `f` runs.
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

    /// The call that the current thread makes.
    ///
    /// # Errors
    /// This happens only outside a call, where no socket is used.
    pub(super) fn current() -> Result<Rc<Call>, ureq::Error> {
        CURRENT.with_borrow(Clone::clone).ok_or(ureq::Error::ConnectionFailed)
    }

    /// Whether the call may go on.
    ///
    /// # Errors
    /// [`FetchError::Cancelled`] or [`FetchError::TimedOut`].
    pub(super) fn check(&self) -> Result<(), FetchError> {
        self.token.check()?;
        if self.left().is_zero() { Err(FetchError::TimedOut) } else { Ok(()) }
    }

    /// How much of the call's time is left.
    pub(super) fn left(&self) -> Duration {
        self.deadline
            .get()
            .map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Limits the rest of the call to `longest`, counted from now, because the caller already has what it
    /// wants.
    pub(super) fn hurry(&self, longest: Duration) {
        self.deadline.set(Instant::now().checked_add(self.left().min(longest)));
    }

    /// The token that ends the call early.
    pub(super) fn token(&self) -> &CancelToken {
        &self.token
    }

    /// Notes why the call fails, for [`take_failure`](Call::take_failure), and gives an error for `ureq` to
    /// pass on.
    pub(super) fn fail(&self, why: FetchError) -> ureq::Error {
        self.failure.replace(Some(why));
        ureq::Error::ConnectionFailed
    }

    pub(super) fn take_failure(&self) -> Option<FetchError> {
        self.failure.take()
    }
}

/// The place where a call keeps the socket it waits on.
#[derive(Default)]
pub(super) struct Slot(Mutex<Option<Arc<TcpStream>>>);

impl Slot {
    /// Stores a socket. The caller must check the token *afterwards*: an earlier cancel has not seen the
    /// socket.
    pub(super) fn put(&self, socket: &Arc<TcpStream>) {
        *self.lock() = Some(Arc::clone(socket));
    }

    /// Removes the socket. After that, a cancel does not shut the socket down.
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
