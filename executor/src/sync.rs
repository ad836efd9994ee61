//! The only module through which this crate uses threads, locks and time.
//!
//! No other file of this crate names `std::sync::Mutex`, `std::thread` or `std::time::Instant`. So a reader
//! finds all primitives of the library in one place. The package in `executor/model` can compile these
//! sources with stand-ins for the primitives ([loom], [shuttle]). The stand-ins let a model checker try out
//! thread schedules one by one.
//!
//! Three types have no stand-in, on purpose. Neither loom nor shuttle needs to control the counts of `Arc`
//! and `Weak`, and a [`Duration`] is only a number.
//!
//! A panic does not poison the locks of this module. User code must never run under a lock of this crate. So
//! a panic under a lock can only come from a bug in this crate, and even then guards keep the counts right.
//!
//! [loom]: https://docs.rs/loom
//! [shuttle]: https://docs.rs/shuttle

use std::sync::TryLockError;
pub(crate) use std::sync::{Arc, Weak};
pub(crate) use std::time::Duration;

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod primitives {
    pub(crate) use std::sync::atomic;
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::thread;
    pub(crate) use std::thread_local;
    pub(crate) use std::time::Instant;

    macro_rules! lazy_static {
        (static ref $NAME:ident: $Type:ty = $value:expr;) => {
            static $NAME: std::sync::LazyLock<$Type> = std::sync::LazyLock::new(|| $value);
        };
    }
    pub(crate) use lazy_static;

    /// Memory that threads access without locking. Instead of a lock, a protocol between the threads protects
    /// the memory. The models check that no two accesses happen at the same time.
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        #[inline]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }

        pub(crate) fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    /// The number of times that an idle thread yields and then looks for a task again, before it sleeps. In a
    /// steady stream of tasks, the next task arrives while the thread is still yielding. A yield costs far
    /// less than a sleep and a wake-up.
    pub(crate) const PATIENCE: u32 = 10;

    /// Returns whether a thread may spin (wait in a loop without sleeping) for another thread. A thread may
    /// spin only if both threads can run at the same time. The first call asks the system for the number of
    /// processors; later calls return the same answer.
    pub(crate) fn spinning_helps() -> bool {
        static HELPS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
        *HELPS.get_or_init(|| thread::available_parallelism().is_ok_and(|processors| processors.get() > 1))
    }

    /// Channels whose blocking calls also end when they are stopped or when a deadline has passed.
    #[cfg(feature = "channel")]
    pub(crate) mod channel {
        use std::convert::Infallible;

        use super::Instant;
        pub use crossbeam_channel::{Receiver, Sender, TryRecvError, TrySendError, bounded};
        use crossbeam_channel::{Select, SelectTimeoutError, SelectedOperation};

        /// Sends `item`, or returns it when `stop` or `to` is disconnected or the deadline has passed.
        pub(crate) fn send_unless<T>(
            to: &Sender<T>,
            item: T,
            stop: Option<&Receiver<Infallible>>,
            deadline: Option<Instant>,
        ) -> Result<(), T> {
            let mut select = Select::new();
            let sending = select.send(to);
            match select_unless(select, stop, deadline) {
                Ok(selected) if selected.index() == sending => {
                    selected.send(to, item).map_err(crossbeam_channel::SendError::into_inner)
                }
                Ok(selected) => {
                    finish(selected, stop);
                    Err(item)
                }
                Err(_) => Err(item),
            }
        }

        /// Receives an item; returns `None` when `stop` or `from` is disconnected or the deadline has passed.
        pub(crate) fn recv_unless<T>(
            from: &Receiver<T>,
            stop: Option<&Receiver<Infallible>>,
            deadline: Option<Instant>,
        ) -> Option<T> {
            let mut select = Select::new();
            let receiving = select.recv(from);
            let selected = select_unless(select, stop, deadline).ok()?;
            if selected.index() == receiving {
                return selected.recv(from).ok();
            }
            finish(selected, stop);
            None
        }

        fn select_unless<'a>(
            mut select: Select<'a>,
            stop: Option<&'a Receiver<Infallible>>,
            deadline: Option<Instant>,
        ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
            if let Some(stop) = stop {
                select.recv(stop);
            }
            match deadline {
                Some(deadline) => select.select_deadline(deadline),
                None => Ok(select.select()),
            }
        }

        /// Receives from `stop` if `stop` was selected, because a selected operation must be completed.
        fn finish(selected: SelectedOperation<'_>, stop: Option<&Receiver<Infallible>>) {
            let _ = stop.map(|stop| selected.recv(stop));
        }
    }

    /// Does the work of [`super::Mutex::get_mut`].
    pub(crate) fn get_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
        mutex.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits on `condvar` until a notification or until `deadline`. The result says whether the deadline has
    /// passed.
    pub(crate) fn wait_until<'a, T>(
        condvar: &Condvar,
        guard: MutexGuard<'a, T>,
        _mutex: &'a Mutex<T>,
        deadline: Instant,
    ) -> (MutexGuard<'a, T>, bool) {
        let left = deadline.saturating_duration_since(Instant::now());
        let (guard, result) =
            condvar.wait_timeout(guard, left).unwrap_or_else(std::sync::PoisonError::into_inner);
        (guard, result.timed_out())
    }
}

// Stand-ins for the models. The files of the stand-ins are outside `src`, because they are not part of the
// library.
#[cfg(feature = "loom")]
#[path = "../model/primitives/loom.rs"]
mod primitives;
#[cfg(all(feature = "shuttle", not(feature = "loom")))]
#[path = "../model/primitives/shuttle.rs"]
mod primitives;

// Stand-ins with the interface of the standard library, for the models of programs.
#[cfg(any(feature = "loom", feature = "shuttle"))]
#[path = "../model/primitives/program.rs"]
pub mod program;

#[cfg(any(feature = "channel", feature = "loom", feature = "shuttle"))]
pub(crate) use primitives::channel;

/// `lazy_static!` makes a value at its first use: one value per process or, under a model, one value per
/// execution.
pub(crate) use primitives::{
    Instant, MutexGuard, PATIENCE, UnsafeCell, atomic, lazy_static, spinning_helps, thread, thread_local,
};

/// A mutual-exclusion lock that a panic does not poison.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(primitives::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(primitives::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        #[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
        locks_taken::count();
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Takes the lock; gives up if another thread holds the lock for longer than `patience`. With a patience
    /// of zero, the call tries to take the lock once.
    pub(crate) fn lock_within(&self, patience: Duration) -> Option<MutexGuard<'_, T>> {
        let end = Instant::now() + patience;
        loop {
            match self.0.try_lock() {
                Ok(guard) => return Some(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => return None,
                Err(TryLockError::WouldBlock) => thread::yield_now(),
            }
        }
    }

    /// Returns the protected value without locking: `&mut self` shows that no other thread uses the mutex.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        primitives::get_mut(&mut self.0)
    }
}

/// A value in cache lines of its own: a thread that writes this value does not slow down threads that use
/// other values. The alignment is the size of two cache lines, because processors fetch two lines at a time.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct CachePadded<T>(pub(crate) T);

/// For a test: a counter of the locks that the threads of the test take.
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
pub(crate) mod locks_taken {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static TAKEN: AtomicUsize = AtomicUsize::new(0);

    std::thread_local! {
        /// True if this thread's locks are counted. Other tests run in the same process, and their locks are
        /// not counted.
        static TAKES_PART: Cell<bool> = const { Cell::new(false) };
    }

    pub(crate) fn take_part() {
        TAKES_PART.set(true);
    }

    pub(super) fn count() {
        if TAKES_PART.try_with(Cell::get).unwrap_or(false) {
            TAKEN.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub(crate) fn by(work: impl FnOnce()) -> usize {
        let before = TAKEN.load(Ordering::SeqCst);
        work();
        TAKEN.load(Ordering::SeqCst) - before
    }
}

/// A condition variable. Each condition variable should have the name of the fact that it announces.
#[derive(Debug, Default)]
pub(crate) struct Condvar(primitives::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self(primitives::Condvar::new())
    }

    /// Releases the lock, waits for a notification and takes the lock again. The thread can wake up without a
    /// notification.
    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits as [`wait`](Self::wait) does, until `deadline` at most. The returned flag says whether `deadline`
    /// had passed. `mutex` is the lock that `guard` holds.
    pub(crate) fn wait_until<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        mutex: &'a Mutex<T>,
        deadline: Instant,
    ) -> (MutexGuard<'a, T>, bool) {
        primitives::wait_until(&self.0, guard, &mutex.0, deadline)
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// Counters that give unique numbers to names and ids. All executions of a model share these counters on
/// purpose, so the counters are `static` and have no stand-in.
pub(crate) mod ids {
    pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
}

/// The name under which the system shows a thread.
pub(crate) mod system_name {
    /// The number of bytes of a thread's name that Linux keeps.
    const KEPT: usize = 15;

    /// Returns a short name under which the system can show a thread. `whole` is the whole name of the
    /// thread, and `number` is the number of the thread in `pool`. Returns `None` if the system can keep the
    /// name `whole`, and also under a model.
    ///
    /// From the whole name, Linux would cut off the number, and so show all threads of the pool under one
    /// name. So the short name has the whole number, and as much of the pool's name as fits.
    pub(crate) fn short(whole: &str, pool: &str, number: impl std::fmt::Display) -> Option<String> {
        let is_model = cfg!(feature = "loom") || cfg!(feature = "shuttle");
        if is_model || !cfg!(target_os = "linux") || whole.len() <= KEPT {
            return None;
        }
        let number = format!("-{number}");
        let room = KEPT.saturating_sub(number.len());
        let cut = (0..=room.min(pool.len())).rev().find(|&cut| pool.is_char_boundary(cut));
        Some(pool[..cut.unwrap_or(0)].trim_end_matches('-').to_owned() + &number)
    }

    /// Sets the name under which the system shows the calling thread. The name that
    /// [`Thread::name`](std::thread::Thread::name) returns stays the same.
    ///
    /// The call writes the name to a file of the system, because the standard library can name only new threads. A
    /// system that does not have the file shows the first bytes of the whole name.
    pub(crate) fn set(name: &str) {
        let _ = std::fs::write("/proc/thread-self/comm", name);
    }
}

/// Types for state that belongs to the process and not to an executor. This state is set once or twice and is
/// not part of a protocol, so its types have no stand-in.
pub(crate) mod process {
    pub(crate) use std::sync::{OnceLock, PoisonError, RwLock};
    pub(crate) use std::thread_local;
}
