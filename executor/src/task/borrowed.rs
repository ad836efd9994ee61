//! Work that borrows from the stack of the thread that waits for it.
//!
//! A task that an executor keeps for as long as it likes can own data, and cannot borrow any. Half of a sort
//! borrows half of a slice. That is sound as long as the frame with the slice does not go away before the
//! half has been run, or dropped. Here are the two ways to make sure of it:
//!
//! * [`lend`] is for one closure, of a function that waits for it: the second half of a
//!   [`join`](crate::fork_join::join). Neither it nor its result is ever put on the heap.
//! * [`ScopedJobs`] is for any number of closures, of a [`scope`](crate::ExecutorExt::scope) that waits for
//!   all of them.
//!
//! In both, a closure is taken by exactly one: it is behind a [`JobRef`] or a [`ScopedJob`], which is run or
//! dropped by value.
//!
//! ```text
//!             ┌── run ───▶ result written ──┐
//!   lent ─────┤                             ├──▶ done ──▶ the lender reads the result and leaves its frame
//!             └── dropped ──────────────────┘
//! ```
//!
//! # Unsafe code
//!
//! A frame's lifetime is erased, which safe Rust cannot express. The invariants:
//!
//! 1. A frame with something in it that was lent leaves only when that was dropped, or has run to its end.
//!    [`lend`] and [`ScopedJobs::keep`] see to it with a guard, so it holds if they unwind, too. A `JobRef`
//!    or a `ScopedJob` that is leaked keeps its lender waiting without end, and nothing else.
//! 2. A closure and its result are accessed by the owner of the `JobRef` until `done` is set, with Release,
//!    and by the lender after it has seen that, with Acquire. The thread that sets it touches nothing of the
//!    frame afterwards.
//! 3. The closure and its result are `Send`, because both may cross over to another thread.
#![allow(unsafe_code, reason = "the lifetime of what is borrowed is erased")]

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::mem;
use std::ptr::NonNull;
use std::task::Waker;

use crate::ids::{ThreadKey, this_thread};
use crate::panics::{Panic, contain, discard};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, Mutex, UnsafeCell};

// ----- one closure -----

/// Lends `f` while `during` runs, and gives the results of both; of `f` nothing, if it was dropped unrun.
///
/// `publish` is given `f`, to be run or dropped on whichever thread. After `during`, also if that panics,
/// `settle` is called until `f` is done. It takes `f` back, or waits. It is told whether this thread unwinds.
pub(crate) fn lend<F, R, S, A>(
    f: F,
    publish: impl FnOnce(JobRef) -> S,
    during: impl FnOnce() -> A,
    settle: impl Fn(&S, Unwinding),
) -> (A, Option<Result<R, Panic>>)
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    let frame = StackJob { body: UnsafeCell::new(StackJobBody::Closure(f)), done: AtomicBool::new(false) };
    let published = {
        let no_way_back = AbortOnUnwind; // it may have been published by then
        let published = publish(JobRef::of(&frame));
        mem::forget(no_way_back);
        published
    };
    let mut until_done = UntilDone { done: &frame.done, published, settle, unwinding: Unwinding(true) };
    let result = during();
    until_done.unwinding = Unwinding(false);
    drop(until_done);
    match frame.body.into_inner() {
        StackJobBody::Result(lent) => (result, Some(lent)),
        StackJobBody::Closure(_) | StackJobBody::Gone => (result, None),
    }
}

/// What publishes a job is this crate's own and does not panic. If it does, it is not known whether the frame
/// may go.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// Whether a thread unwinds while it settles what it has lent. Then it must not run users' code.
#[derive(Clone, Copy)]
pub(crate) struct Unwinding(pub(crate) bool);

/// Keeps a frame until what was lent of it is done.
struct UntilDone<'a, S, W: Fn(&S, Unwinding)> {
    done: &'a AtomicBool,
    published: S,
    settle: W,
    unwinding: Unwinding,
}

impl<S, W: Fn(&S, Unwinding)> Drop for UntilDone<'_, S, W> {
    fn drop(&mut self) {
        while !self.done.load(Ordering::Acquire) {
            (self.settle)(&self.published, self.unwinding);
        }
    }
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

/// A closure in a lender's frame, without its type. Running or dropping it is what its lender waits for.
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

    /// Runs the closure. A panic in it is its result.
    pub(crate) fn run(self) {
        let this = mem::ManuallyDrop::new(self);
        // SAFETY: `frame` is of the types that `end` was made for. It is there until `end` has set `done`
        // (invariant 1), and this is the only call for it: `self` is consumed.
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
/// `frame` is a `StackJob<F, R>`, is there until its `done` is set, and this is called once for it.
unsafe fn end<F: FnOnce() -> R + Send, R: Send>(frame: NonNull<()>, run: bool) {
    let frame: *const StackJob<F, R> = frame.cast().as_ptr();
    // SAFETY: the caller promises that the frame is there. Until `done` is set, its body is this thread's
    // alone.
    unsafe {
        let body = (*frame).body.with_mut(|body| mem::replace(&mut *body, StackJobBody::Gone));
        let StackJobBody::Closure(f) = body else { unreachable!("it is taken once") };
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

/// Closures that borrow for `'scope`, and are lent for as long as [`keep`](Self::keep) runs.
pub(crate) struct ScopedJobs<'scope> {
    record: Arc<ScopeRecord>,
    /// Invariant in `'scope`: it must be neither shortened nor prolonged.
    scope: PhantomData<&'scope mut &'scope ()>,
}

/// What there is to know of the loans of a scope.
#[derive(Default)]
pub(crate) struct ScopeRecord {
    state: Mutex<ScopeRecordState>,
}

#[derive(Default)]
struct ScopeRecordState {
    is_open: bool,
    /// How many closures are there, or run.
    lent: usize,
    /// Those that may not have begun, in the order in which they were lent.
    unbegun: VecDeque<Arc<ScopedJobSlot>>,
    /// Where those are that have begun, a thread for each.
    running: Vec<ThreadKey>,
    lender: Option<Waker>,
}

/// Where a closure is until a thread takes it.
struct ScopedJobSlot {
    closure: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    record: Arc<ScopeRecord>,
}

/// A closure that was lent, or what is left when another thread has taken it. Dropping it drops the closure.
pub(crate) struct ScopedJob(Arc<ScopedJobSlot>);

/// What its lender can take a closure back with.
pub(crate) struct Claim(Arc<ScopedJobSlot>);

impl Claim {
    /// Drops the closure. False if another thread has taken it.
    pub(crate) fn revoke(self) -> bool {
        ScopedJobSlot::end(&self.0, false)
    }
}

impl<'scope> ScopedJobs<'scope> {
    pub(crate) fn new() -> Self {
        Self { record: Arc::default(), scope: PhantomData }
    }

    /// Runs `during`, and returns when all that was lent meanwhile was run or dropped; also if it unwinds.
    /// `settle` is called until that is so. It takes closures back, or waits.
    pub(crate) fn keep<A>(&self, during: impl FnOnce() -> A, settle: impl Fn(Unwinding)) -> A {
        let mut until_done = UntilSettled { record: &self.record, settle, unwinding: Unwinding(true) };
        self.record.state.lock().is_open = true;
        let result = during();
        until_done.unwinding = Unwinding(false);
        drop(until_done);
        result
    }

    /// Lends a closure, which contains its own panics. With the claim it can be taken back.
    ///
    /// # Panics
    /// Outside [`keep`](Self::keep).
    pub(crate) fn lend(&self, f: impl FnOnce() + Send + 'scope) -> (ScopedJob, Claim) {
        let f: Box<dyn FnOnce() + Send + 'scope> = Box::new(f);
        // SAFETY: `keep` returns only when the closure was dropped or has run (invariant 1), and `'scope` is
        // alive until then, since a `ScopedJobs<'scope>` is an argument of it. Whether it runs is asked
        // below, before the closure can get away.
        let f: Box<dyn FnOnce() + Send> = unsafe { mem::transmute(f) };
        let slot = Arc::new(ScopedJobSlot { closure: Mutex::new(Some(f)), record: Arc::clone(&self.record) });
        let mut state = self.record.state.lock();
        assert!(state.is_open, "the scope is over");
        state.lent += 1;
        state.unbegun.push_back(Arc::clone(&slot));
        let lender = state.lender.take(); // it may want to run this one
        drop(state);
        if let Some(lender) = lender {
            lender.wake();
        }
        (ScopedJob(Arc::clone(&slot)), Claim(slot))
    }

    /// Takes the closure back that was lent first and has not begun.
    pub(crate) fn take_back(&self) -> Option<ScopedJob> {
        let slot = self.record.state.lock().unbegun.pop_front();
        slot.map(ScopedJob)
    }

    pub(crate) fn has_unbegun(&self) -> bool {
        !self.record.state.lock().unbegun.is_empty()
    }

    pub(crate) fn record(&self) -> &Arc<ScopeRecord> {
        &self.record
    }

    /// Whether none is there and none runs. If not, the waker is called when that is so.
    pub(crate) fn are_settled(&self, waker: &Waker) -> bool {
        let mut state = self.record.state.lock();
        if state.lent > 0 {
            state.lender = Some(waker.clone());
        }
        state.lent == 0
    }
}

impl ScopeRecord {
    /// The closure of this slot was taken by the calling thread.
    fn begin(&self, slot: &Arc<ScopedJobSlot>) -> RunningScopedJob<'_> {
        let thread = this_thread();
        let mut state = self.state.lock();
        state.running.push(thread);
        // Most are taken in the order in which they were lent.
        let place = state.unbegun.iter().position(|other| Arc::ptr_eq(other, slot));
        let known = place.and_then(|place| state.unbegun.remove(place));
        drop(state);
        drop(known);
        RunningScopedJob(self, thread)
    }

    /// The threads on which closures run.
    pub(crate) fn threads(&self) -> Vec<ThreadKey> {
        self.state.lock().running.clone()
    }
}

/// Keeps a scope until all that was lent in it is done.
struct UntilSettled<'a, W: Fn(Unwinding)> {
    record: &'a ScopeRecord,
    settle: W,
    unwinding: Unwinding,
}

impl<W: Fn(Unwinding)> Drop for UntilSettled<'_, W> {
    fn drop(&mut self) {
        loop {
            let mut state = self.record.state.lock();
            if state.lent == 0 {
                state.is_open = false;
                return;
            }
            drop(state);
            (self.settle)(self.unwinding);
        }
    }
}

/// A closure that was taken counts as lent until this is dropped, after the closure.
struct RunningScopedJob<'a>(&'a ScopeRecord, ThreadKey);

impl Drop for RunningScopedJob<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.lent -= 1;
        let place = state.running.iter().position(|&thread| thread == self.1).expect("it was entered");
        state.running.swap_remove(place);
        let lender = if state.lent == 0 { state.lender.take() } else { None };
        drop(state);
        if let Some(lender) = lender {
            lender.wake();
        }
    }
}

impl ScopedJobSlot {
    fn end(this: &Arc<Self>, run: bool) -> bool {
        let taken = this.closure.lock().take();
        let Some(closure) = taken else { return false };
        let _taken = this.record.begin(this);
        if run {
            discard(contain(closure));
        } else {
            discard(closure);
        }
        true
    }
}

impl ScopedJob {
    /// Runs the closure. False if another thread has taken it.
    pub(crate) fn run(self) -> bool {
        ScopedJobSlot::end(&self.0, true)
    }
}

impl Drop for ScopedJob {
    fn drop(&mut self) {
        ScopedJobSlot::end(&self.0, false);
    }
}
