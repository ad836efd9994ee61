//! Catches panics of user code, and reports the panics that no caller reads.
//!
//! # Where panics stop
//!
//! User code runs in many places: in tasks, in callbacks, and in the `Drop` of the values that a task has
//! captured or returned. A panic in user code must not end a thread, leave a lock locked, or make a count
//! wrong. [`contain`] runs user code and returns its panic as a [`Panic`]; [`discard`] drops a user's value.
//! `contain` and `discard` rely on unwinding: `panic = "abort"` is not supported. When a shutdown hook calls
//! `exit`, its thread unwinds with a [`Departure`], which is not a panic. `contain` and `discard` do not stop
//! this unwinding.
//!
//! # Who gets a report
//!
//! Rust's panic hook prints each panic when it happens, with the thread's name, to stderr. But if a task was
//! handed over with `execute`, or its handle was dropped, no code gets the panic as an error. Without a
//! further report, a program that writes its own log, counts failures, or restarts failed tasks would not
//! learn of the panic. So a [`Panic`] records whether it was *read*: returned by a join or a poll, or passed
//! to `on_done`. When the last copy of an unread panic is dropped, a handler gets a report: the handler of
//! the pool ([`ThreadPoolBuilder::panic_handler`](crate::ThreadPoolBuilder::panic_handler)) or, if the pool
//! has no handler, the handler of the process ([`set_handler`]).
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

/// A caught panic, as a value.
///
/// All clones share one panic: each clone has the message, and the first caller of
/// [`take_payload`](Self::take_payload) gets the payload. So a caller that joins the task gets the same panic
/// that the executor's hooks and statistics saw.
///
/// Two values are equal if they are clones of one panic; equal messages do not make two panics
/// equal.
///
/// A panic that no caller has read (the task's handle was dropped, or never existed) goes to the [panic
/// handler](self) when the last clone of the panic is dropped.
///
/// ```
/// use executor::{FutureTask, JoinError};
///
/// let FutureTask { task, handle } = FutureTask::new(|| -> u32 { panic!("no such file") });
/// task.run();
/// let Err(JoinError::Panicked(panic)) = handle.join() else { unreachable!() };
/// assert_eq!(panic.to_string(), "the task panicked: no such file");
/// ```
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

/// The task that panicked and the handler that gets the report. The task or the handler may be unknown, or
/// both.
#[derive(Default)]
struct Origin {
    task: Option<Box<str>>,
    handler: Option<Arc<dyn PanicHandler>>,
    after_cancel: bool,
}

impl Panic {
    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        let payload = no_departure(payload);
        Self(Arc::new(Caught {
            message: text_of(&*payload).unwrap_or("a panic whose payload is not text").into(),
            thread: thread::current().name().map(Into::into),
            backtrace: captured_backtrace(&*payload),
            payload: Mutex::new(Some(payload)),
            read: AtomicBool::new(false),
            origin: Mutex::new(Origin::default()),
        }))
    }

    /// Returns the message of the panic, or a substitute text if the payload is not text.
    ///
    /// ```
    /// # use executor::{FutureTask, JoinError};
    /// let FutureTask { task, handle } = FutureTask::new(|| -> u32 { panic!("no such file") });
    /// task.run();
    /// let Err(JoinError::Panicked(panic)) = handle.join() else { unreachable!() };
    /// assert_eq!(panic.message(), "no such file");
    /// ```
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the name of the thread that panicked, if it has one.
    ///
    /// ```
    /// use executor::{JoinError, ThreadPoolExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::builder().name("indexer").build()?;
    /// let handle = pool.submit(|| -> u32 { panic!("no such file") })?;
    /// let Err(JoinError::Panicked(panic)) = handle.join() else { unreachable!() };
    /// assert_eq!(panic.thread(), Some("indexer-thread-1"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread(&self) -> Option<&str> {
        self.0.thread.as_deref()
    }

    /// Returns the backtrace of the panic, if [`panics::install_hook`](crate::panics::install_hook) was
    /// called before. Returns `None` if the last panic on the catching thread had a different payload than
    /// this panic. So the result is usually `None` for a payload from another source, as in
    /// [`Promise::panic_with`](crate::Promise::panic_with).
    ///
    /// ```
    /// # use executor::{FutureTask, JoinError};
    /// executor::panics::install_hook();
    /// let FutureTask { task, handle } = FutureTask::new(|| -> u32 { panic!("no such file") });
    /// task.run();
    /// let Err(JoinError::Panicked(panic)) = handle.join() else { unreachable!() };
    /// assert!(panic.backtrace().is_some());
    /// ```
    pub fn backtrace(&self) -> Option<&Backtrace> {
        self.0.backtrace.as_ref()
    }

    /// Takes the payload of the panic, the same value that [`catch_unwind`] returns. Returns `None` if the
    /// payload was taken before, through this value or a clone.
    ///
    /// ```
    /// use executor::{JoinError, ThreadPoolExecutor, prelude::*};
    ///
    /// #[derive(Debug, PartialEq)]
    /// struct Code(i32);
    ///
    /// let pool = ThreadPoolExecutor::fixed(1);
    /// let handle = pool.submit(|| std::panic::panic_any(Code(7)))?;
    /// let Err(JoinError::Panicked(panic)) = handle.join() else { panic!("it panics") };
    /// let code = panic.take_payload().and_then(|payload| payload.downcast::<Code>().ok());
    /// assert_eq!(code, Some(Box::new(Code(7))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take_payload(&self) -> Option<Box<dyn Any + Send>> {
        self.0.payload.lock().take()
    }

    /// Continues the panic on this thread with its payload (or with the message, if the payload was taken);
    /// the panic hook is not called a second time.
    ///
    /// ```
    /// # use executor::{FutureTask, JoinError};
    /// let FutureTask { task, handle } = FutureTask::new(|| -> u32 { panic!("no such file") });
    /// task.run();
    /// let Err(JoinError::Panicked(panic)) = handle.join() else { unreachable!() };
    /// let resumed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| -> () { panic.resume() }));
    /// assert_eq!(resumed.unwrap_err().downcast_ref(), Some(&"no such file"));
    /// ```
    ///
    /// # Panics
    /// This function always panics; that is its purpose.
    pub fn resume(self) -> ! {
        self.mark_read();
        let payload = self.take_payload().unwrap_or_else(|| Box::new(self.message().to_owned()));
        resume_unwind(payload)
    }

    /// Records the task that panicked, if there is one, and the handler that gets a report if no caller reads
    /// the panic.
    pub(crate) fn set_origin(&self, task: Option<String>, handler: Option<Arc<dyn PanicHandler>>) {
        let mut origin = self.0.origin.lock();
        origin.task = task.map(Into::into);
        let replaced = std::mem::replace(&mut origin.handler, handler);
        drop(origin);
        discard(replaced); // perhaps the last reference to a user's handler
    }

    /// Records that the task was cancelled before it panicked. So no joiner can read the panic.
    pub(crate) fn set_after_cancel(&self) {
        self.0.origin.lock().after_cancel = true;
    }

    /// Records that a caller has got this panic, so no handler needs a report.
    pub(crate) fn mark_read(&self) {
        // Relaxed: only the drop of the last clone reads the flag. The reference count of the `Arc` ensures
        // that this read happens after the store.
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
        let payload = self.payload.lock().take(); // a separate statement releases the lock before the drop
        discard(payload);
    }
}
// ANCHOR_END: unread

/// A closure of user code that is run once, on any thread.
pub(crate) type UserCode = Box<dyn FnOnce() + Send>;

/// Runs user code. If the code panics, returns the panic as an error.
pub(crate) fn contain<R>(user_code: impl FnOnce() -> R) -> Result<R, Panic> {
    // Unwind safety: after a panic, the values that the closure has captured are dropped, or they belong to
    // the user. User code never borrows the state of this crate.
    catch_unwind(AssertUnwindSafe(user_code)).map_err(Panic::new)
}

/// Drops a user's value, and catches a panic in its `Drop`. Only the panic hook reports that panic.
pub(crate) fn discard<V>(value: V) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // The `Drop` of this payload can panic again. So the payload is leaked: no further panic can follow.
        std::mem::forget(no_departure(payload));
    }
}

/// A guard that calls the closure when it is dropped, even while the thread unwinds.
#[must_use = "dropping it calls the closure at once"]
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    #[inline]
    fn drop(&mut self) {
        (self.0)();
    }
}

// ----- an unwinding that is no panic -----

/// The payload with which a shutdown hook unwinds when the hook calls `exit`. The thread that runs the hooks
/// catches this payload, with [`contain_unless_left`]. But a `catch_unwind` inside the hook, in the library
/// or in user code, may catch the payload first and drop it. The hook must not continue after its call of
/// `exit`, so the drop of the payload must not return. The drop blocks the thread until the process ends.
pub(crate) struct Departure(Option<UserCode>);

#[cfg_attr(not(feature = "signals"), expect(dead_code, reason = "only a shutdown hook is left in this way"))]
impl Departure {
    /// Makes the calling thread leave its hook by unwinding. If other code catches the unwinding and drops
    /// the payload, the drop runs `stay`, which does the remaining work and does not return.
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

/// Returns the payload. Does not return if the payload is a [`Departure`].
fn no_departure(payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    match payload.downcast::<Departure>() {
        Ok(departure) => {
            drop(departure);
            unreachable!("the drop of a departure does not return");
        }
        Err(payload) => payload,
    }
}

/// Runs user code, and catches a panic or a [`Departure`] that ends the code. The error is the panic, or
/// `None` if a departure has ended the code.
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

// ----- reports to a handler -----

/// A handler that gets reports of unread panics. Closures implement this trait. An [`Arc`] of a handler is
/// also a handler, so several pools can share one handler.
///
/// The thread that drops the last copy of the panic, usually the worker, calls the handler outside all locks.
/// A panic in the handler itself is caught and not reported again.
///
/// ```
/// use executor::{ThreadPoolExecutor, panics::PanicReport, prelude::*};
/// use std::sync::{Arc, mpsc};
///
/// let (tell, told) = mpsc::channel();
/// let handler = Arc::new(move |report: &PanicReport<'_>| tell.send(report.message.to_owned()).unwrap());
/// for _ in 0..2 {
///     let pool = ThreadPoolExecutor::builder().panic_handler(Arc::clone(&handler)).build()?;
///     pool.execute(|| panic!("no such file"))?;
///     assert_eq!(told.recv()?, "no such file");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "UncaughtExceptionHandler")]
pub trait PanicHandler: Send + Sync {
    /// Handles the report of a panic that no caller has read, or of a starvation error that no task has read
    /// (see [`PanicReport::starved`]).
    ///
    /// ```
    /// use executor::panics::{PanicHandler, PanicReport};
    /// use std::sync::Mutex;
    ///
    /// #[derive(Default)]
    /// struct Log(Mutex<Vec<String>>);
    ///
    /// impl PanicHandler for Log {
    ///     fn panicked(&self, report: &PanicReport<'_>) {
    ///         self.0.lock().unwrap().push(report.message.to_owned());
    ///     }
    /// }
    /// # use executor::{ThreadPoolExecutor, prelude::*};
    /// # let log = std::sync::Arc::new(Log::default());
    /// # let pool = ThreadPoolExecutor::builder().panic_handler(std::sync::Arc::clone(&log)).build()?;
    /// # pool.execute(|| panic!("no such file"))?;
    /// # pool.close();
    /// assert_eq!(*log.0.lock().unwrap(), ["no such file"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

/// The facts that a handler gets about a panic, or about a [starvation deadlock](crate::Starvation). The text
/// of a report is one line for a log; if there is a backtrace, it is below this line.
///
/// ```
/// use executor::{ThreadPoolExecutor, panics::PanicReport, prelude::*};
/// use std::sync::mpsc;
///
/// let (tell, told) = mpsc::channel();
/// let pool = ThreadPoolExecutor::builder()
///     .name("indexer")
///     .panic_handler(move |report: &PanicReport<'_>| tell.send(report.to_string()).unwrap())
///     .build()?;
/// pool.execute(executor::Task::new(|| panic!("no such file")).named("index"))?;
/// assert_eq!(told.recv()?, "task index panicked on thread indexer-thread-1: no such file");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PanicReport<'a> {
    /// The message of the panic. For a starvation, a text that names the tasks and says for which task each
    /// of them waits.
    pub message: &'a str,
    /// The thread that panicked or starved, if it has a name.
    pub thread: Option<&'a str>,
    /// The name or id of the task; `None` for a callback or a hook of a pool.
    pub task: Option<&'a str>,
    /// The backtrace of the panic, if [`install_hook`] was called before.
    pub backtrace: Option<&'a Backtrace>,
    /// True if the task was cancelled while it ran. In this case, the task's handle could not return the
    /// panic.
    pub after_cancel: bool,
    /// True if no code has panicked, but the task has starved: it waited for a result that could never
    /// arrive, got a [`Starvation`](crate::Starvation) as an error, and has not read the error.
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
            return write!(f, "{} (nobody has read this error)", self.message); // the message names the task and the thread
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

/// Sets the handler of the process, which gets the panics of all pools that do not have their own handler.
/// Returns the previous handler, so that the caller can restore it later. A thread that is calling the
/// previous handler keeps that handler until the call has returned.
///
/// ```
/// use std::sync::Arc;
/// use executor::panics::{PanicReport, set_handler, take_handler};
///
/// let before = set_handler(Arc::new(|report: &PanicReport<'_>| eprintln!("while it starts: {report}")));
/// assert!(before.is_none()); // there was no handler
/// let handler = take_handler();
/// assert!(handler.is_some());
/// ```
pub fn set_handler(handler: Arc<dyn PanicHandler>) -> Option<Arc<dyn PanicHandler>> {
    HANDLER.write().unwrap_or_else(PoisonError::into_inner).replace(handler)
}

/// Removes and returns the handler of the process, if there is one. If the process has no handler, the unread
/// panics of pools without a handler of their own are not reported.
///
/// ```
/// use std::sync::Arc;
/// use executor::panics::{PanicReport, set_handler, take_handler};
///
/// set_handler(Arc::new(|report: &PanicReport<'_>| eprintln!("{report}")));
/// assert!(take_handler().is_some());
/// assert!(take_handler().is_none());
/// ```
pub fn take_handler() -> Option<Arc<dyn PanicHandler>> {
    HANDLER.write().unwrap_or_else(PoisonError::into_inner).take()
}

/// Installs a panic hook that takes a backtrace of every panic, for
/// [`Panic::backtrace`](crate::Panic::backtrace) and the reports.
///
/// A backtrace can only be taken where the panic happens, in the panic hook of the process. The new hook
/// calls the previous hook first. A second call of `install_hook` does nothing. The first backtrace costs
/// milliseconds.
///
/// ```
/// # use executor::{FutureTask, JoinError};
/// executor::panics::install_hook();
/// let FutureTask { task, handle } = FutureTask::new(|| -> u32 { panic!("no such file") });
/// task.run();
/// let Err(JoinError::Panicked(panic)) = handle.join() else { unreachable!() };
/// assert!(panic.backtrace().is_some());
/// ```
pub fn install_hook() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            before(info);
            let taken = (PayloadKind::of(info.payload()), Backtrace::force_capture());
            let _ = BACKTRACE.try_with(|slot| slot.replace(Some(taken)));
        }));
    });
}

thread_local! {
    /// The backtrace of the last panic on this thread. The panic hook puts the backtrace here for the code
    /// that catches the panic. The models do not control this variable, because no other thread sees it.
    static BACKTRACE: RefCell<Option<(PayloadKind, Backtrace)>> = const { RefCell::new(None) };
}

/// The properties by which a payload is recognised before and after it is caught. The address of the payload
/// cannot identify it, because the payload moves into a box between the panic and the catch.
#[derive(PartialEq)]
struct PayloadKind {
    kind: TypeId,
    text: Option<Box<str>>,
}

impl PayloadKind {
    fn of(payload: &(dyn Any + Send)) -> Self {
        Self { kind: payload.type_id(), text: text_of(payload).map(Into::into) }
    }
}

fn text_of(payload: &(dyn Any + Send)) -> Option<&str> {
    let text = payload.downcast_ref::<&'static str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// Returns the backtrace of the panic with this payload, if that was the last panic on this thread. Returns
/// `None` if the user has caught a later panic, or passes an older payload on with `resume_unwind`.
pub(crate) fn captured_backtrace(payload: &(dyn Any + Send)) -> Option<Backtrace> {
    let (kind, backtrace) = BACKTRACE.try_with(RefCell::take).ok().flatten()?;
    (kind == PayloadKind::of(payload)).then_some(backtrace)
}

thread_local! {
    /// Panics that this thread has caught while it held a lock. The panics wait here until the lock is free,
    /// because a handler is user code, and user code must not run under a lock.
    static KEPT: RefCell<Vec<Panic>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a panic until the lock is free, or until this thread ends.
pub(crate) fn keep(panic: Panic) {
    let _ = KEPT.try_with(|kept| kept.borrow_mut().push(panic));
}

pub(crate) fn any_kept() -> bool {
    KEPT.try_with(|kept| !kept.borrow().is_empty()).unwrap_or(false)
}

/// Takes the panics that were kept. When the returned panics are dropped, they are reported.
pub(crate) fn take_kept() -> Vec<Panic> {
    KEPT.try_with(RefCell::take).unwrap_or_default()
}

pub(crate) fn report(handler: Option<Arc<dyn PanicHandler>>, report: &PanicReport<'_>) {
    let handler = handler.or_else(|| HANDLER.read().unwrap_or_else(PoisonError::into_inner).clone());
    let Some(handler) = handler else { return };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| handler.panicked(report))) {
        std::mem::forget(no_departure(payload)); // the drop of the payload could panic, too
    }
    discard(handler); // perhaps the last reference, if the handler was replaced meanwhile
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
