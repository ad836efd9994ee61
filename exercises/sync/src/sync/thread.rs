//! Threads, like those of [`std::thread`].

use std::cell::OnceCell;
use std::io;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock, PoisonError};

pub use std::thread::Result;

use super::super::backend::{self, atomic, thread_local};
use crate::recorder::{self, ThreadKey};

pub use super::absent::{available_parallelism, panicking, park_timeout, sleep};
pub use backend::thread::yield_now;

/// Starts a thread.
#[track_caller]
pub fn spawn<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    Builder::new().spawn(f).expect("the system gives a thread")
}

/// A builder that starts a thread with a name, like [`std::thread::Builder`].
#[derive(Debug, Default)]
#[must_use = "no thread is started until `spawn`"]
pub struct Builder {
    name: Option<String>,
    stack: Option<usize>,
}

impl Builder {
    /// Makes a builder for a thread that has no name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the thread that will be started.
    pub fn name(self, name: String) -> Self {
        Self { name: Some(name), ..self }
    }

    /// Sets the size of the stack, in bytes. Under the model all stacks have the same size.
    pub fn stack_size(self, size: usize) -> Self {
        Self { stack: Some(size), ..self }
    }

    /// Starts the thread. A panic ends the thread, and `join` returns the panic.
    #[track_caller]
    pub fn spawn<T: Send + 'static>(
        self,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<T>> {
        let at = Location::caller();
        let started = Started::new(self.name);
        let inner = backend::spawn(self.stack, started.body(f))?;
        recorder::spawned(started.key, at);
        Ok(JoinHandle { started, inner })
    }

    /// Starts a thread that ends before the [`scope`] ends.
    #[track_caller]
    pub fn spawn_scoped<'scope, T: Send + 'scope>(
        self,
        scope: Scope<'scope, '_>,
        f: impl FnOnce() -> T + Send + 'scope,
    ) -> io::Result<ScopedJoinHandle<'scope, T>> {
        let at = Location::caller();
        let started = Started::new(self.name);
        let inner = backend::spawn_scoped(self.stack, scope.0, started.body(f))?;
        recorder::spawned(started.key, at);
        Ok(ScopedJoinHandle { started, inner })
    }
}

/// The part of a join handle that does not depend on the type of the thread's result.
#[derive(Debug)]
struct Started {
    key: ThreadKey,
    thread: Thread,
    finished: Arc<atomic::AtomicBool>,
}

impl Started {
    fn new(name: Option<String>) -> Self {
        let thread = Thread::new(name.clone());
        let key = recorder::register(name, true);
        Self { key, thread, finished: Arc::new(atomic::AtomicBool::new(false)) }
    }

    /// Returns the closure that the thread runs.
    fn body<T, F: FnOnce() -> T>(&self, f: F) -> impl FnOnce() -> Result<T> + use<T, F> {
        let (key, me, finished) = (self.key, self.thread.clone(), Arc::clone(&self.finished));
        move || {
            begins(key, me);
            let result = catch_unwind(AssertUnwindSafe(f));
            ends(&finished, result.is_err());
            result
        }
    }

    fn is_finished(&self) -> bool {
        self.finished.load(atomic::Ordering::SeqCst)
    }

    fn join<T>(&self, at: &Location<'_>, join: impl FnOnce() -> Result<Result<T>>) -> Result<T> {
        recorder::joining(self.key, at);
        let result = join();
        recorder::joined(self.key, at);
        result.and_then(|result| result)
    }
}

// `begins` and `ends` are not part of `body`, because `body` is compiled again for every type of `f`.

fn begins(key: ThreadKey, me: Thread) {
    backend::set_me(key);
    ME.with(|thread| thread.set(me)).expect("a new thread");
}

fn ends(finished: &atomic::AtomicBool, panicked: bool) {
    // Under the model, other threads may run between the last step of a thread and the end of the thread.
    finished.store(true, atomic::Ordering::SeqCst);
    recorder::ended(panicked);
}

/// The right to wait for a thread's end, like [`std::thread::JoinHandle`].
#[derive(Debug)]
pub struct JoinHandle<T> {
    started: Started,
    inner: backend::thread::JoinHandle<Result<T>>,
}

impl<T> JoinHandle<T> {
    /// Waits for the thread to end.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.started.join(Location::caller(), || self.inner.join())
    }

    /// Returns the handle of the thread.
    pub fn thread(&self) -> &Thread {
        &self.started.thread
    }

    /// Returns true if the thread has done its work: it has ended, or is about to end.
    pub fn is_finished(&self) -> bool {
        self.started.is_finished()
    }
}

/// Runs `f`, which can start threads that borrow the caller's values, and waits until these threads end, like
/// [`std::thread::scope`]. `f` is given the scope itself and not a reference to the scope.
#[track_caller]
pub fn scope<'env, T>(f: impl for<'scope> FnOnce(Scope<'scope, 'env>) -> T) -> T {
    let at = Location::caller();
    let result = backend::thread::scope(|scope| {
        let result = f(Scope(scope));
        recorder::sleeping("the threads of its scope to end", at);
        result
    });
    recorder::did("leaves the scope", Some(at));
    result
}

/// A scope, which starts threads that end before [`scope`] returns.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'scope, 'env: 'scope>(&'scope backend::thread::Scope<'scope, 'env>);

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread.
    #[track_caller]
    pub fn spawn<T: Send + 'scope>(
        self,
        f: impl FnOnce() -> T + Send + 'scope,
    ) -> ScopedJoinHandle<'scope, T> {
        Builder::new().spawn_scoped(self, f).expect("the system gives a thread")
    }
}

/// The right to wait for the end of a thread of a [`Scope`].
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T> {
    started: Started,
    inner: backend::thread::ScopedJoinHandle<'scope, Result<T>>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the thread to end.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        self.started.join(Location::caller(), || self.inner.join())
    }

    /// Returns the handle of the thread.
    pub fn thread(&self) -> &Thread {
        &self.started.thread
    }

    /// Returns true if the thread has done its work: it has ended, or is about to end.
    pub fn is_finished(&self) -> bool {
        self.started.is_finished()
    }
}

/// A handle of a thread, like [`std::thread::Thread`].
#[derive(Clone, Debug)]
pub struct Thread(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: ThreadId,
    name: Option<String>,
    /// The state for `park` and `unpark`, which is made at first use because few threads park. Under the
    /// model each lock costs time in every run.
    parking: OnceLock<Parking>,
}

#[derive(Debug)]
struct Parking {
    /// True if `unpark` was called and no `park` has used that call yet.
    token: backend::Mutex<bool>,
    unparked: backend::Condvar,
}

/// The identity of a thread, like [`std::thread::ThreadId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(u64);

thread_local! {
    static ME: OnceCell<Thread> = const { OnceCell::new() };
}

/// Returns the handle of the calling thread.
pub fn current() -> Thread {
    let name = || backend::thread::current().name().map(str::to_owned);
    ME.with(|me| me.get_or_init(|| Thread::new(name())).clone())
}

/// Waits until a thread calls `unpark`, or returns at once if a thread has called `unpark` since the last
/// `park`.
#[track_caller]
pub fn park() {
    let at = Location::caller();
    let me = current();
    let me = me.parking();
    let mut token = me.token.lock().unwrap_or_else(PoisonError::into_inner);
    if !*token {
        recorder::sleeping("another thread to unpark it", at);
        while !*token {
            token = me.unparked.wait(token).unwrap_or_else(PoisonError::into_inner);
        }
        recorder::did("is unparked", Some(at));
    }
    *token = false;
}

impl Thread {
    fn new(name: Option<String>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = ThreadId(NEXT.fetch_add(1, atomic::Ordering::Relaxed));
        Self(Arc::new(Inner { id, name, parking: OnceLock::new() }))
    }

    fn parking(&self) -> &Parking {
        let new = || Parking { token: backend::Mutex::new(false), unparked: backend::Condvar::new() };
        self.0.parking.get_or_init(new)
    }

    /// Returns the number of the thread; each thread of the process has a different number.
    pub fn id(&self) -> ThreadId {
        self.0.id
    }

    /// Returns the name that `Builder::name` has given to the thread.
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// Wakes the thread from `park`; if the thread is not parked, makes its next `park` return at once.
    #[track_caller]
    pub fn unpark(&self) {
        let Parking { token, unparked } = self.parking();
        let mut token = token.lock().unwrap_or_else(PoisonError::into_inner);
        recorder::did("unparks a thread", Some(Location::caller()));
        *token = true;
        unparked.notify_one();
    }
}
