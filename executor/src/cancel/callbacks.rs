//! The nesting of users' code that the library calls: how deep it goes, and what is deferred.
//!
//! A callback may complete a promise, whose callback completes the next promise, and so on. If each callback
//! is called where it is due, each lies on the stack above the one before. A long chain then overflows the
//! stack, which ends the process. So callbacks are called directly up to a depth of [`DEPTH`]. A callback
//! that is due deeper down is *deferred*: the thread calls it as soon as the callback that it is in the
//! middle of has returned.
//!
//! ```text
//!   callback 1 ─▶ callback 2 ─▶ … ─▶ callback 32, returns
//!                                    callback 33, returns      (was due inside callback 32)
//!                                    callback 34, returns      (was due inside callback 33)
//! ```
//!
//! Why are not all callbacks deferred? Because then `complete` and `cancel` would return to a callback before
//! the callbacks that they bring about have run. Up to that depth they keep what they promise.
//!
//! The `Drop` of what a task has captured or returned is users' code, too: it may drop the last copy of
//! another task.
//!
//! # A callback that waits
//!
//! A deferred callback may bring about what the callback around it waits for. So a thread that is about to
//! block calls its deferred callbacks first, on top of the wait. Such a callback may wait in its turn, with
//! the next callback on top. That, too, goes to a depth of [`DEPTH`]. A thread that is about to block deeper
//! down *gives away* its deferred callbacks: another thread, which is started for them, calls them from the
//! bottom of an empty stack, and this thread blocks.
//!
//! ```text
//!   callback 32, waits ─▶ callback 33, waits ─▶ … ─▶ callback 64, waits
//!                                                         └─gives away─▶ another thread: callback 65 ─▶ …
//! ```
//!
//! # Invariants
//!
//! 1. Only users' code is deferred. The outcome of a task is decided, tokens are marked and waiters are
//!    released at once.
//! 2. Deferred callbacks run in the order in which they were due, on the thread on which they were due.
//!    Callbacks that are given away run on the thread that they are given to.
//! 3. A deferred callback has been called before the outermost callback returns, and has been called or given
//!    away before this thread blocks in this crate. So no thread waits for a callback that lies behind its
//!    own wait.
//! 4. At most [`DEPTH`] callbacks lie inside each other on one stack, and on top of them at most [`DEPTH`]
//!    inside waits. (There is one exception: if the system gives no thread, callbacks that would be given
//!    away are called where they are. The alternative is a hang.)

use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem::{self, ManuallyDrop};

use crate::panics::{contain, discard};
use crate::sync::{Arc, Mutex, thread, thread_local};

/// The deepest nesting. A stack of two megabytes bears twice this many callbacks with a wide margin, and
/// hardly any program nests them more than a few times.
const DEPTH: usize = 32;

type DeferredCallback = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Nesting {
    /// How many callbacks are called inside each other.
    depth: usize,
    /// How many waits have deferred callbacks on top of them.
    waits: usize,
    deferred: VecDeque<DeferredCallback>,
}

thread_local! {
    /// Kept when the thread ends, so that the destructors of users' thread-locals can use it, too. By then it
    /// is empty.
    static NESTING: ManuallyDrop<RefCell<Nesting>> = ManuallyDrop::default();
}

/// Returns `None` only on a system that removes even such a thread-local before the thread has ended. Then
/// nothing is deferred.
fn with_nesting<R>(f: impl FnOnce(&mut Nesting) -> R) -> Option<R> {
    NESTING.try_with(|nesting| f(&mut nesting.borrow_mut())).ok()
}

/// Calls a user's code at once or, deep inside other callbacks, soon. A panic in the code is contained.
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

// Functions apart from `call`, because the compiler makes one `call` for each type of callback.

/// Counts a callback in. Returns false if that would be too deep.
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
            nesting.deferred = VecDeque::new(); // it is empty, and this gives its memory back
        }
    });
}

/// Calls what was deferred on this thread.
fn call_deferred() {
    while let Some(callback) = with_nesting(|nesting| nesting.deferred.pop_front()).flatten() {
        discard(contain(callback));
    }
}

/// Calls the deferred callbacks of a thread that is about to block: they may bring about what it waits for.
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

/// Starts another thread that calls the callbacks. If the system gives none, calls them here.
fn give_away(callbacks: VecDeque<DeferredCallback>) {
    // `spawn` drops its closure when it fails, so the callbacks are kept in a slot beside it.
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
