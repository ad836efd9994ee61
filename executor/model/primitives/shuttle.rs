//! The items that `sync.rs` exports when the crate is compiled for shuttle.

use shuttle::rand::Rng;
pub(crate) use shuttle::sync::atomic;
#[cfg(not(feature = "exercises"))]
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
pub(crate) use shuttle::{lazy_static, thread_local};

/// See `sync.rs`. When a worker looks at the queue a second time, it sees nothing new.
pub(crate) const PATIENCE: u32 = 1;

/// See `sync.rs`. Spinning does not help here: a thread that spins sees nothing new before it sleeps.
pub(crate) fn spinning_helps() -> bool {
    false
}

/// See `sync.rs`. Shuttle does not switch threads at accesses of these atomics; loom checks such accesses.
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// The locks for the exercises. A model of an exercise checks the learner's code, not the library's own
/// locking.
#[cfg(feature = "exercises")]
#[path = "locks.rs"]
mod locks;
#[cfg(feature = "exercises")]
pub(crate) use locks::{Condvar, Mutex, MutexGuard};

/// Chooses the sleeping thread that is woken.
#[cfg(feature = "exercises")]
fn pick(sleepers: usize) -> usize {
    use shuttle::rand::RngCore;
    let number = shuttle::rand::thread_rng().next_u64();
    usize::try_from(number % sleepers as u64).expect("less than a usize")
}

pub(crate) fn get_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[path = "virtual_time.rs"]
mod virtual_time;
pub(crate) use virtual_time::{Instant, wait_until};

#[path = "channel.rs"]
pub(crate) mod channel;

/// Lets other threads run first; the schedule chooses for how long.
fn give_way() {
    thread::yield_now();
}

/// Decides which of two ready sources comes first.
fn toss() -> bool {
    shuttle::rand::thread_rng().gen_bool(0.5)
}

pub(crate) mod thread {
    use std::io;

    use shuttle::current;
    pub(crate) use shuttle::thread::*;

    /// Starts a thread, or makes the start of a thread fail. A test can label a thread with an
    /// [`io::ErrorKind`]: each time the labelled thread starts a thread, the start fails with that error. The
    /// label has a type of std, because the test and this crate have no other type in common.
    pub(crate) struct Builder(shuttle::thread::Builder);

    impl Builder {
        pub(crate) fn new() -> Self {
            Self(shuttle::thread::Builder::new())
        }

        pub(crate) fn name(self, name: String) -> Self {
            Self(self.0.name(name))
        }

        pub(crate) fn stack_size(self, bytes: usize) -> Self {
            Self(self.0.stack_size(bytes))
        }

        /// The body of the thread is in a box. Without the box, the compiler would compile all of shuttle's
        /// `spawn` again for each type of body.
        pub(crate) fn spawn<T: Send + 'static>(
            self,
            body: impl FnOnce() -> T + Send + 'static,
        ) -> io::Result<JoinHandle<T>> {
            let body: Box<dyn FnOnce() -> T + Send> = Box::new(body);
            match current::get_label_for_task::<io::ErrorKind>(current::me()) {
                Some(error) => Err(error.into()),
                None => self.0.spawn(body),
            }
        }
    }
}
