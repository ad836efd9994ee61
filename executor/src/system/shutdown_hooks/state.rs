//! The hooks of a process, and how far its shutdown is.

use std::fmt;
use std::process;

use signal_hook::low_level;

use super::bell::{Bell, Signals};
use crate::cancel::callbacks;
use crate::cancel::outside_any_task;
use crate::panics::{Departure, contain_unless_left, discard};
use crate::sync::thread::{self, ThreadId};
use crate::sync::{Arc, Condvar, Duration, Instant, Mutex};

/// What begins the shutdown of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShutdownCause {
    /// A signal, with its number: SIGINT is 2, SIGTERM is 15.
    Signal(i32),
    /// [`ShutdownHooks::exit`](super::ShutdownHooks::exit), with its code.
    Exit(i32),
    /// [`ShutdownHooks::begin`](super::ShutdownHooks::begin).
    Requested,
    /// The [`ShutdownGuard`](super::ShutdownGuard) was dropped: mostly, `main` returns.
    End,
}

pub(super) struct HooksShared {
    state: Mutex<HooksData>,
    /// The phase has moved on, or `ends` is set.
    changed: Condvar,
    signals: Signals,
    limit: Duration,
    status_at_deadline: Option<i32>,
}

struct HooksData {
    phase: HooksPhase,
    /// In order of registration.
    hooks: Vec<Hook>,
    next_key: u64,
    cause: Option<ShutdownCause>,
    /// None while the shutdown has not begun, and if it is so far away that the clock cannot say it.
    deadline: Option<Instant>,
    /// With which the process ends, as far as that is decided.
    status: Option<i32>,
    /// The process is ended from here, and not by `main`.
    ends: bool,
    guard_is_dropped: bool,
    runner: Option<ThreadId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HooksPhase {
    Open,
    Running,
    Done,
}

struct Hook {
    key: u64,
    name: String,
    run: Box<dyn FnOnce(&Shutdown<'_>) + Send>,
}

impl HooksShared {
    pub(super) fn new(signals: Signals, limit: Duration, status_at_deadline: Option<i32>) -> Self {
        let state = HooksData {
            phase: HooksPhase::Open,
            hooks: Vec::new(),
            next_key: 0,
            cause: None,
            deadline: None,
            status: None,
            ends: false,
            guard_is_dropped: false,
            runner: None,
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), signals, limit, status_at_deadline }
    }

    pub(super) fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Adds a hook, and gives the key by which it is removed. `None` if the shutdown has begun.
    pub(super) fn add(&self, name: String, run: Box<dyn FnOnce(&Shutdown<'_>) + Send>) -> Option<u64> {
        let mut state = self.state.lock();
        if state.phase != HooksPhase::Open {
            drop(state);
            discard(run);
            return None;
        }
        let key = state.next_key;
        state.next_key += 1;
        state.hooks.push(Hook { key, name, run });
        Some(key)
    }

    /// Takes a hook out. False if the shutdown has begun.
    pub(super) fn remove(&self, key: u64) -> bool {
        let mut state = self.state.lock();
        if state.phase != HooksPhase::Open {
            return false;
        }
        let place = state.hooks.iter().position(|hook| hook.key == key);
        let removed = place.map(|place| state.hooks.remove(place));
        drop(state);
        discard(removed);
        true
    }

    pub(super) fn cause(&self) -> Option<ShutdownCause> {
        self.state.lock().cause
    }

    /// Begins the shutdown. False if it has begun.
    pub(super) fn begin(&self, cause: ShutdownCause) -> bool {
        let mut state = self.state.lock();
        if !state.begin(cause, self.limit) {
            return false;
        }
        self.signals.begun(); // under the lock: nobody sees that it has begun while a signal counts as the first
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Begins the shutdown if need be, and waits for the end of the process.
    pub(super) fn exit(self: &Arc<Self>, code: i32) -> ! {
        self.begin(ShutdownCause::Exit(code));
        let mut state = self.state.lock();
        state.status = Some(code);
        let is_ended_elsewhere = std::mem::replace(&mut state.ends, true);
        if state.runner == Some(thread::current().id()) {
            drop(state);
            let shared = Arc::clone(self);
            let stay_here = move || shared.run_those_left_elsewhere();
            if thread::panicking() {
                stay_here(); // to unwind twice would abort
            }
            Departure::begin(stay_here); // the runner goes on with the next hook, unless there is something on the way to it
        }
        // The runner looks at `ends` when it is done. If it was done before, nobody else ends the process.
        if state.phase == HooksPhase::Done && !is_ended_elsewhere {
            drop(state);
            process::exit(code);
        }
        drop(state);
        self.wait_for_ever()
    }

    fn wait_for_ever(&self) -> ! {
        callbacks::about_to_block();
        let mut state = self.state.lock();
        loop {
            state = self.changed.wait(state);
        }
    }

    /// Begins the shutdown if need be, and waits for the hooks; for the end of the process, if it is ended
    /// from here.
    pub(super) fn guard_dropped(&self) {
        self.begin(ShutdownCause::End);
        callbacks::about_to_block();
        let mut state = self.state.lock();
        if state.runner == Some(thread::current().id()) {
            return; // a hook owns the guard, and would wait for itself
        }
        while state.phase != HooksPhase::Done || state.ends {
            state = self.changed.wait(state);
        }
        state.guard_is_dropped = true;
        drop(state);
        self.changed.notify_all(); // for the timekeeper
    }

    // ----- the two threads -----

    /// Waits for the shutdown, and then for its deadline.
    pub(super) fn keep_time(&self, bell: Bell) {
        bell.wait();
        if let Some(number) = self.signals.number() {
            self.begin(ShutdownCause::Signal(number));
        }
        let mut state = self.state.lock();
        loop {
            // First: in time is in time, however late this thread hears of it.
            if state.phase == HooksPhase::Done && !state.ends && state.guard_is_dropped {
                return; // the rest of the process is `main`'s
            }
            state = match state.deadline {
                Some(deadline) if Instant::now() >= deadline => break,
                Some(deadline) => self.changed.wait_until(state, &self.state, deadline).0,
                None => self.changed.wait(state),
            };
        }
        let status = self.status_at_deadline.unwrap_or(match state.cause {
            Some(ShutdownCause::Signal(number)) => 128 + number,
            _ => 1,
        });
        // Not `process::exit`, which flushes standard output and calls what C code has registered: that may
        // block.
        low_level::exit(status);
    }

    /// Waits for the shutdown, and runs the hooks.
    pub(super) fn run_hooks(&self) {
        let mut state = self.state.lock();
        state.runner = Some(thread::current().id());
        while state.phase == HooksPhase::Open {
            state = self.changed.wait(state);
        }
        drop(state);
        self.run_those_left();
    }

    /// Has another thread run the hooks that have not begun, and stays where it is. For a runner that is in
    /// the middle of something else: there, it may be a worker, have a current token, or be inside a
    /// callback, none of which is a hook's.
    fn run_those_left_elsewhere(self: &Arc<Self>) {
        let next = Arc::clone(self);
        let thread = thread::Builder::new().name("shutdown hooks".into()).spawn(move || next.run_hooks());
        match thread {
            Ok(_) => self.wait_for_ever(),
            Err(_) => outside_any_task(|| self.run_those_left()), // at the end the system may have no thread left to give
        }
    }

    /// Runs the hooks that have not begun. Then it ends the process, unless that is left to `main`.
    fn run_those_left(&self) {
        let mut state = self.state.lock();
        while let Some(hook) = state.hooks.pop() {
            let shutdown = Shutdown { shared: self, cause: state.cause, deadline: state.deadline };
            drop(state);
            if let Err(Some(panic)) = contain_unless_left(|| (hook.run)(&shutdown)) {
                panic.set_origin(Some(format!("shutdown hook {}", hook.name)), None); // reported as it is dropped
            }
            state = self.state.lock();
        }
        state.phase = HooksPhase::Done;
        let status = state.status.filter(|_| state.ends);
        drop(state);
        self.changed.notify_all();
        if let Some(status) = status {
            process::exit(status);
        }
    }
}

impl HooksData {
    fn begin(&mut self, cause: ShutdownCause, limit: Duration) -> bool {
        if self.phase != HooksPhase::Open {
            return false;
        }
        self.phase = HooksPhase::Running;
        self.cause = Some(cause);
        self.deadline = Instant::now().checked_add(limit);
        self.status = match cause {
            ShutdownCause::Signal(number) => Some(128 + number),
            ShutdownCause::Exit(code) => Some(code),
            ShutdownCause::Requested | ShutdownCause::End => None,
        };
        self.ends = self.status.is_some();
        true
    }
}

/// The shutdown that a hook is a part of.
pub struct Shutdown<'a> {
    shared: &'a HooksShared,
    cause: Option<ShutdownCause>,
    deadline: Option<Instant>,
}

impl Shutdown<'_> {
    /// What has begun it.
    ///
    /// # Panics
    /// Never: a hook runs only when the shutdown has begun.
    pub fn cause(&self) -> ShutdownCause {
        self.cause.expect("the shutdown has begun")
    }

    /// How long all hooks together still have. Then the process ends, also in the middle of one.
    pub fn left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |deadline| {
            let now = Instant::now();
            if now < deadline { deadline - now } else { Duration::ZERO }
        })
    }

    /// Chooses the exit status in place of 128 + n or the code of `exit`; the last one to choose wins. It
    /// counts for nothing at the deadline, and if it is `main` that ends the process, by returning.
    pub fn set_status(&self, status: i32) {
        self.shared.state.lock().status = Some(status);
    }
}

impl fmt::Debug for Shutdown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shutdown").field("cause", &self.cause).field("left", &self.left()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Arc;
    use std::sync::mpsc;

    /// Otherwise the process would be ended although its hooks were done in time.
    #[test]
    fn a_timekeeper_that_comes_late_ends_nothing_that_was_in_time() {
        let (signals, bell) = Signals::new().unwrap();
        let shared = Arc::new(HooksShared::new(signals, Duration::from_millis(20), None));
        assert!(shared.begin(ShutdownCause::End));
        let (keeper, (tell, told)) = (Arc::clone(&shared), mpsc::channel());
        thread::spawn(move || {
            keeper.keep_time(bell);
            tell.send(())
        });
        thread::yield_now();
        // It waits, most probably, and is kept from looking until the deadline has passed.
        let mut state = shared.state.lock();
        thread::sleep(Duration::from_millis(50));
        (state.phase, state.guard_is_dropped) = (HooksPhase::Done, true);
        drop(state);
        assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(()));
    }
}
