//! What `sync.rs` exports when the crate is compiled for loom.

pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
pub(crate) use loom::{lazy_static, thread, thread_local};

/// See `sync.rs`. None: a spin would multiply the schedules.
pub(crate) const PATIENCE: u32 = 0;

/// See `sync.rs`. A thread that spins sees what it would see before it sleeps.
pub(crate) fn spinning_helps() -> bool {
    false
}

/// The caller became the only owner when the others dropped their `Arc`, which loom does not see. They had
/// released the lock before, so taking it makes their changes visible.
pub(crate) fn get_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
    drop(mutex.lock());
    mutex.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[path = "virtual_time.rs"]
mod virtual_time;
pub(crate) use virtual_time::{Instant, wait_until};

#[path = "channel.rs"]
pub(crate) mod channel;

/// Does nothing. Under loom a thread that has yielded goes on only when no other thread can, so a deadline
/// would always come last. Taking the lock again is a point at which loom tries every order.
fn give_way() {}

/// Which of two ready sources comes first. Here it is always the same one: a choice would double the
/// schedules.
fn toss() -> bool {
    false
}
