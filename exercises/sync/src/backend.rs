//! The backend on real threads: the standard library makes threads and locks.

use std::cell::Cell;
use std::io;
use std::sync::LockResult;

pub(super) use std::sync::{Barrier, Condvar, Mutex, MutexGuard, atomic};
pub(super) use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub(super) use std::thread;
// The learner uses `BarrierWaitResult` and `thread_local!` of `std` unchanged.
pub use std::sync::BarrierWaitResult;
pub use std::thread_local;

use crate::recorder::{self, ThreadKey};

pub(super) const LOCKS_POISON: bool = true;
pub(super) const ONE_AT_A_TIME: bool = false;

thread_local! {
    static ME: Cell<Option<ThreadKey>> = const { Cell::new(None) };
}

pub(super) fn set_me(key: ThreadKey) {
    ME.set(Some(key));
}

pub(super) fn me() -> ThreadKey {
    ME.get().unwrap_or_else(|| {
        let key = recorder::register(thread::current().name().map(str::to_owned), false);
        set_me(key);
        key
    })
}

/// Starts a thread whose stack has the size `stack`.
pub(super) fn spawn<T: Send + 'static>(
    stack: Option<usize>,
    f: impl FnOnce() -> T + Send + 'static,
) -> io::Result<thread::JoinHandle<T>> {
    builder(stack).spawn(f)
}

/// Starts a thread of a scope.
pub(super) fn spawn_scoped<'scope, T: Send + 'scope>(
    stack: Option<usize>,
    scope: &'scope thread::Scope<'scope, '_>,
    f: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<thread::ScopedJoinHandle<'scope, T>> {
    builder(stack).spawn_scoped(scope, f)
}

fn builder(stack: Option<usize>) -> thread::Builder {
    let builder = thread::Builder::new();
    match stack {
        Some(size) => builder.stack_size(size),
        None => builder,
    }
}

/// The part of a `Condvar` in `sync` that makes threads wait and wakes them.
#[derive(Debug, Default)]
pub(super) struct WaitSet(Condvar);

impl WaitSet {
    /// Calls `waits` while the lock is still held, so no notification can come between that call and the
    /// wait. On real threads, this code cannot see when a woken thread begins to wait for the lock.
    pub(super) fn wait<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _mutex: &'a Mutex<T>,
        waits: impl FnOnce(),
        _wants_the_lock: impl FnOnce(),
    ) -> LockResult<MutexGuard<'a, T>> {
        waits();
        self.0.wait(guard)
    }

    pub(super) fn notify(&self, all: bool, notifies: impl FnOnce()) {
        notifies(); // before the woken threads can be recorded
        if all {
            self.0.notify_all();
        } else {
            self.0.notify_one();
        }
    }
}

/// Always returns false, because on real threads only the system causes spurious wake-ups.
pub(super) fn wakes_up_by_itself() -> bool {
    false
}

/// Does nothing: other threads may run at any time.
pub(super) fn others_may_come_first() {}

/// Does nothing: other threads may run at any time.
pub(super) fn others_may_find_it_taken() {}

/// Always returns true, because the system does not tell whether other threads wait. Callers must not depend
/// on the result.
pub(super) fn others_wait() -> bool {
    true
}
