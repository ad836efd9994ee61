//! The one door to threads, locks and time.
//!
//! No other file of this crate names `std::sync::Mutex`, `std::thread` or `std::time::Instant`. That buys two
//! things: a reader finds every primitive the library rests on in one place, and the package in
//! `executor/model` can compile the same sources against stand-ins ([loom], [shuttle]) that try out thread
//! schedules instead of hoping for them.
//!
//! What stays outside the door on purpose: `Arc` and `Weak`, whose counting neither tool needs to control,
//! and [`Duration`], which is only a number.
//!
//! Locks here do not poison. No user code ever runs under one of our locks (that is a rule of the crate), so
//! a lock whose holder panicked can only mean a bug in this crate, and the counts it protects are kept right
//! by guards.
//!
//! [loom]: https://docs.rs/loom
//! [shuttle]: https://docs.rs/shuttle

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

    /// Memory that is accessed by a protocol and not under a lock. The models watch that no two accesses are
    /// at once.
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

    /// How often a thread that has nothing to do gives way and looks again before it goes to sleep: long
    /// enough for the next task of a steady stream, and far less work than falling asleep and being woken.
    pub(crate) const PATIENCE: u32 = 10;

    /// Whether a thread may spend time on looking again and again for what another thread is about to do:
    /// only if the other can run meanwhile. Asked of the system once, so it holds for what the process was
    /// given when it began.
    pub(crate) fn spinning_helps() -> bool {
        static HELPS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
        *HELPS.get_or_init(|| thread::available_parallelism().is_ok_and(|processors| processors.get() > 1))
    }

    /// Channels. What blocks here blocks until one of up to three things has happened.
    #[cfg(feature = "channel")]
    pub(crate) mod channel {
        use std::convert::Infallible;

        use super::Instant;
        pub use crossbeam_channel::{Receiver, Sender, TryRecvError, TrySendError, bounded};
        use crossbeam_channel::{Select, SelectTimeoutError, SelectedOperation};

        /// Sends `item`, or gives it back when `stop` or `to` is disconnected or the deadline has passed.
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

        /// Receives an item; none when `stop` or `from` is disconnected or the deadline has passed.
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

        /// An operation that was selected has to be finished.
        fn finish(selected: SelectedOperation<'_>, stop: Option<&Receiver<Infallible>>) {
            let _ = stop.map(|stop| selected.recv(stop));
        }
    }

    /// See [`super::Mutex::get_mut`].
    pub(crate) fn get_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
        mutex.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits on `condvar` until notified or until `deadline`. The flag says whether the deadline had passed.
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

// The stand-ins. The paths lead out of `src` because they are no part of the library.
#[cfg(feature = "loom")]
#[path = "../model/primitives/loom.rs"]
mod primitives;
#[cfg(all(feature = "shuttle", not(feature = "loom")))]
#[path = "../model/primitives/shuttle.rs"]
mod primitives;

// The same in the shape of std, for the models of programs.
#[cfg(any(feature = "loom", feature = "shuttle"))]
#[path = "../model/primitives/program.rs"]
pub mod program;

#[cfg(any(feature = "channel", feature = "loom", feature = "shuttle"))]
pub(crate) use primitives::channel;

/// `lazy_static!` makes a value of the process when it is first asked for; under a model, one for each
/// execution.
pub(crate) use primitives::{
    Instant, MutexGuard, PATIENCE, UnsafeCell, atomic, lazy_static, spinning_helps, thread, thread_local,
};

/// A mutual-exclusion lock that does not poison.
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

    /// What it protects, for its only owner, who needs no lock.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        primitives::get_mut(&mut self.0)
    }
}

/// How many locks were taken by the threads that take part, for a test that counts them.
#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
pub(crate) mod locks_taken {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static TAKEN: AtomicUsize = AtomicUsize::new(0);

    std::thread_local! {
        /// Other tests run beside it in the same process.
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

/// A condition variable. Name one for the fact it announces.
#[derive(Debug, Default)]
pub(crate) struct Condvar(primitives::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Self(primitives::Condvar::new())
    }

    /// Lets go of `guard`, waits for a notification and takes the lock again. May wake up without one.
    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The same with an end: the flag says whether `deadline` had passed. `mutex` is the lock that `guard`
    /// holds.
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

/// Counters from which names and ids are made. They are shared by all executions of a model on purpose (so
/// `static` and not modelled): nothing but uniqueness is asked of them.
pub(crate) mod ids {
    pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
}

/// What belongs to the process and not to an executor: set once or twice, never part of a protocol, not
/// modelled.
pub(crate) mod process {
    pub(crate) use std::sync::{OnceLock, PoisonError, RwLock};
    pub(crate) use std::thread_local;
}
