//! Users' code that belongs to no task, whichever thread it runs on.
//!
//! A callback, a hook or the `Drop` of a value that nobody wants borrows a thread, often in the middle of a
//! task. Nothing of that task may be current for it. So a thread has a *level*: it is one higher while such
//! code runs, and what is current is looked for on that level only.

use std::cell::Cell;

use super::callbacks;
use crate::sync::thread_local;

thread_local! {
    static LEVEL: Cell<u32> = Cell::new(0);
}

/// How many pieces of such code the calling thread is in the middle of, each inside the one before.
#[inline]
pub(super) fn level() -> u32 {
    LEVEL.try_with(Cell::get).unwrap_or(0) // the thread ends, and its locals are gone
}

/// Runs a user's code that belongs to no task: a callback, a hook, a handler, the `Drop` of a value that
/// nobody wants. The current token is not that of the task that happens to be under way on this thread, and
/// waits are cut short by none.
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

/// Calls a user's code outside any task, and contains a panic in it. Deep inside other callbacks it is
/// deferred.
pub(crate) fn call_outside(callback: impl FnOnce() + Send + 'static) {
    callbacks::call(|| outside_any_task(callback));
}
