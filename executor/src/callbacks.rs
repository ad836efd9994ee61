//! How deep callbacks nest: as deep as is useful, and no deeper.
//!
//! A callback may complete a promise, whose callback completes the next, and so on. If each is called where it is due,
//! each lies on the stack above the one before, and a long chain overflows it, which ends the process. So callbacks are
//! called directly up to a depth of [`DEPTH`]. One that is due deeper down is *put off*: the thread calls it as soon as the
//! one that it is in the middle of has returned.
//!
//! ```text
//!   callback 1 ─▶ callback 2 ─▶ … ─▶ callback 32, returns
//!                                    callback 33, returns      (was due inside callback 32)
//!                                    callback 34, returns      (was due inside callback 33)
//! ```
//!
//! Why not put all of them off? Because then `complete` and `cancel` would return to a callback before the callbacks that
//! they bring about have run. Up to that depth they keep what they promise.
//!
//! # Invariants
//!
//! 1. Only users' code is put off. The outcome of a task is decided, tokens are marked and waiters are let go at once.
//! 2. Callbacks that are put off run in the order in which they were due, on the thread on which they were due.
//! 3. What is put off has run before the outermost callback returns, and before this thread blocks in this crate: one of
//!    them may bring about what the thread waits for.

use std::cell::RefCell;
use std::collections::VecDeque;

use crate::panics::{contain, discard};
use crate::sync::thread_local;

/// A stack of two megabytes bears this many with a wide margin, and hardly a program nests them more than a few times.
const DEPTH: usize = 32;

#[derive(Default)]
struct Nesting {
    depth: usize,
    put_off: VecDeque<Box<dyn FnOnce()>>,
}

thread_local! {
    static NESTING: RefCell<Nesting> = RefCell::new(Nesting::default());
}

/// `None` only while the thread ends and its locals are gone: then nothing is put off.
fn with_nesting<R>(f: impl FnOnce(&mut Nesting) -> R) -> Option<R> {
    NESTING.try_with(|nesting| f(&mut nesting.borrow_mut())).ok()
}

/// Calls a user's code, now or, if this is deep inside other callbacks, soon. A panic in it is contained.
pub(crate) fn call(callback: impl FnOnce() + 'static) {
    if !enter() {
        return put_off(Box::new(callback));
    }
    discard(contain(callback));
    call_those_put_off();
    leave();
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

fn put_off(callback: Box<dyn FnOnce()>) {
    with_nesting(|nesting| nesting.put_off.push_back(callback));
}

fn leave() {
    with_nesting(|nesting| nesting.depth -= 1);
}

/// Calls what was put off on this thread.
pub(crate) fn call_those_put_off() {
    while let Some(callback) = with_nesting(|nesting| nesting.put_off.pop_front()).flatten() {
        discard(contain(callback));
    }
}
