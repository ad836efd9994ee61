//! The functions and types that the scenarios share.

use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use executor::{Executor, TaskHandle, prelude::*};

/// A time limit so long that a wait in these scenarios reaches it only if the library has a fault or the
/// machine is very busy. `.ci/mutants` breaks the library on purpose, and runs one scenario at a time on each
/// core.
pub(crate) const LONG: Duration =
    Duration::from_secs(if option_env!("EXECUTOR_TESTS_IMPATIENT").is_some() { 8 } else { 30 });

/// A short time limit, for waits that must reach their time limit.
pub(crate) const SHORT: Duration = Duration::from_micros(100);

pub(crate) fn until(fact: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "not so after {LONG:?}: {fact}");
        thread::yield_now();
    }
}

/// Returns true if the calling thread is the only thread of the process that runs or could run.
pub(crate) fn all_others_sleep() -> bool {
    let running = std::fs::read_dir("/proc/self/task").unwrap().filter(|thread| {
        let stat = std::fs::read_to_string(thread.as_ref().unwrap().path().join("stat"));
        // The thread's state comes after its name, which may contain spaces and parentheses. A thread that
        // has already ended has no state.
        stat.is_ok_and(|stat| !stat.rsplit(") ").next().unwrap().starts_with('S'))
    });
    running.count() == 1
}

/// A signal that is set at most once; threads can wait until the signal is set.
#[derive(Clone, Default)]
pub(crate) struct Signal(Arc<(Mutex<bool>, Condvar)>);

impl Signal {
    pub(crate) fn set(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    fn wait_however_long(&self) {
        drop(self.0.1.wait_while(self.0.0.lock().unwrap(), |set| !*set).unwrap());
    }

    pub(crate) fn wait(&self) {
        let (set, _) = self.0.1.wait_timeout_while(self.0.0.lock().unwrap(), LONG, |set| !*set).unwrap();
        let came = *set;
        drop(set); // otherwise the panic would poison the mutex
        assert!(came, "the signal did not come");
    }
}

/// A guard that keeps a thread busy until the guard is dropped.
pub(crate) struct Busy(Signal);

pub(crate) fn occupy(executor: &impl Executor) -> Busy {
    let (begun, end) = (Signal::default(), Signal::default());
    let there = (begun.clone(), end.clone());
    executor
        .execute(move || {
            there.0.set();
            there.1.wait_however_long(); // perhaps through all rounds
        })
        .unwrap();
    begun.wait();
    Busy(end)
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Panics without a call of the panic hook, because the hook would print text.
pub(crate) fn fail() {
    resume_unwind(Box::new("oh"));
}

/// Returns a closure that is too large to fit into a task.
pub(crate) fn large() -> impl FnOnce() -> usize + Send + 'static {
    let data = Box::new([1_u8; 100]);
    let padding = [1_u8; 100];
    move || data.len() + padding.len()
}

/// Starts a task that runs until it is cancelled. Returns when the task runs.
pub(crate) fn run_until_cancelled(executor: &impl Executor) -> TaskHandle<()> {
    let begun = Signal::default();
    let there = begun.clone();
    let handle = executor.submit_cancellable(move |token| {
        there.set();
        token.sleep(LONG)
    });
    begun.wait();
    handle.unwrap()
}

/// Runs `f` on a new thread, and joins this thread.
pub(crate) fn elsewhere<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| scope.spawn(f).join().unwrap())
}

pub(crate) fn large_task() -> impl FnOnce() + Send + 'static {
    let large = large();
    move || _ = large()
}
