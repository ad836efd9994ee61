//! User code outside any task: it belongs to no task, even if its thread is running a task.
//!
//! Examples are a callback, a hook, and the `Drop` of a value that no caller has taken. The token of the task
//! must not be current in this code. So each thread has a *level*: a number that is one higher while the
//! thread runs user code outside any task. The search for the current token looks only at frames of the
//! thread's level.

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
    LEVEL.try_with(Cell::get).unwrap_or(0) // the thread is ending, and its thread-local values are gone
}

/// Runs user code outside any task: a callback, a hook, a handler, or the `Drop` of a value that no caller
/// has taken. If this thread is running a task, the token of that task is not current in `f`. No cancelled
/// token can end a wait in `f` early.
pub(crate) fn outside_any_task<R>(f: impl FnOnce() -> R) -> R {
    let below = level();
    let set_level = |to| _ = LEVEL.try_with(|level| level.set(to));
    let _back = OnDrop(|| set_level(below));
    set_level(below + 1);
    f()
}

/// Calls user code outside any task, and catches a panic of that code. Defers the call if callbacks are
/// already nested too deeply.
pub(crate) fn call_outside(callback: impl FnOnce() + Send + 'static) {
    callbacks::call(|| outside_any_task(callback));
}
