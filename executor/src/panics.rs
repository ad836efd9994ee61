//! The handlers of panics that no handle tells of.
//!
//! Rust's panic hook prints each panic when it happens, with the thread's name, to stderr. That is the end of it for a
//! task that was handed over with `execute`, or whose handle was dropped: a program that writes its log elsewhere, or
//! counts failures, or restarts what failed, learns nothing. So a [`Panic`] knows whether it was
//! looked at, and one that was not goes to a handler when its last copy is dropped: to that of its pool
//! ([`ThreadPoolBuilder::panic_handler`](crate::ThreadPoolBuilder::panic_handler)) or else to that of the process
//! ([`set_handler`]). *Looked at* means returned by a join or a poll, or passed to `on_done`.
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
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Panic, discard};
use crate::sync::Arc;
use crate::sync::process::{OnceLock, PoisonError, RwLock, thread_local};

/// Hears of panics. Implemented for closures.
///
/// Called by the thread that drops the last copy of the panic, mostly the worker, outside all locks. A panic in the
/// handler itself is contained and not reported again.
#[doc(alias = "UncaughtExceptionHandler")]
pub trait PanicHandler: Send + Sync {
    /// A task (or a callback) panicked, and the panic was never read.
    fn panicked(&self, report: &PanicReport<'_>);
}

impl<F: Fn(&PanicReport<'_>) + Send + Sync> PanicHandler for F {
    fn panicked(&self, report: &PanicReport<'_>) {
        self(report);
    }
}

/// What is known of a panic. Its `Display` is a line for a log, with the backtrace below it if there is one.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PanicReport<'a> {
    /// What the panic said.
    pub message: &'a str,
    /// The thread that panicked, if it has a name.
    pub thread: Option<&'a str>,
    /// The task, by name or id; none if it was a callback or a hook.
    pub task: Option<&'a str>,
    /// From where, if [`install_hook`] was called.
    pub backtrace: Option<&'a Backtrace>,
    /// The task had been cancelled while it ran, so its handle could not tell of the panic.
    pub after_cancel: bool,
}

impl fmt::Display for PanicReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// Sets the handler of the process, for panics whose pool has none of its own. Returns the one before; a thread that is
/// just calling it keeps it until it has returned.
pub fn set_handler(handler: impl PanicHandler + 'static) -> Option<Arc<dyn PanicHandler>> {
    let mut slot = HANDLER.write().unwrap_or_else(PoisonError::into_inner);
    slot.replace(Arc::new(handler))
}

/// Has a backtrace taken of every panic, for [`Panic::backtrace`](crate::Panic::backtrace) and the reports.
///
/// That can only be done where the panic happens, in the panic hook of the process. The hook that is there is called
/// first, and a second call of this does nothing. Taking a backtrace costs milliseconds the first time.
pub fn install_hook() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            before(info);
            let taken = Taken { of: What::is(info.payload()), backtrace: Backtrace::force_capture() };
            let _ = BACKTRACE.try_with(|slot| slot.replace(Some(taken)));
        }));
    });
}

thread_local! {
    /// From the hook, which knows the place of the panic, to the code that catches it. Not modelled: nothing is shared.
    static BACKTRACE: RefCell<Option<Taken>> = const { RefCell::new(None) };
}

struct Taken {
    of: What,
    backtrace: Backtrace,
}

/// What is known of a payload before and after it is caught. Its address is not: it is moved into a box in between.
#[derive(PartialEq)]
struct What {
    kind: TypeId,
    text: Option<Box<str>>,
}

impl What {
    fn is(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&'static str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self { kind: payload.type_id(), text: text.map(Into::into) }
    }
}

/// The backtrace of the panic with this payload, if that was the last on this thread. Another's may lie there: of a panic
/// that the user has caught, when this payload was passed on without a panic of its own.
pub(crate) fn captured_backtrace(payload: &(dyn Any + Send)) -> Option<Backtrace> {
    let taken = BACKTRACE.try_with(RefCell::take).ok().flatten()?;
    (taken.of == What::is(payload)).then_some(taken.backtrace)
}

thread_local! {
    /// Panics that this thread has caught while it held a lock. No user code runs under a lock, handlers included.
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
        std::mem::forget(payload); // it might panic once more when it is dropped
    }
    discard(handler); // it may have been replaced meanwhile, and this be the last of it
}
