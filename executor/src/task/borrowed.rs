//! Closures that borrow from the stack of the thread that waits for them.
//!
//! An executor can keep a task for any length of time, so a task must own its data and cannot borrow. But a
//! closure that sorts half of a slice borrows that half. The borrow is sound if the stack frame with the
//! slice stays until the closure has run or was dropped. There are two ways to keep the frame for so long:
//!
//! * [`lend`] is for one closure, for which the calling function waits: the second half of a
//!   [`join`](crate::fork_join::join). Neither the closure nor its result is ever on the heap.
//! * [`ScopedJobs`] is for any number of closures of a [`scope`](crate::ExecutorExt::scope), which waits for
//!   all of them.
//!
//! Exactly one thread takes a lent closure. A [`JobRef`] or a [`ScopedJob`] refers to the closure. The thread
//! that takes the closure consumes this reference: it runs the closure or drops the closure.
//!
//! ```text
//!             ┌── run ───▶ result written ──┐
//!   lent ─────┤                             ├──▶ done ──▶ the lender reads the result and leaves its frame
//!             └── dropped ──────────────────┘
//! ```
//!
//! # Unsafe code
//!
//! This module erases the lifetime of a stack frame, which safe Rust cannot express. The invariants:
//!
//! 1. If a closure borrows from a stack frame, the frame stays until the closure was dropped or has run to its end.
//!    A guard in [`lend`] and in [`ScopedJobs::keep`] waits for the closure's end, also during unwinding. A leaked
//!    `JobRef` or `ScopedJob` makes its lender wait for ever, but does no other harm.
//! 2. Until `done` is set with Release, only the owner of the `JobRef` accesses the closure and its result.
//!    The lender accesses the closure and its result only after it has read `done` with Acquire. The thread
//!    that sets `done` does not touch the frame afterwards.
//! 3. The closure and its result are `Send`, because both can move to another thread.
#![allow(unsafe_code, reason = "the lifetime of what is borrowed is erased")]

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::task::Waker;
use std::{mem, process};

use crate::ids::{ThreadKey, this_thread};
use crate::panics::{OnDrop, Panic, contain, discard};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex, UnsafeCell};

// ----- one closure -----

/// Lends `f` while `during` runs, and returns the results of both. If `f` was dropped before it ran, its
/// result is `None`.
///
/// `publish` gets a reference to `f`, which any thread may run or drop. After `during`, even if `during`
/// panics, `settle` is called again and again until `f` is done. `settle` takes `f` back, or waits. The last
/// argument of `settle` is true if this thread unwinds: in that case `settle` must not run users' code.
pub(crate) fn lend<F, R, S, A>(
    f: F,
    publish: impl FnOnce(JobRef) -> S,
    during: impl FnOnce() -> A,
    settle: impl Fn(&S, bool),
) -> (A, Option<Result<R, Panic>>)
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    let frame = StackJob { body: UnsafeCell::new(StackJobBody::Closure(f)), done: AtomicBool::new(false) };
    let published = {
        // `publish` is code of this crate and does not panic. After a panic of `publish`, another thread
        // might already have the reference.
        let no_way_back = OnDrop(|| process::abort());
        let published = publish(JobRef::of(&frame));
        mem::forget(no_way_back);
        published
    };
    let done = &frame.done;
    let is_done = move || done.load(Ordering::Acquire);
    let result = keep_frame(during, is_done, move |unwinding| settle(&published, unwinding));
    match frame.body.into_inner() {
        StackJobBody::Result(lent) => (result, Some(lent)),
        StackJobBody::Closure(_) | StackJobBody::Gone => (result, None),
    }
}

/// Runs `during`, and then calls `settle` again and again until `is_done` returns true. If `during` has
/// panicked, the unwinding then continues. The argument of `settle` says whether this thread unwinds.
#[inline]
fn keep_frame<A>(during: impl FnOnce() -> A, is_done: impl Fn() -> bool, settle: impl Fn(bool)) -> A {
    let until_done = move |unwinding| {
        while !is_done() {
            settle(unwinding);
        }
    };
    let if_it_unwinds = OnDrop(|| until_done(true));
    let result = during();
    mem::forget(if_it_unwinds);
    until_done(false);
    result
}

struct StackJob<F, R> {
    body: UnsafeCell<StackJobBody<F, R>>,
    done: AtomicBool,
}

enum StackJobBody<F, R> {
    Closure(F),
    Result(Result<R, Panic>),
    Gone,
}

/// A closure in a lender's frame, without its type. The lender waits until this closure is run or
/// dropped.
pub(crate) struct JobRef {
    frame: NonNull<()>,
    /// Consumes the closure: runs it, or drops it.
    end: unsafe fn(NonNull<()>, run: bool),
}

// SAFETY: invariant 3.
unsafe impl Send for JobRef {}

impl JobRef {
    fn of<F: FnOnce() -> R + Send, R: Send>(frame: &StackJob<F, R>) -> Self {
        Self { frame: NonNull::from(frame).cast(), end: end::<F, R> }
    }

    /// Runs the closure. A panic in the closure becomes the result of the closure.
    pub(crate) fn run(self) {
        let this = mem::ManuallyDrop::new(self);
        // SAFETY: `frame` has the types for which `end` was made. The frame stays until `end` has set `done`
        // (invariant 1). `end` is called only once for each frame, because the call consumes `self`.
        unsafe { (this.end)(this.frame, true) };
    }
}

impl Drop for JobRef {
    fn drop(&mut self) {
        // SAFETY: as in `run`.
        unsafe { (self.end)(self.frame, false) };
    }
}

/// # Safety
/// `frame` must point to a `StackJob<F, R>` that stays until its `done` is set. `end` must be called only
/// once for a frame.
unsafe fn end<F: FnOnce() -> R + Send, R: Send>(frame: NonNull<()>, run: bool) {
    let frame: *const StackJob<F, R> = frame.cast().as_ptr();
    // SAFETY: the caller promises that the frame exists. Until `done` is set, only this thread accesses the
    // body in the frame.
    unsafe {
        let body = (*frame).body.with_mut(|body| mem::replace(&mut *body, StackJobBody::Gone));
        let StackJobBody::Closure(f) = body else { unreachable!("a closure is taken once") };
        if run {
            let result = contain(f);
            (*frame).body.with_mut(|body| *body = StackJobBody::Result(result));
        } else {
            discard(f);
        }
        (*frame).done.store(true, Ordering::Release);
    }
}

// ----- any number of closures -----

/// Closures that borrow for `'scope`. The closures are lent only while [`keep`](Self::keep) runs.
pub(crate) struct ScopedJobs<'scope> {
    record: Arc<Mutex<ScopeRecord>>,
    /// This marker makes the type invariant in `'scope`: the compiler must neither shorten nor
    /// prolong that lifetime.
    scope: PhantomData<&'scope mut &'scope ()>,
}

/// The state of a scope's lent closures, without the lifetime.
#[derive(Default)]
pub(crate) struct ScopeRecord {
    is_open: bool,
    /// The number of closures that have not begun or are running.
    lent: usize,
    /// The closures that perhaps have not begun yet, in the order in which they were lent.
    unbegun: VecDeque<Arc<ScopedJobSlot>>,
    /// For each closure that has begun: the thread that runs the closure.
    running: Vec<ThreadKey>,
    lender: Option<Waker>,
}

/// Holds a closure until a thread takes it.
struct ScopedJobSlot {
    closure: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    record: Arc<Mutex<ScopeRecord>>,
}

/// A reference to a lent closure. Another thread may have taken the closure already. If no thread has taken
/// the closure, the closure is dropped when the reference is dropped.
pub(crate) struct ScopedJob(Arc<ScopedJobSlot>);

impl<'scope> ScopedJobs<'scope> {
    pub(crate) fn new() -> Self {
        Self { record: Arc::default(), scope: PhantomData }
    }

    /// Runs `during`, and returns or unwinds only when all closures that were lent during the call have run
    /// or were dropped. Until then, `keep` calls `settle` again and again: each call of `settle` takes
    /// closures back, or waits. The argument of `settle` is true if this thread unwinds: in that case
    /// `settle` must not run users' code.
    pub(crate) fn keep<A>(&self, during: impl FnOnce() -> A, settle: impl Fn(bool)) -> A {
        self.record.lock().is_open = true;
        let are_settled = || {
            let mut record = self.record.lock();
            record.is_open = record.lent > 0;
            !record.is_open
        };
        keep_frame(during, are_settled, settle)
    }

    /// Lends a closure, which must catch its own panics. The second result is a function that takes the
    /// closure back: it drops the closure, or returns false if another thread has taken the closure.
    ///
    /// # Panics
    /// Outside [`keep`](Self::keep).
    pub(crate) fn lend(&self, f: impl FnOnce() + Send + 'scope) -> (ScopedJob, impl FnOnce() -> bool) {
        let f: Box<dyn FnOnce() + Send + 'scope> = Box::new(f);
        // SAFETY: `keep` returns only when the closure was dropped or has run (invariant 1). `'scope` is
        // alive until then, because a `ScopedJobs<'scope>` is an argument of `keep`. Before another thread
        // can reach the closure, the assertion below checks that `keep` is running.
        let f: Box<dyn FnOnce() + Send> = unsafe { mem::transmute(f) };
        let slot = Arc::new(ScopedJobSlot { closure: Mutex::new(Some(f)), record: Arc::clone(&self.record) });
        let mut record = self.record.lock();
        assert!(record.is_open, "the scope is over");
        record.lent += 1;
        record.unbegun.push_back(Arc::clone(&slot));
        let lender = record.lender.take(); // perhaps it runs this closure itself
        drop(record);
        lender.into_iter().for_each(Waker::wake);
        (ScopedJob(Arc::clone(&slot)), move || ScopedJobSlot::end(&slot, false))
    }

    /// Takes back the first lent closure that has not begun.
    pub(crate) fn take_back(&self) -> Option<ScopedJob> {
        let slot = self.record.lock().unbegun.pop_front();
        slot.map(ScopedJob)
    }

    pub(crate) fn has_unbegun(&self) -> bool {
        !self.record.lock().unbegun.is_empty()
    }

    pub(crate) fn record(&self) -> &Arc<Mutex<ScopeRecord>> {
        &self.record
    }

    /// Returns true if each lent closure has run or was dropped. If some closures are left, keeps the waker:
    /// the thread that ends the last of these closures calls the waker.
    pub(crate) fn are_settled(&self, waker: &Waker) -> bool {
        let mut record = self.record.lock();
        if record.lent > 0 {
            record.lender = Some(waker.clone());
        }
        record.lent == 0
    }
}

impl ScopeRecord {
    /// Returns the threads on which closures run.
    pub(crate) fn threads(&self) -> Vec<ThreadKey> {
        self.running.clone()
    }
}

impl ScopedJobSlot {
    /// Consumes the closure: runs it, or drops it. Returns false if another thread has taken the closure.
    fn end(this: &Arc<Self>, run: bool) -> bool {
        let taken = this.closure.lock().take();
        let Some(closure) = taken else { return false };
        let thread = this_thread();
        Self::begin(this, thread);
        // The calls below do not unwind. The closure counts as lent until it has been dropped.
        if run {
            discard(contain(closure));
        } else {
            discard(closure);
        }
        let mut record = this.record.lock();
        record.lent -= 1;
        let place = record.running.iter().position(|&other| other == thread).expect("begin added it");
        record.running.swap_remove(place);
        let lender = if record.lent == 0 { record.lender.take() } else { None };
        drop(record);
        lender.into_iter().for_each(Waker::wake);
        true
    }

    /// Records that this thread has taken the closure.
    fn begin(this: &Arc<Self>, thread: ThreadKey) {
        let mut record = this.record.lock();
        record.running.push(thread);
        // The search starts at the front, because threads take most closures in the order in which they were
        // lent.
        let place = record.unbegun.iter().position(|other| Arc::ptr_eq(other, this));
        let known = place.and_then(|place| record.unbegun.remove(place));
        drop(record);
        drop(known);
    }
}

impl ScopedJob {
    /// Runs the closure. Returns false if another thread has taken the closure.
    pub(crate) fn run(self) -> bool {
        ScopedJobSlot::end(&self.0, true)
    }
}

impl Drop for ScopedJob {
    fn drop(&mut self) {
        ScopedJobSlot::end(&self.0, false);
    }
}
