//! Ways of failing, one type each, and the border at which a panic becomes a value.
//!
//! An error hands back whatever its caller would otherwise lose. Those that carry a task or a handle are therefore
//! defined beside it ([`RejectedExecution`](crate::RejectedExecution), [`JoinError`](crate::JoinError)); here are the
//! ones that carry nothing of ours. All of them are `Send`, `Sync` and `'static`, so `?` can turn them into any other.
//!
//! # Where panics stop
//!
//! User code runs in many places: tasks, callbacks, and the `Drop` of everything a task has captured or returned. A
//! panic in any of them must not cost a thread, a lock or a count. [`contain`] runs user code and gives the panic
//! back as a [`Panic`]; [`discard`] drops a user's value. Both rely on unwinding: `panic = "abort"` is not supported.

use std::any::Any;
use std::backtrace::Backtrace;
use std::error::Error;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::panics::{self, PanicHandler, PanicReport};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex, thread};

/// The waiting or working task was asked to stop.
///
/// What a cancellation point returns, so that `?` carries the request out of the task's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task was cancelled")
    }
}

impl Error for Cancelled {}

/// Why a timed wait ended without what it waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitError {
    /// The waiting task was cancelled.
    Cancelled,
    /// The time was up.
    TimedOut,
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cancelled => "the waiting task was cancelled",
            Self::TimedOut => "the wait timed out",
        })
    }
}

impl Error for WaitError {}

impl From<Cancelled> for WaitError {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Why an executor refused a task.
#[derive(Debug)]
#[non_exhaustive]
pub enum RejectReason {
    /// The executor was shut down.
    Shutdown,
    /// No thread was free, no more might be started, and the queue was full.
    Saturated,
    /// The same, and it had not changed when the time to wait was up.
    TimedOut,
    /// The *submitting* task was cancelled while it waited for room.
    Interrupted,
    /// The task needed a new thread and the system, or the thread factory, gave none.
    NoThread(io::Error),
}

impl fmt::Display for RejectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shutdown => f.write_str("the executor is shut down"),
            Self::Saturated => f.write_str("all threads are busy and the queue is full"),
            Self::TimedOut => f.write_str("there was no room in time"),
            Self::Interrupted => f.write_str("the submitting task was cancelled while it waited for room"),
            Self::NoThread(error) => write!(f, "no thread could be started: {error}"),
        }
    }
}

/// A panic that was caught, as a value.
///
/// Clones share one panic: each can show the message, the first that is asked for the payload has it. So the panic
/// that a joiner gets and the one that an executor's hooks and statistics saw are the same.
///
/// Two are equal if they are one and the same panic, that is, clones; what they said does not matter.
///
/// A panic that was never looked at (its handle was dropped, or there never was one) goes to the [panic
/// handler](crate::panics) when its last clone is dropped.
#[derive(Clone)]
pub struct Panic(Arc<Caught>);

struct Caught {
    message: Box<str>,
    thread: Option<Box<str>>,
    backtrace: Option<Backtrace>,
    payload: Mutex<Option<Box<dyn Any + Send>>>,
    read: AtomicBool,
    origin: Mutex<Origin>,
}

/// Where the panic came from and which handler hears of it, as far as is known.
#[derive(Default)]
struct Origin {
    task: Option<Box<str>>,
    handler: Option<Arc<dyn PanicHandler>>,
    after_cancel: bool,
}

impl Panic {
    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        let message = if let Some(text) = payload.downcast_ref::<&'static str>() {
            (*text).into()
        } else if let Some(text) = payload.downcast_ref::<String>() {
            text.as_str().into()
        } else {
            "a panic whose payload is not text".into()
        };
        Self(Arc::new(Caught {
            message,
            thread: thread::current().name().map(Into::into),
            backtrace: panics::captured_backtrace(&*payload),
            payload: Mutex::new(Some(payload)),
            read: AtomicBool::new(false),
            origin: Mutex::new(Origin::default()),
        }))
    }

    /// What the panic said, or a stand-in if its payload was not text.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The name of the thread that panicked, if it has one.
    pub fn thread(&self) -> Option<&str> {
        self.0.thread.as_deref()
    }

    /// Where it came from, if [`panics::install_hook`](crate::panics::install_hook) was called before. None if the last
    /// panic on the thread that caught it was another one, with another payload; so mostly none for a payload that comes
    /// from elsewhere, as in [`Promise::fail`](crate::Promise::fail).
    pub fn backtrace(&self) -> Option<&Backtrace> {
        self.0.backtrace.as_ref()
    }

    /// Takes the payload, as [`catch_unwind`](std::panic::catch_unwind) would have given it. `None` if a clone of
    /// this panic was asked before.
    pub fn take_payload(&self) -> Option<Box<dyn Any + Send>> {
        self.0.payload.lock().take()
    }

    /// Goes on panicking on this thread with the same payload (or the message, if the payload is taken), without
    /// calling the panic hook a second time.
    ///
    /// # Panics
    /// Always; that is its purpose.
    pub fn resume(self) -> ! {
        self.mark_read();
        let payload = self.take_payload().unwrap_or_else(|| Box::new(self.message().to_owned()));
        resume_unwind(payload)
    }

    /// Says which task this was, if it was one, and which handler must hear of it if it is never read.
    pub(crate) fn set_origin(&self, task: Option<String>, handler: Option<Arc<dyn PanicHandler>>) {
        let mut origin = self.0.origin.lock();
        origin.task = task.map(Into::into);
        let replaced = std::mem::replace(&mut origin.handler, handler);
        drop(origin);
        discard(replaced); // this may be the end of a user's handler
    }

    /// The task had been cancelled before it panicked, so its handle cannot give it out.
    pub(crate) fn set_after_cancel(&self) {
        self.0.origin.lock().after_cancel = true;
    }

    /// A reader was given this panic, so it need not be reported.
    pub(crate) fn mark_read(&self) {
        // Relaxed: looked at only when the last clone is dropped, and dropping an `Arc` orders that after everything.
        self.0.read.store(true, Ordering::Relaxed);
    }
}

impl PartialEq for Panic {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Panic {}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Panic").field(&self.message()).finish()
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the task panicked: {}", self.message())
    }
}

impl Error for Panic {}

// ANCHOR: unread
impl Drop for Caught {
    fn drop(&mut self) {
        if !self.read.load(Ordering::Relaxed) {
            let origin = std::mem::take(&mut *self.origin.lock());
            panics::report(
                origin.handler,
                &PanicReport {
                    message: &self.message,
                    thread: self.thread.as_deref(),
                    task: origin.task.as_deref(),
                    backtrace: self.backtrace.as_ref(),
                    after_cancel: origin.after_cancel,
                },
            );
        }
        let payload = self.payload.lock().take(); // a statement of its own: the lock is free again after it
        discard(payload);
    }
}
// ANCHOR_END: unread

/// Runs user code. A panic in it comes back as a value.
pub(crate) fn contain<R>(user_code: impl FnOnce() -> R) -> Result<R, Panic> {
    // Unwind safety: whatever the closure had borrowed or captured is gone or was the user's to begin with. Our own
    // state is never lent to user code.
    catch_unwind(AssertUnwindSafe(user_code)).map_err(Panic::new)
}

/// Drops a user's value. A panic in its `Drop` was reported by the panic hook and goes no further.
pub(crate) fn discard<V>(value: V) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // This payload's own `Drop` might panic again. Leaking it is the end of that chain.
        std::mem::forget(payload);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_can_cross_threads_and_turn_into_others() {
        fn ok<E: Error + Send + Sync + 'static>() {}
        ok::<Cancelled>();
        ok::<WaitError>();
        ok::<Panic>();
    }

    #[test]
    fn a_panic_keeps_its_message_and_gives_its_payload_once() {
        let panic = contain(|| panic!("number {}", std::hint::black_box(7))).unwrap_err();
        let clone = panic.clone();
        assert_eq!(panic.message(), "number 7");
        assert_eq!(panic.to_string(), "the task panicked: number 7");
        assert_eq!(*panic.take_payload().unwrap().downcast::<String>().unwrap(), "number 7");
        assert!(clone.take_payload().is_none());
        assert_eq!(clone.message(), "number 7");
    }

    #[test]
    fn a_payload_that_panics_when_dropped_is_contained() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        let panic = contain(|| std::panic::panic_any(Bomb)).unwrap_err();
        assert_eq!(panic.message(), "a panic whose payload is not text");
        drop(panic);
        discard(Bomb);
    }
}
