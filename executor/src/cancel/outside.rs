//! User code outside any task: code that belongs to no task, whichever thread it runs on.
//!
//! A callback, a hook, or the `Drop` of a value that no caller has taken often runs on a thread that is in
//! the middle of a task. The token of that task must not be current for the callback, the hook or the `Drop`.
//! So each thread has a *level*, a number that is increased by one while the thread runs user code outside
//! any task. The current token is looked for only in frames of the thread's level.

use std::cell::Cell;

use super::callbacks;
use crate::panics::OnDrop;
use crate::sync::thread_local;

thread_local! {
    static LEVEL: Cell<u32> = Cell::new(0);
}

/// Returns the level of the calling thread: the number of calls of [`outside_any_task`] on its stack.
#[inline]
pub(super) fn level() -> u32 {
    LEVEL.try_with(Cell::get).unwrap_or(0) // the thread ends, and its locals are gone
}

/// Runs user code that belongs to no task: a callback, a hook, a handler, or the `Drop` of a value that no
/// caller has taken. If this thread is running a task, the token of that task is not current in `f`. No token
/// cuts a wait in `f` short.
pub(crate) fn outside_any_task<R>(f: impl FnOnce() -> R) -> R {
    let below = level();
    let set_level = |to| _ = LEVEL.try_with(|level| level.set(to));
    let _back = OnDrop(|| set_level(below));
    set_level(below + 1);
    f()
}

/// Calls user code outside any task, and contains a panic in the code. The call is deferred if too many
/// callbacks are nested already.
pub(crate) fn call_outside(callback: impl FnOnce() + Send + 'static) {
    callbacks::call(|| outside_any_task(callback));
}
