//! The hooks of a process, and the state of its shutdown.

use std::fmt;
use std::process;

use signal_hook::low_level;

use super::signals::{Notify, Signals};
use crate::cancel::callbacks;
use crate::cancel::outside_any_task;
use crate::panics::{Departure, contain_unless_left, discard};
use crate::sync::thread::{self, ThreadId};
use crate::sync::{Arc, Condvar, Duration, Instant, Mutex};

/// The cause of a process's shutdown.
///
/// ```
/// use executor::shutdown_hooks::{ShutdownCause, ShutdownHooks};
/// use std::sync::mpsc;
///
/// let guard = ShutdownHooks::builder().install()?;
/// let (sender, receiver) = mpsc::channel();
/// guard.add("log", move |shutdown| sender.send(shutdown.cause()).unwrap())?;
/// drop(guard); // at the end of `main`
/// assert_eq!(receiver.try_recv()?, ShutdownCause::End);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShutdownCause {
    /// A signal, with its number: SIGINT is 2, SIGTERM is 15.
    Signal(i32),
    /// [`ShutdownHooks::exit`](super::ShutdownHooks::exit), with its code.
    Exit(i32),
    /// [`ShutdownHooks::begin`](super::ShutdownHooks::begin).
    Requested,
    /// The [`ShutdownGuard`](super::ShutdownGuard) was dropped, usually because `main` returns.
    End,
}

pub(super) struct HooksShared {
    state: Mutex<HooksData>,
    /// Notified when the phase has changed, or when `ends` is set.
    changed: Condvar,
    signals: Signals,
    limit: Duration,
    status_at_deadline: Option<i32>,
}

struct HooksData {
    phase: HooksPhase,
    /// The hooks that have not begun, in order of registration.
    hooks: Vec<Hook>,
    next_key: u64,
    cause: Option<ShutdownCause>,
    /// The deadline; `None` until the shutdown begins, and also if the deadline is beyond the clock's range.
    deadline: Option<Instant>,
    /// The exit status of the process, or `None` if no status has been chosen yet.
    status: Option<i32>,
    /// True if this module ends the process, and false if `main` ends the process.
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

    /// Adds a hook, and returns the key for its removal. Returns `None` if the shutdown has begun.
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

    /// Removes a hook. Returns false if the shutdown has begun.
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

    /// Begins the shutdown. Returns false if the shutdown had begun already.
    pub(super) fn begin(&self, cause: ShutdownCause) -> bool {
        let mut state = self.state.lock();
        if !state.begin(cause, self.limit) {
            return false;
        }
        // The flag is set under the lock. So when a thread sees that the shutdown has begun, the next signal
        // already counts as the second signal.
        self.signals.begun();
        drop(state);
        self.changed.notify_all();
        true
    }

    /// Begins the shutdown if it has not begun, and waits for the end of the process.
    pub(super) fn exit(self: &Arc<Self>, code: i32) -> ! {
        let is_first = self.begin(ShutdownCause::Exit(code));
        let mut state = self.state.lock();
        if !is_first {
            state.status = Some(code); // `begin` has set the first caller's code, and a hook may have changed it
        }
        let is_ended_elsewhere = std::mem::replace(&mut state.ends, true);
        if state.runner == Some(thread::current().id()) {
            drop(state);
            let shared = Arc::clone(self);
            let stay_here = move || shared.run_those_left_elsewhere();
            if thread::panicking() {
                stay_here(); // a second unwinding would abort the process
            }
            Departure::begin(stay_here); // unless a frame catches this, the runner goes on with the next hook
        }
        // The runner checks `ends` after the last hook. If that check came before this call set `ends`, this
        // thread must end the process.
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

    /// Begins the shutdown if it has not begun, and waits until the hooks have run. If this module ends the
    /// process, the call waits for that end and does not return.
    pub(super) fn guard_dropped(&self) {
        self.begin(ShutdownCause::End);
        callbacks::about_to_block();
        let mut state = self.state.lock();
        if state.runner == Some(thread::current().id()) {
            return; // a hook owns the guard, so the runner must not wait for itself
        }
        while state.phase != HooksPhase::Done || state.ends {
            state = self.changed.wait(state);
        }
        state.guard_is_dropped = true;
        drop(state);
        self.changed.notify_all(); // the timekeeper also waits for `guard_is_dropped`
    }

    // ----- the two threads -----

    /// Waits until the shutdown begins, and ends the process if the shutdown lasts until the deadline. This
    /// function is the body of the timekeeper's thread.
    pub(super) fn keep_time(&self, notified: Notify) {
        notified.wait();
        if let Some(number) = self.signals.number() {
            self.begin(ShutdownCause::Signal(number));
        }
        let mut state = self.state.lock();
        loop {
            // The loop checks the state first and the deadline second. If the hooks ended in time, the
            // process must go on, even if this thread is late.
            if state.phase == HooksPhase::Done && !state.ends && state.guard_is_dropped {
                return; // from here on `main` decides when the process ends
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
        // The code does not call `process::exit`, which flushes standard output and calls functions that C
        // code has registered: each of these steps can block.
        low_level::exit(status);
    }

    /// Waits until the shutdown begins, and runs the hooks. This function is the body of the runner's thread.
    pub(super) fn run_hooks(&self) {
        let mut state = self.state.lock();
        state.runner = Some(thread::current().id());
        while state.phase == HooksPhase::Open {
            state = self.changed.wait(state);
        }
        drop(state);
        self.run_those_left();
    }

    /// Starts another thread for the hooks that have not begun, and does not return. The caller is a runner
    /// that is inside other code of this crate. This runner may act as a worker, have a current token, or be
    /// inside a callback. The next hook must not run in the context of that worker, token or callback.
    fn run_those_left_elsewhere(self: &Arc<Self>) {
        let next = Arc::clone(self);
        let thread = thread::Builder::new().name("shutdown hooks".into()).spawn(move || next.run_hooks());
        match thread {
            Ok(_) => self.wait_for_ever(),
            Err(_) => outside_any_task(|| self.run_those_left()), // the system cannot start another thread
        }
    }

    /// Runs the hooks that have not begun, and then ends the process, unless `main` must do that.
    fn run_those_left(&self) {
        let mut state = self.state.lock();
        while let Some(hook) = state.hooks.pop() {
            let shutdown = Shutdown { shared: self, cause: state.cause, deadline: state.deadline };
            drop(state);
            if let Err(Some(panic)) = contain_unless_left(|| (hook.run)(&shutdown)) {
                panic.set_origin(Some(format!("shutdown hook {}", hook.name)), None); // its drop reports it
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

/// The shutdown of the process, as a hook sees it.
///
/// ```
/// use executor::shutdown_hooks::ShutdownHooks;
/// use std::sync::mpsc;
///
/// let guard = ShutdownHooks::builder().install()?;
/// let (sender, receiver) = mpsc::channel();
/// guard.add("log", move |shutdown| sender.send(format!("{:?}", shutdown.cause())).unwrap())?;
/// drop(guard); // at the end of `main`
/// assert_eq!(receiver.try_recv()?, "End");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Shutdown<'a> {
    shared: &'a HooksShared,
    cause: Option<ShutdownCause>,
    deadline: Option<Instant>,
}

impl Shutdown<'_> {
    /// Returns the cause of the shutdown.
    ///
    /// ```
    /// use executor::shutdown_hooks::{ShutdownCause, ShutdownHooks};
    /// use std::sync::mpsc;
    ///
    /// let guard = ShutdownHooks::builder().install()?;
    /// let (sender, receiver) = mpsc::channel();
    /// guard.add("log", move |shutdown| sender.send(shutdown.cause()).unwrap())?;
    /// guard.begin();
    /// drop(guard); // at the end of `main`
    /// assert_eq!(receiver.try_recv()?, ShutdownCause::Requested);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// This method never panics: a hook runs only when the shutdown has begun.
    pub fn cause(&self) -> ShutdownCause {
        self.cause.expect("the shutdown has begun")
    }

    /// Returns the time that is left for all hooks together. When no time is left, the process ends, even if
    /// a hook is running.
    ///
    /// ```
    /// use executor::shutdown_hooks::ShutdownHooks;
    /// use std::{sync::mpsc, time::Duration};
    ///
    /// let guard = ShutdownHooks::builder().deadline(Duration::from_secs(30)).install()?;
    /// let (sender, receiver) = mpsc::channel();
    /// guard.add("log", move |shutdown| sender.send(shutdown.left()).unwrap())?;
    /// drop(guard); // at the end of `main`
    /// assert!(receiver.try_recv()? <= Duration::from_secs(30));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |deadline| {
            let now = Instant::now();
            if now < deadline { deadline - now } else { Duration::ZERO }
        })
    }

    /// Chooses the exit status in place of 128 + n or the code of `exit`; the last choice wins. The choice has
    /// no effect if the deadline ends the process, or if `main` ends the process by returning.
    ///
    /// ```no_run
    /// use executor::shutdown_hooks::ShutdownHooks;
    ///
    /// let guard = ShutdownHooks::builder().install()?;
    /// guard.add("log", |shutdown| shutdown.set_status(0))?;
    /// guard.exit(1); // the process ends with 0, because the hook says so
    /// # #[allow(unreachable_code)]
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

    /// If the hooks of a process end in time, the timekeeper must not end the process.
    #[test]
    fn a_timekeeper_that_comes_late_ends_nothing_that_was_in_time() {
        let (signals, notified) = Signals::new().unwrap();
        let shared = Arc::new(HooksShared::new(signals, Duration::from_millis(20), None));
        assert!(shared.begin(ShutdownCause::End));
        let (keeper, (tell, told)) = (Arc::clone(&shared), mpsc::channel());
        thread::spawn(move || {
            keeper.keep_time(notified);
            tell.send(())
        });
        thread::yield_now();
        // Most probably the timekeeper waits for the lock now. The timekeeper gets the lock only after
        // the deadline, and then checks the state.
        let mut state = shared.state.lock();
        thread::sleep(Duration::from_millis(50));
        (state.phase, state.guard_is_dropped) = (HooksPhase::Done, true);
        drop(state);
        assert_eq!(told.recv_timeout(Duration::from_secs(30)), Ok(()));
    }
}
