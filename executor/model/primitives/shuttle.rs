//! What `sync.rs` hands out when the crate is compiled for shuttle.

pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard, atomic};
pub(crate) use shuttle::{thread, thread_local};

#[path = "virtual_time.rs"]
mod virtual_time;
pub(crate) use virtual_time::{Instant, wait_until};
