//! The functions and types that the tests share: deadlines, tasks that a test delays, and values that report
//! their drop.
//!
//! These functions do not use the library's own latch or handles, because a fault of the latch or the handles
//! could then hide itself from the tests. Every wait has a deadline, so a bug makes a test fail instead of
//! making the test hang.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use executor::{
    DirectExecutor, Executor, ExecutorService, FifoQueue, RefusingPool, RejectedExecution, RejectionHandler,
    ScheduledThreadPoolExecutor, ThreadPerTaskExecutor, ThreadPoolExecutor, prelude::*,
};

/// A time limit so long that a wait in these tests reaches it only if the library has a fault, even if a test
/// gets only a fortieth of a processor. `.ci/mutants` breaks the library on purpose, and runs one test at a
/// time on each core.
pub(crate) const LONG: Duration = Duration::from_secs(if IS_IMPATIENT { 4 } else { 30 });

const IS_IMPATIENT: bool = option_env!("EXECUTOR_TESTS_IMPATIENT").is_some();

/// A short time limit, for waits that must reach their time limit.
pub(crate) const SHORT: Duration = Duration::from_millis(5);

/// Runs a test, and fails if the test has not ended after twice the time limit of a single wait.
pub(crate) fn within_deadline(test: impl FnOnce() + Send + 'static) {
    box_within_deadline(Box::new(test));
}

/// A thread's closure of its own for each of a thousand tests would take rustc half a minute.
fn box_within_deadline(test: Box<dyn FnOnce() + Send>) {
    let (done, is_done) = mpsc::channel();
    let run = move || {
        let result = catch_unwind(AssertUnwindSafe(test));
        let _ = done.send(result); // fails only if the test has given up
    };
    thread::Builder::new().name(thread::current().name().unwrap_or("test").into()).spawn(run).unwrap();
    match is_done.recv_timeout(2 * LONG) {
        Ok(Ok(())) => {}
        Ok(Err(panic)) => resume_unwind(panic),
        Err(error) => panic!("the test hangs: {error}"),
    }
}

/// Waits until a fact is true; use this function for facts that no event announces.
pub(crate) fn eventually(fact: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "not so after {LONG:?}: {fact}");
        thread::yield_now();
    }
}

/// Repeats a test of a deadline with more and more time, until all tasks of the test have begun before the
/// deadline. On an idle machine, the first attempt is enough.
pub(crate) fn with_enough_time(attempt: impl Fn(Duration) -> bool) {
    let attempts = [100, 1_000, 5_000].map(Duration::from_millis);
    assert!(attempts.into_iter().any(attempt), "not even with the longest deadline were the tasks under way");
}

/// Returns the numbers of the rounds of a race: there are `most` rounds, or fewer rounds if the time is up.
/// On a busy machine, each round must wait until it gets a processor.
pub(crate) fn rounds(most: usize) -> impl Iterator<Item = usize> {
    let end = Instant::now() + Duration::from_secs(if IS_IMPATIENT { 2 } else { 5 });
    (0..most).take_while(move |_| Instant::now() < end)
}

/// A signal that is set at most once; threads can wait until the signal is set. The cancellation of a token
/// does not end this wait, so a body that waits for a signal ignores its token.
#[derive(Clone, Default)]
pub(crate) struct Signal(Arc<(Mutex<bool>, Condvar)>);

impl Signal {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn set(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.0.0.lock().unwrap()
    }

    /// Waits until the signal is set. The time limit is longer than the limit of any other wait. If the
    /// limits were equal, a delayed task could give up and continue at the moment when the thread that waits
    /// for the task gives up, too.
    pub(crate) fn wait(&self) {
        let limit = LONG * 3 / 2;
        let (set, _) = self.0.1.wait_timeout_while(self.0.0.lock().unwrap(), limit, |set| !*set).unwrap();
        let came = *set;
        drop(set); // otherwise the panic would poison the mutex for the threads that clean up
        assert!(came, "the signal did not come");
    }
}

/// Returns a pool of one thread with room for one more task, and a signal that is set when the pool refuses a
/// task.
pub(crate) fn room_for_two() -> (ThreadPoolExecutor, Signal) {
    struct Tell(Signal);
    impl RejectionHandler for Tell {
        fn rejected(
            &self,
            refused: RejectedExecution,
            _: &RefusingPool<'_>,
        ) -> Result<(), RejectedExecution> {
            self.0.set();
            Err(refused)
        }
    }
    let refused = Signal::new();
    let builder = ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(1));
    (builder.rejection_handler(Tell(refused.clone())).build().unwrap(), refused)
}

/// Lets a test wait until a thread is blocked at a certain place in its code.
///
/// A test that releases a waiter proves little if the waiter had not begun to wait. So the waiter calls
/// [`arrive`](Self::arrive) and then blocks; the test waits in
/// [`wait_until_blocked`](Self::wait_until_blocked).
#[derive(Clone, Default)]
pub(crate) struct Spot {
    arrived: Signal,
    thread: Arc<Mutex<String>>,
}

impl Spot {
    pub(crate) fn arrive(&self) {
        if let Ok(link) = std::fs::read_link("/proc/thread-self") {
            *self.thread.lock().unwrap() = format!("/proc/{}/stat", link.display());
        }
        self.arrived.set();
    }

    /// Waits until the thread sleeps or has ended. If the system does not show whether a thread sleeps, the
    /// function waits for some time. If this time is too short, the tests prove less, but they do not fail.
    pub(crate) fn wait_until_blocked(&self) {
        self.arrived.wait();
        let stat = self.thread.lock().unwrap().clone();
        if stat.is_empty() {
            return thread::sleep(4 * SHORT);
        }
        // A thread that waits for a lock sleeps, too, but not for a long time. So the function checks a
        // little later that the thread is still in the same sleep. If the sleep looks like a wait for a lock,
        // the function checks again much later, because on a busy machine the holder may need much time to
        // release the lock.
        eventually("the thread is blocked", || {
            let before = sleep_of(&stat);
            let looks = if before.is_some() && may_be_a_lock(&stat) { 40 } else { 1 };
            before.is_some()
                && (0..looks).all(|_| {
                    thread::sleep(SHORT);
                    before == sleep_of(&stat)
                })
        });
    }
}

/// Returns true if a thread sleeps like a thread that waits for a lock of the standard library: in a futex
/// whose expected value is 2, which means a lock with waiters. (In a condition variable the value is 2 only
/// by chance.)
fn may_be_a_lock(stat: &str) -> bool {
    let call = std::fs::read_to_string(stat.replace("/stat", "/syscall")).unwrap_or_default();
    call.split(' ').nth(3).is_some_and(|expected| expected == "0x2")
}

/// Returns how often the thread has fallen asleep; this number identifies the current sleep. Returns `None`
/// if the thread is awake.
fn sleep_of(stat: &str) -> Option<String> {
    let Ok(line) = std::fs::read_to_string(stat) else { return Some("the thread is gone".to_owned()) };
    let sleeps = line.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'));
    let status = std::fs::read_to_string(stat.replace("/stat", "/status")).unwrap_or_default();
    let switches = status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).map(str::to_owned);
    sleeps.then(|| switches.unwrap_or_default())
}

/// The result of a thread that was already blocked when the test received this value.
pub(crate) struct Waiter<R>(mpsc::Receiver<R>);

/// Runs `f` on a new thread, and returns when `f` blocks.
pub(crate) fn blocked<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> Waiter<R> {
    let spot = Spot::default();
    let there = spot.clone();
    let waiter = on_thread(move || {
        there.arrive();
        f()
    });
    spot.wait_until_blocked();
    waiter
}

/// Runs `f` on a new thread.
pub(crate) fn on_thread<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> Waiter<R> {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let _ = tell.send(f()); // the test has perhaps given up
    });
    Waiter(told)
}

impl<R> Waiter<R> {
    /// Returns the result of `f`.
    pub(crate) fn result(self) -> R {
        self.0.recv_timeout(LONG).expect("the thread ends, and without a panic")
    }

    /// Returns true if `f` has not returned yet.
    pub(crate) fn still_waits(&self) -> bool {
        matches!(self.0.try_recv(), Err(mpsc::TryRecvError::Empty))
    }
}

/// A task that keeps a worker busy until this value is dropped.
pub(crate) struct Occupied(Signal);

/// Keeps one of the executor's threads busy. Returns when the task runs.
pub(crate) fn occupy(executor: &(impl Executor + ?Sized)) -> Occupied {
    let (started, release) = (Signal::new(), Signal::new());
    let task = (started.clone(), release.clone());
    executor
        .execute(move || {
            task.0.set();
            task.1.wait();
        })
        .unwrap();
    started.wait();
    Occupied(release)
}

impl Drop for Occupied {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Keeps `threads` of the executor's threads busy.
pub(crate) fn occupy_all(executor: &(impl Executor + ?Sized), threads: usize) -> Vec<Occupied> {
    (0..threads).map(|_| occupy(executor)).collect()
}

/// A list of events in the order in which they happened.
pub(crate) struct Record<T>(Arc<Mutex<Vec<T>>>);

impl<T> Record<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn add(&self, entry: T) {
        self.0.lock().unwrap().push(entry);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

impl<T: Clone> Record<T> {
    pub(crate) fn so_far(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }
}

impl<T> Clone for Record<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Runs a task on a thread of the pool, and waits until that thread sleeps. When the thread sleeps, the pool
/// can wake the thread for the next task. It is not enough to wait until the pool counts the task as
/// completed, because the thread does not sleep yet at that moment.
pub(crate) fn settle(pool: &ThreadPoolExecutor) {
    let spot = Spot::default();
    let there = spot.clone();
    pool.execute(move || there.arrive()).unwrap();
    spot.wait_until_blocked();
}

/// Returns a value that a task can capture, and a function that returns true while the value still exists.
pub(crate) fn tracked() -> (Arc<()>, impl Fn() -> bool + Send + 'static) {
    let value = Arc::new(());
    let weak = Arc::downgrade(&value);
    (value, move || weak.strong_count() > 0)
}

/// A value whose destructor counts its drops and panics.
#[derive(Debug)]
pub(crate) struct Bomb(Arc<AtomicUsize>);

/// The number of `Bomb` values that have been dropped.
#[derive(Clone, Default)]
pub(crate) struct Explosions(Arc<AtomicUsize>);

impl Explosions {
    pub(crate) fn bomb(&self) -> Bomb {
        Bomb(Arc::clone(&self.0))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        assert!(thread::panicking(), "the bomb goes off"); // a second panic would abort the process
    }
}

/// Runs a test with each kind of executor: with the executor itself, and through the usual pointers to the
/// executor.
pub(crate) fn on_every_executor(test: impl Fn(&dyn Executor)) {
    on_every_pool(|pool| test(&pool));
    let others: [(&str, Box<dyn Executor>); 4] = [
        ("direct", Box::new(DirectExecutor)),
        ("thread per task", Box::new(ThreadPerTaskExecutor::new())),
        ("&dyn Executor", Box::new(&DirectExecutor as &dyn Executor)),
        ("Box<dyn Executor>", Box::new(Box::new(ThreadPerTaskExecutor::new()) as Box<dyn Executor>)),
    ];
    for (name, executor) in others {
        on(name, || test(&*executor));
    }
}

/// Runs a test with each kind of executor that can be shut down.
pub(crate) fn on_every_pool(test: impl Fn(&dyn ExecutorService)) {
    let pools: [(&str, Box<dyn ExecutorService>); 6] = [
        ("fixed(2)", Box::new(ThreadPoolExecutor::fixed(2))),
        ("single()", Box::new(ThreadPoolExecutor::single())),
        ("cached()", Box::new(ThreadPoolExecutor::cached())),
        ("scheduled(2)", Box::new(ScheduledThreadPoolExecutor::new(2))),
        (
            "Arc<dyn ExecutorService>",
            Box::new(Arc::new(ThreadPoolExecutor::fixed(2)) as Arc<dyn ExecutorService>),
        ),
        (
            "Box<dyn ExecutorService>",
            Box::new(Box::new(ThreadPoolExecutor::single()) as Box<dyn ExecutorService>),
        ),
    ];
    for (name, pool) in pools {
        on(name, || test(&*pool));
    }
}

/// Runs a test with each kind of executor that runs at least four tasks at once.
pub(crate) fn on_every_concurrent_executor(test: impl Fn(&dyn Executor)) {
    let executors: [(&str, Box<dyn Executor>); 4] = [
        ("fixed(4)", Box::new(ThreadPoolExecutor::fixed(4))),
        ("cached()", Box::new(ThreadPoolExecutor::cached())),
        ("thread per task", Box::new(ThreadPerTaskExecutor::new())),
        (
            "Arc<dyn ExecutorService>",
            Box::new(Arc::new(ThreadPoolExecutor::fixed(4)) as Arc<dyn ExecutorService>),
        ),
    ];
    for (name, executor) in executors {
        on(name, || test(&*executor));
    }
}

/// Runs a test; if the test fails, the message names the executor.
fn on(name: &str, test: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(test)) {
        eprintln!("with {name}:");
        resume_unwind(panic);
    }
}

/// Matches a value against a pattern. If the value does not match, the message shows the value.
macro_rules! assert_matches {
    ($value:expr, $pattern:pat $(if $guard:expr)?) => {
        match $value {
            $pattern $(if $guard)? => {}
            other => panic!("{} is {other:?}", stringify!($value)),
        }
    };
}
pub(crate) use assert_matches;
