//! How deeply calls of user code can nest, and which of these calls the library defers.
//!
//! A callback may complete a promise; the callback of that promise completes the next promise, and so on. If
//! a callback is called at once, its stack frame is on top of the stack frame of the previous callback. A
//! long chain of such calls can overflow the stack, and a stack overflow ends the process. So callbacks are
//! called directly only up to a depth of [`DEPTH`]. At a greater depth a callback is *deferred*: the thread
//! calls it as soon as the running callback has returned.
//!
//! ```text
//!   callback 1 ─▶ callback 2 ─▶ … ─▶ callback 32, returns
//!                                    callback 33, returns      (was due inside callback 32)
//!                                    callback 34, returns      (was due inside callback 33)
//! ```
//!
//! Deferring has a disadvantage: a call of `complete` or `cancel` inside a callback returns before its
//! deferred callbacks have run. So the library defers no callbacks up to a depth of [`DEPTH`]: a call of
//! `complete` or `cancel` then returns only after all its callbacks have run.
//!
//! The `Drop` of a value that a task has captured or returned is user code, too. The drops of these values
//! can nest: for example, a dropped value may be the last copy of another task, which is then dropped, too.
//!
//! # A callback that waits
//!
//! A callback can wait for an event that a deferred callback of the same thread causes. So a blocking call
//! first calls the deferred callbacks of the thread, and then blocks. If a deferred callback waits, too, the
//! thread calls the next deferred callbacks inside that second wait, and so on. Nested waits reach a depth of
//! at most [`DEPTH`]. Before a thread blocks at this depth, it *gives away* its deferred callbacks to a new
//! thread, which calls them on an empty stack.
//!
//! ```text
//!   callback 32, waits ─▶ callback 33, waits ─▶ … ─▶ callback 64, waits
//!                                                         └─gives away─▶ another thread: callback 65 ─▶ …
//! ```
//!
//! # Invariants
//!
//! 1. Only user code is deferred. Only user code is deferred: the library decides outcomes, marks tokens and
//!    releases waiters at once.
//! 2. Each thread runs its own deferred callbacks, in the order in which they were deferred. Callbacks that
//!    were given away run on the new thread.
//! 3. When the call of the outermost callback returns, all deferred callbacks have been called. Before a
//!    thread blocks in this crate, it has called its deferred callbacks or given them away. So no thread
//!    waits for a callback that can run only after this thread has stopped waiting.
//! 4. At most [`DEPTH`] directly called callbacks nest on one stack. On top of these callbacks, at most
//!    [`DEPTH`] callbacks can run inside waits. There is one exception. If no thread can be started, the
//!    blocking thread itself calls these callbacks. Without these calls, the blocking thread could wait for
//!    ever.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem::{self, ManuallyDrop};

use crate::panics::{UserCode, contain, discard};
use crate::sync::{Arc, Mutex, thread, thread_local};

/// The greatest depth of nesting. A stack of two megabytes has room for far more than twice [`DEPTH`]
/// callbacks. Most programs nest callbacks only a few levels deep.
const DEPTH: usize = 32;

#[derive(Default)]
struct Nesting {
    /// The current depth: how many callbacks of this thread are nested inside each other.
    depth: usize,
    /// The number of nested waits in which this thread is now calling deferred callbacks.
    waits: usize,
    deferred: VecDeque<UserCode>,
}

thread_local! {
    /// This value is not destroyed when the thread ends, so that the destructors of users' thread-local
    /// values can use it, too. The value is empty when the thread ends.
    static NESTING: ManuallyDrop<RefCell<Nesting>> = ManuallyDrop::default();
}

/// Runs `f` on the state of this thread. Returns `None` only on a system that removes the thread-local value
/// before the thread has ended. Then no call is deferred.
fn with_nesting<R>(f: impl FnOnce(&mut Nesting) -> R) -> Option<R> {
    NESTING.try_with(|nesting| f(&mut nesting.borrow_mut())).ok()
}

/// Calls user code at once, or defers the call if callbacks are already nested too deeply. Catches a panic of
/// the user code.
pub(crate) fn call(callback: impl FnOnce() + Send + 'static) {
    if !enter() {
        return defer(Box::new(callback));
    }
    discard(contain(callback));
    call_deferred();
    leave();
}

/// Drops a user's value at once, or defers the drop if callbacks are already nested too deeply.
pub(crate) fn drop_value(value: impl Send + 'static) {
    call(move || drop(value));
}

// The functions below are not a part of `call`, because the compiler compiles `call` anew for each type of
// callback.

/// Counts one more nested callback. If the nesting is too deep, returns false without counting the
/// callback.
fn enter() -> bool {
    let enter = |nesting: &mut Nesting| {
        let enters = nesting.depth < DEPTH;
        nesting.depth += usize::from(enters);
        enters
    };
    with_nesting(enter) != Some(false)
}

fn defer(callback: UserCode) {
    with_nesting(|nesting| nesting.deferred.push_back(callback));
}

fn leave() {
    with_nesting(|nesting| {
        nesting.depth -= 1;
        if nesting.depth == 0 {
            nesting.deferred = VecDeque::new(); // the old queue is empty; this frees its memory
        }
    });
}

/// Calls the deferred callbacks of this thread.
fn call_deferred() {
    while let Some(callback) = with_nesting(|nesting| nesting.deferred.pop_front()).flatten() {
        discard(contain(callback));
    }
}

/// Calls the deferred callbacks of a thread that is about to block. The thread may be about to wait for an
/// event that one of these callbacks causes.
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

/// Starts another thread that calls the callbacks. If no thread can be started, calls the callbacks
/// on this thread.
fn give_away(callbacks: VecDeque<UserCode>) {
    // If `spawn` fails, it drops its closure. So the callbacks are in a slot that both threads can reach.
    let slot = Arc::new(Mutex::new(callbacks));
    let given = Arc::clone(&slot);
    let call_all = move || take_all(&given).into_iter().for_each(call);
    if thread::Builder::new().name("executor-callbacks".to_owned()).spawn(call_all).is_err() {
        for callback in take_all(&slot) {
            discard(contain(callback));
        }
    }
}

fn take_all(slot: &Mutex<VecDeque<UserCode>>) -> VecDeque<UserCode> {
    mem::take(&mut *slot.lock())
}
