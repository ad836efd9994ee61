//! The items that `sync.rs` exports when the crate is compiled for loom.

pub(crate) use loom::cell::UnsafeCell;
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
pub(crate) use loom::{lazy_static, thread, thread_local};

/// See `sync.rs`. No thread spins under loom, because a spin would multiply the schedules.
pub(crate) const PATIENCE: u32 = 0;

/// See `sync.rs`. Spinning does not help here: a thread that spins sees nothing new before it sleeps.
pub(crate) fn spinning_helps() -> bool {
    false
}

/// Makes the changes that other threads have made visible to the caller. The caller is the only owner,
/// because the other owners have dropped their `Arc`; loom does not see these drops. But each of the other
/// owners released the lock before it dropped its `Arc`; so a caller that takes the lock sees the changes of
/// all other owners.
pub(crate) fn get_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
    drop(mutex.lock());
    mutex.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[path = "virtual_time.rs"]
mod virtual_time;
pub(crate) use virtual_time::{Instant, wait_until};

#[path = "channel.rs"]
pub(crate) mod channel;

/// Does nothing. Under loom, a thread that has yielded continues only when no other thread can run. So this
/// function must not yield: the deadline would then always come last. When the waiter takes the lock again,
/// loom tries every order of the threads.
fn give_way() {}

/// Decides which of two ready sources comes first. Under loom, this function always chooses the same source,
/// because a choice would double the number of schedules.
fn toss() -> bool {
    false
}
