//! Where a panic stops, and who hears of one that nobody else would hear of.
//!
//! # Where panics stop
//!
//! User code runs in many places: tasks, callbacks, and the `Drop` of everything a task has captured or
//! returned. A panic in any of them must not cost a thread, a lock or a count. [`contain`] runs user code and
//! gives the panic back as a [`Panic`]; [`discard`] drops a user's value. Both rely on unwinding: `panic =
//! "abort"` is not supported. One unwinding is no panic and is not stopped: the [`Departure`] of a shutdown
//! hook that ends the process.
//!
//! # Who hears of them
//!
//! Rust's panic hook prints each panic when it happens, with the thread's name, to stderr. That is the end of
//! it for a task that was handed over with `execute`, or whose handle was dropped: a program that writes its
//! log elsewhere, or counts failures, or restarts what failed, learns nothing. So a [`Panic`] knows whether
//! somebody has looked at it, and one that nobody has looked at goes to a handler when its last copy is
//! dropped: to that of its pool
//! ([`ThreadPoolBuilder::panic_handler`](crate::ThreadPoolBuilder::panic_handler)) or else to that of the
//! process ([`set_handler`]). *Looked at* means returned by a join or a poll, or passed to `on_done`.
//!
//! ```
//! use std::sync::mpsc;
//! use executor::{ThreadPoolExecutor, panics::PanicReport, prelude::*};
//!
//! let (tell, told) = mpsc::channel();
//! let pool = ThreadPoolExecutor::builder()
//!     .panic_handler(move |report: &PanicReport<'_>| tell.send(report.to_string()).unwrap())
//!     .build()?;
//! pool.execute(|| panic!("no such file"))?;
//! pool.close();
//! assert!(told.recv()?.contains("no such file"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::any::{Any, TypeId};
use std::backtrace::Backtrace;
use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::process::{OnceLock, PoisonError, RwLock, thread_local};
use crate::sync::{Arc, Mutex, thread};

// ----- a panic as a value -----

/// A panic that was caught, as a value.
///
/// Clones share one panic: the message is there for everyone, the payload for whoever takes it first. So the
/// panic that a joiner gets and the one that an executor's hooks and statistics saw are the same.
///
/// Two are equal if they are one and the same panic, that is, clones; what they said does not matter.
///
/// A panic that nobody has looked at (its handle was dropped, or there never was one) goes to the [panic
/// handler](self) when its last clone is dropped.
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

/// Where the panic came from and who hears of it, as far as is known.
#[derive(Default)]
struct Origin {
    task: Option<Box<str>>,
    handler: Option<Arc<dyn PanicHandler>>,
    after_cancel: bool,
}

impl Panic {
    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        let payload = no_departure(payload);
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
            backtrace: captured_backtrace(&*payload),
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

    /// Where it came from, if [`panics::install_hook`](crate::panics::install_hook) was called before. None
    /// if the last panic on the thread that caught it was another one, with another payload; so mostly none
    /// for a payload that comes from elsewhere, as in [`Promise::panic_with`](crate::Promise::panic_with).
    pub fn backtrace(&self) -> Option<&Backtrace> {
        self.0.backtrace.as_ref()
    }

    /// Takes the payload, as [`catch_unwind`] would have given it. `None` if a clone of
    /// this panic was asked before.
    pub fn take_payload(&self) -> Option<Box<dyn Any + Send>> {
        self.0.payload.lock().take()
    }

    /// Goes on panicking on this thread with the same payload (or the message, if the payload is taken),
    /// without calling the panic hook a second time.
    ///
    /// # Panics
    /// Always; that is its purpose.
    pub fn resume(self) -> ! {
        self.mark_read();
        let payload = self.take_payload().unwrap_or_else(|| Box::new(self.message().to_owned()));
        resume_unwind(payload)
    }

    /// Says which task this was, if it was one, and who is to hear of it if nobody reads it.
    pub(crate) fn set_origin(&self, task: Option<String>, handler: Option<Arc<dyn PanicHandler>>) {
        let mut origin = self.0.origin.lock();
        origin.task = task.map(Into::into);
        let replaced = std::mem::replace(&mut origin.handler, handler);
        drop(origin);
        discard(replaced); // this may be the end of a user's handler
    }

    /// The task had been cancelled before it panicked, so nobody can read it.
    pub(crate) fn set_after_cancel(&self) {
        self.0.origin.lock().after_cancel = true;
    }

    /// Somebody was given this panic, so it need not be reported.
    pub(crate) fn mark_read(&self) {
        // Relaxed: looked at only when the last clone is dropped, and dropping an `Arc` orders that after
        // everything.
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
            report(
                origin.handler,
                &PanicReport {
                    message: &self.message,
                    thread: self.thread.as_deref(),
                    task: origin.task.as_deref(),
                    backtrace: self.backtrace.as_ref(),
                    after_cancel: origin.after_cancel,
                    starved: false,
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
    // Unwind safety: whatever the closure had borrowed or captured is gone or was the user's to begin with.
    // Our own state is never lent to user code.
    catch_unwind(AssertUnwindSafe(user_code)).map_err(Panic::new)
}

/// Drops a user's value. A panic in its `Drop` was reported by the panic hook and goes no further.
pub(crate) fn discard<V>(value: V) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // This payload's own `Drop` might panic again. Leaking it is the end of that chain.
        std::mem::forget(no_departure(payload));
    }
}

// ----- an unwinding that is no panic -----

/// Unwinds what is to be left for good: a shutdown hook that has called `exit`. Nobody contains it. Whoever
/// has begun what is left [awaits](contain_unless_left) it. Where anybody else catches it, the library or the
/// user, there is code below that cannot be left from here. Then it is dropped, and its drop does not return:
/// the thread stays where it is.
pub(crate) struct Departure(Option<Box<dyn FnOnce() + Send>>);

#[cfg_attr(not(feature = "signals"), expect(dead_code, reason = "only a shutdown hook is left in this way"))]
impl Departure {
    /// Leaves what the calling thread is in the middle of. If that cannot be left, `stay` does what was to be
    /// done after it, and does not return.
    pub(crate) fn begin(stay: impl FnOnce() + Send + 'static) -> ! {
        resume_unwind(Box::new(Self(Some(Box::new(stay)))))
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        if let Some(stay) = self.0.take() {
            stay();
        }
    }
}

/// Does not return if this is one.
fn no_departure(payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    match payload.downcast::<Departure>() {
        Ok(departure) => {
            drop(departure);
            unreachable!("the thread stays there");
        }
        Err(payload) => payload,
    }
}

/// As [`contain`], for code that may be [left](Departure). The error is `None` if it was.
#[cfg_attr(not(feature = "signals"), expect(dead_code, reason = "only a shutdown hook is left in this way"))]
pub(crate) fn contain_unless_left<R>(user_code: impl FnOnce() -> R) -> Result<R, Option<Panic>> {
    catch_unwind(AssertUnwindSafe(user_code)).map_err(|payload| match payload.downcast::<Departure>() {
        Ok(mut departure) => {
            departure.0 = None;
            None
        }
        Err(payload) => Some(Panic::new(payload)),
    })
}

// ----- who hears of it -----

/// Hears of panics. Implemented for closures, and for an [`Arc`] of a handler, so that pools can share one.
///
/// Called by the thread that drops the last copy of the panic, mostly the worker, outside all locks. A panic
/// in the handler itself is contained and not reported again.
#[doc(alias = "UncaughtExceptionHandler")]
pub trait PanicHandler: Send + Sync {
    /// A task (or a callback) panicked and nobody has read it; or it starved and has not read why, see
    /// [`PanicReport::starved`].
    fn panicked(&self, report: &PanicReport<'_>);
}

impl<F: Fn(&PanicReport<'_>) + Send + Sync> PanicHandler for F {
    fn panicked(&self, report: &PanicReport<'_>) {
        self(report);
    }
}

impl<H: PanicHandler + ?Sized> PanicHandler for Arc<H> {
    fn panicked(&self, report: &PanicReport<'_>) {
        (**self).panicked(report);
    }
}

/// What is known of a panic, or of a [starvation deadlock](crate::Starvation). Its `Display` is a line for a
/// log, with the backtrace below it if there is one.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PanicReport<'a> {
    /// What the panic said, or who waits for whom.
    pub message: &'a str,
    /// The thread that panicked or starved, if it has a name.
    pub thread: Option<&'a str>,
    /// The task, by name or id; none if it was a callback or a hook.
    pub task: Option<&'a str>,
    /// From where, if [`install_hook`] was called.
    pub backtrace: Option<&'a Backtrace>,
    /// The task had been cancelled while it ran, so its handle could not tell of the panic.
    pub after_cancel: bool,
    /// Nothing has panicked: the task waited for what could never come, was told so by a
    /// [`Starvation`](crate::Starvation), and has not read it.
    pub starved: bool,
}

impl<'a> PanicReport<'a> {
    pub(crate) fn of_starvation(message: &'a str, thread: Option<&'a str>, task: Option<&'a str>) -> Self {
        Self { message, thread, task, backtrace: None, after_cancel: false, starved: true }
    }
}

impl fmt::Display for PanicReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.starved {
            return write!(f, "{} (nobody has read this error)", self.message); // which names task and thread
        }
        match self.task {
            Some(task) => write!(f, "task {task} panicked")?,
            None => f.write_str("a callback panicked")?,
        }
        if let Some(thread) = self.thread {
            write!(f, " on thread {thread}")?;
        }
        if self.after_cancel {
            f.write_str(" after it was cancelled")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(backtrace) = self.backtrace {
            write!(f, "\n{backtrace}")?;
        }
        Ok(())
    }
}

static HANDLER: RwLock<Option<Arc<dyn PanicHandler>>> = RwLock::new(None);

/// Sets the handler of the process, for panics whose pool has none of its own. Returns the one before, which
/// can be put back; a thread that is just calling it keeps it until it has returned.
///
/// ```
/// use std::sync::Arc;
/// use executor::panics::{PanicReport, set_handler, take_handler};
///
/// let before = set_handler(Arc::new(|report: &PanicReport<'_>| eprintln!("while it starts: {report}")));
/// // …
/// match before {
///     Some(before) => set_handler(before),
///     None => take_handler(),
/// };
/// ```
pub fn set_handler(handler: Arc<dyn PanicHandler>) -> Option<Arc<dyn PanicHandler>> {
    HANDLER.write().unwrap_or_else(PoisonError::into_inner).replace(handler)
}

/// Takes the handler of the process away, if there is one: panics whose pool has none of its own go unheard
/// again.
pub fn take_handler() -> Option<Arc<dyn PanicHandler>> {
    HANDLER.write().unwrap_or_else(PoisonError::into_inner).take()
}

/// Has a backtrace taken of every panic, for [`Panic::backtrace`](crate::Panic::backtrace) and the reports.
///
/// That can only be done where the panic happens, in the panic hook of the process. The hook that is there is
/// called first, and a second call of this does nothing. Taking a backtrace costs milliseconds the first
/// time.
pub fn install_hook() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            before(info);
            let taken =
                KeptBacktrace { of: PayloadKind::is(info.payload()), backtrace: Backtrace::force_capture() };
            let _ = BACKTRACE.try_with(|slot| slot.replace(Some(taken)));
        }));
    });
}

thread_local! {
    /// From the hook, which knows the place of the panic, to the one who catches it. Not modelled: nothing is
    /// shared.
    static BACKTRACE: RefCell<Option<KeptBacktrace>> = const { RefCell::new(None) };
}

struct KeptBacktrace {
    of: PayloadKind,
    backtrace: Backtrace,
}

/// What is known of a payload before and after it is caught. Its address is not: it is moved into a box in
/// between.
#[derive(PartialEq)]
struct PayloadKind {
    kind: TypeId,
    text: Option<Box<str>>,
}

impl PayloadKind {
    fn is(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&'static str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self { kind: payload.type_id(), text: text.map(Into::into) }
    }
}

/// The backtrace of the panic with this payload, if that was the last on this thread. Another's may lie
/// there: of a panic that the user has caught, when this payload was passed on without a panic of its own.
pub(crate) fn captured_backtrace(payload: &(dyn Any + Send)) -> Option<Backtrace> {
    let taken = BACKTRACE.try_with(RefCell::take).ok().flatten()?;
    (taken.of == PayloadKind::is(payload)).then_some(taken.backtrace)
}

thread_local! {
    /// Panics that this thread has caught while it held a lock. No user code runs under a lock, handlers
    /// included.
    static KEPT: RefCell<Vec<Panic>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a panic until the lock is free, or else until this thread ends.
pub(crate) fn keep(panic: Panic) {
    let _ = KEPT.try_with(|kept| kept.borrow_mut().push(panic));
}

pub(crate) fn any_kept() -> bool {
    KEPT.try_with(|kept| !kept.borrow().is_empty()).unwrap_or(false)
}

/// Those that were kept. Dropping them reports them.
pub(crate) fn take_kept() -> Vec<Panic> {
    KEPT.try_with(RefCell::take).unwrap_or_default()
}

pub(crate) fn report(handler: Option<Arc<dyn PanicHandler>>, report: &PanicReport<'_>) {
    let handler = handler.or_else(|| HANDLER.read().unwrap_or_else(PoisonError::into_inner).clone());
    let Some(handler) = handler else { return };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| handler.panicked(report))) {
        std::mem::forget(no_departure(payload)); // it might panic once more when it is dropped
    }
    discard(handler); // it may have been replaced meanwhile, and this be the last of it
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_can_cross_threads_and_turn_into_another_error() {
        fn ok<E: Error + Send + Sync + 'static>() {}
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
