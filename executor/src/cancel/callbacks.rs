//! How deep users' code nests that the library calls: as deep as is useful, and no deeper.
//!
//! A callback may complete a promise, whose callback completes the next, and so on. If each is called where
//! it is due, each lies on the stack above the one before, and a long chain overflows it, which ends the
//! process. So callbacks are called directly up to a depth of [`DEPTH`]. One that is due deeper down is *deferred*:
//! the thread calls it as soon as the one that it is in the middle of has returned.
//!
//! ```text
//!   callback 1 ─▶ callback 2 ─▶ … ─▶ callback 32, returns
//!                                    callback 33, returns      (was due inside callback 32)
//!                                    callback 34, returns      (was due inside callback 33)
//! ```
//!
//! Why not put all of them off? Because then `complete` and `cancel` would return to a callback before the
//! callbacks that they bring about have run. Up to that depth they keep what they promise.
//!
//! The `Drop` of what a task has captured or returned is such code, too: it may drop the last copy of another
//! task.
//!
//! # A callback that waits
//!
//! What was deferred may be the very thing that brings about what the callback around it waits for. So a
//! thread that is about to block calls what it has deferred first, on top of the wait. One of those may wait
//! in its turn, with the next one on top. That, too, goes to a depth of [`DEPTH`]. A thread that is about to
//! block deeper down *gives away* what it has put off: another thread, which is started for it, calls it from
//! the bottom of an empty stack, and this one blocks.
//!
//! ```text
//!   callback 32, waits ─▶ callback 33, waits ─▶ … ─▶ callback 64, waits
//!                                                         └─gives away─▶ another thread: callback 65 ─▶ callback 66 ─▶ …
//! ```
//!
//! # Invariants
//!
//! 1. Only users' code is deferred. The outcome of a task is decided, tokens are marked and waiters are let
//!    go at once.
//! 2. Callbacks that are deferred run in the order in which they were due, on the thread on which they were
//!    due, or, if they are given away, on the one that they are given to.
//! 3. What is deferred has been called before the outermost callback returns, and was called or given away
//!    before this thread blocks in this crate. So no thread waits for a callback that lies behind it.
//! 4. On one stack lie [`DEPTH`] callbacks inside each other, and on top of them [`DEPTH`] inside waits, and
//!    no more. (If the system gives no thread, those that would be given away are called where they are. The
//!    alternative is a hang.)

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem::{self, ManuallyDrop};

use crate::panics::{contain, discard};
use crate::sync::{Arc, Mutex, thread, thread_local};

/// A stack of two megabytes bears twice this many with a wide margin, and hardly a program nests them more
/// than a few times.
const DEPTH: usize = 32;

type DeferredCallback = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Nesting {
    /// How many callbacks are called inside each other.
    depth: usize,
    /// How many waits have callbacks on top of them that were deferred.
    waits: usize,
    deferred: VecDeque<DeferredCallback>,
}

thread_local! {
    /// Not dropped when the thread ends, so it is there for the destructors of users' thread-locals, too. By
    /// then nothing is in it.
    static NESTING: ManuallyDrop<RefCell<Nesting>> = ManuallyDrop::default();
}

/// `None` only on a system that takes even such a thread-local away before the thread has ended: then nothing
/// is deferred.
fn with_nesting<R>(f: impl FnOnce(&mut Nesting) -> R) -> Option<R> {
    NESTING.try_with(|nesting| f(&mut nesting.borrow_mut())).ok()
}

/// Calls a user's code, now or, if this is deep inside other callbacks, soon. A panic in it is contained.
pub(crate) fn call(callback: impl FnOnce() + Send + 'static) {
    if !enter() {
        return defer(Box::new(callback));
    }
    discard(contain(callback));
    call_deferred();
    leave();
}

/// Drops a user's value as [`call`] calls a callback.
pub(crate) fn drop_value(value: impl Send + 'static) {
    call(move || drop(value));
}

// Not part of `call`, of which there is one for every callback's type.

/// False if this is too deep.
fn enter() -> bool {
    let enter = |nesting: &mut Nesting| {
        let enters = nesting.depth < DEPTH;
        nesting.depth += usize::from(enters);
        enters
    };
    with_nesting(enter) != Some(false)
}

fn defer(callback: DeferredCallback) {
    with_nesting(|nesting| nesting.deferred.push_back(callback));
}

fn leave() {
    with_nesting(|nesting| {
        nesting.depth -= 1;
        if nesting.depth == 0 {
            nesting.deferred = VecDeque::new(); // nothing is in it, and this gives its memory back
        }
    });
}

/// Calls what was deferred on this thread.
fn call_deferred() {
    while let Some(callback) = with_nesting(|nesting| nesting.deferred.pop_front()).flatten() {
        discard(contain(callback));
    }
}

/// To be called by a thread that is about to block: what it has deferred may bring about what it waits for.
#[inline]
pub(crate) fn about_to_block() {
    if with_nesting(|nesting| !nesting.deferred.is_empty()) == Some(true) {
        see_to_deferred();
    }
}

#[cold]
fn see_to_deferred() {
    let too_deep = |nesting: &mut Nesting| {
        if nesting.waits == DEPTH {
            return Some(mem::take(&mut nesting.deferred));
        }
        nesting.waits += 1;
        None
    };
    if let Some(callbacks) = with_nesting(too_deep).flatten() {
        return give_away(callbacks);
    }
    call_deferred();
    with_nesting(|nesting| nesting.waits -= 1);
}

/// Has another thread call them, or, if there is none to be had, calls them here.
fn give_away(callbacks: VecDeque<DeferredCallback>) {
    // What is given to `spawn` is lost if it fails, so it waits beside it.
    let slot = Arc::new(Mutex::new(callbacks));
    let given = Arc::clone(&slot);
    let call_all = move || take_all(&given).into_iter().for_each(call);
    if thread::Builder::new().name("executor-callbacks".to_owned()).spawn(call_all).is_err() {
        for callback in take_all(&slot) {
            discard(contain(callback));
        }
    }
}

fn take_all(slot: &Mutex<VecDeque<DeferredCallback>>) -> VecDeque<DeferredCallback> {
    mem::take(&mut *slot.lock())
}
