//! Users' code outside any task: it belongs to no task, whichever thread it runs on.
//!
//! A callback, a hook, or the `Drop` of a value that no caller has taken borrows a thread, often in the
//! middle of a task. The token of that task must not be current for it. So a thread has a *level*: it is one
//! higher while such code runs, and the current token is looked for on that level only.

use std::cell::Cell;

use super::callbacks;
use crate::sync::thread_local;

thread_local! {
    static LEVEL: Cell<u32> = Cell::new(0);
}

/// Returns the level of the calling thread: how many pieces of such code it is in the middle of, each inside
/// the one before.
#[inline]
pub(super) fn level() -> u32 {
    LEVEL.try_with(Cell::get).unwrap_or(0) // the thread ends, and its locals are gone
}

/// Runs a user's code that belongs to no task: a callback, a hook, a handler, or the `Drop` of a value that
/// no caller has taken. The token of the task that this thread happens to run is not current for it, and no
/// token cuts its waits short.
pub(crate) fn outside_any_task<R>(f: impl FnOnce() -> R) -> R {
    struct Back(u32);
    impl Drop for Back {
        fn drop(&mut self) {
            set_level(self.0);
        }
    }

    let below = level();
    let _back = Back(below);
    set_level(below + 1);
    f()
}

fn set_level(to: u32) {
    let _ = LEVEL.try_with(|level| level.set(to));
}

/// Calls a user's code outside any task, and contains a panic in it. Deep inside other callbacks the call is
/// deferred.
pub(crate) fn call_outside(callback: impl FnOnce() + Send + 'static) {
    callbacks::call(|| outside_any_task(callback));
}
