//! What `sync.rs` hands out when the crate is compiled for loom.

pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
pub(crate) use loom::{lazy_static, thread, thread_local};

/// See `sync.rs`. None: it would be one more schedule for each of the others.
pub(crate) const PATIENCE: u32 = 0;

/// See `sync.rs`. What a spinning thread sees is what one about to sleep sees.
pub(crate) fn spinning_helps() -> bool {
    false
}

/// The only owner became that when the others let go of their `Arc`, which loom does not see. They have let go of the lock
/// before, so to take it shows what they have done.
pub(crate) fn get_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
    drop(mutex.lock());
    mutex.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[path = "virtual_time.rs"]
mod virtual_time;
pub(crate) use virtual_time::{Instant, wait_until};

#[path = "channel.rs"]
pub(crate) mod channel;

/// Does nothing. Under loom a thread that has yielded goes on only when no other can, so a deadline would always come
/// last; taking the lock again is a point at which every order is tried.
fn give_way() {}

/// Which of two that are ready comes first. Here always the same: it would be two schedules for each of the others.
fn toss() -> bool {
    false
}
