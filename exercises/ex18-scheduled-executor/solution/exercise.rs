//! A scheduler that runs closures on any executor, at a later time, once or periodically. One thread watches
//! the time.
#![allow(unused)]

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, Weak, thread};

// ----- Given. -----

/// A time in milliseconds: either the time since the clock was started, or a length of time.
pub type Millis = u64;

/// The time that never comes. A thread that waits until `NEVER` waits only for `wake`.
pub const NEVER: Millis = Millis::MAX;

/// Tells the time, and wakes the one thread that waits for a given time. In the tests, only the test itself
/// advances the time.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Millis;

    /// Waits until the time is `until`, or until `wake` is called. The wait also ends at once if `wake` was
    /// called since the last wait, and the wait may end without a reason. Only one thread at a time may wait.
    fn wait_until(&self, until: Millis);

    /// Ends the wait of the thread that waits now; if no thread waits, ends the next wait.
    fn wake(&self);
}

/// A closure that is run once. A job may panic.
pub type Job = Box<dyn FnOnce() + Send>;

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job and calls the job once, either later or before `execute` returns, on a thread of the
    /// executor or on the thread that calls `execute`. The executor catches a panic of the job.
    fn execute(&self, job: Job);
}

/// A closure that the scheduler runs at a given time. Its argument is the entry of this closure. The closure
/// may panic, and may be called again after a panic.
pub type Work = Box<dyn FnMut(&TaskHandle) + Send>;

// ----- Yours. -----

/// Runs closures at their times, no matter on which thread the inner executor calls them.
pub struct Scheduler {
    shared: Arc<Shared>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    below: Arc<dyn Executor>,
    state: Mutex<State>,
}

struct State {
    /// The plans of all entries that have not ended, each under the number of its entry.
    plans: BTreeMap<u64, Plan>,
    /// The entries that wait for their time: the time and the number of each.
    waiting: BTreeSet<(Millis, u64)>,
    /// The number of entries that have been made so far.
    made: u64,
    is_shut_down: bool,
}

struct Plan {
    /// The closure; `None` while the closure runs.
    work: Option<Work>,
    /// The time at which the next run is due; during a run, the time at which that run was due.
    due: Millis,
    period: Option<Millis>,
}

/// The entry of a closure that was scheduled. Dropping the entry does not cancel the closure.
pub struct TaskHandle {
    shared: Arc<Shared>,
    number: u64,
}

impl Scheduler {
    /// Makes a scheduler without entries, and starts its thread.
    pub fn new(clock: Arc<dyn Clock>, below: Arc<dyn Executor>) -> Self {
        let state =
            State { plans: BTreeMap::new(), waiting: BTreeSet::new(), made: 0, is_shut_down: false };
        let shared = Arc::new(Shared { clock, below, state: Mutex::new(state) });
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new().name("scheduler".into()).spawn(move || own.watch_the_time());
        Self { shared, thread: Mutex::new(Some(thread.unwrap())) }
    }

    /// Runs the closure after `delay`, counted from now. With a period the closure runs periodically: it is
    /// due at its first time and after each further period. After the scheduler was shut down, `schedule`
    /// only drops the closure.
    pub fn schedule(&self, delay: Millis, period: Option<Millis>, work: Work) -> TaskHandle {
        let due = self.shared.clock.now().saturating_add(delay);
        let number = self.shared.add(Plan { work: Some(work), due, period });
        TaskHandle { shared: Arc::clone(&self.shared), number }
    }

    /// Ends the thread and drops every closure that waits for its time. The call waits for the end of the
    /// thread, but not for the end of any run.
    pub fn shutdown(&self) {
        let mut state = self.shared.state.lock().unwrap();
        state.is_shut_down = true;
        state.waiting.clear();
        let plans = mem::take(&mut state.plans);
        drop(state);
        drop(plans); // with no lock held
        self.shared.clock.wake();
        let thread = self.thread.lock().unwrap().take();
        if let Some(thread) = thread {
            thread.join().unwrap();
        }
    }
}

impl TaskHandle {
    /// Cancels the entry: from now on, no run of the entry begins. The closure is dropped at once, or at the
    /// end of its run if it is running.
    pub fn cancel(&self) {
        let mut state = self.shared.state.lock().unwrap();
        let plan = state.plans.remove(&self.number);
        if let Some(plan) = &plan {
            state.waiting.remove(&(plan.due, self.number));
        }
        drop(state);
        drop(plan); // with no lock held, because the plan has the closure
    }
}

impl Shared {
    /// Adds an entry and returns its number.
    fn add(&self, plan: Plan) -> u64 {
        let mut state = self.state.lock().unwrap();
        state.made += 1;
        let number = state.made;
        if state.is_shut_down {
            drop(state);
            return number; // the closure is dropped, with no lock held
        }
        state.waiting.insert((plan.due, number));
        state.plans.insert(number, plan);
        drop(state);
        self.clock.wake();
        number
    }

    /// Runs on the scheduler's thread: gives the executor the runs that are due, and sleeps until the next
    /// run is due.
    fn watch_the_time(self: &Arc<Self>) {
        while let Some(next) = self.next() {
            match next {
                Next::Due(number) => {
                    let own = Arc::clone(self);
                    self.below.execute(Box::new(move || own.run(number)));
                }
                Next::Later(due) => self.clock.wait_until(due),
            }
        }
    }

    /// Returns what the thread must do next, or `None` if the thread must end.
    fn next(&self) -> Option<Next> {
        let mut state = self.state.lock().unwrap();
        if state.is_shut_down {
            return None;
        }
        let Some((due, number)) = state.waiting.first().copied() else { return Some(Next::Later(NEVER)) };
        if due == NEVER || due > self.clock.now() {
            return Some(Next::Later(due));
        }
        state.waiting.pop_first();
        Some(Next::Due(number))
    }

    /// Runs an entry's closure once. The inner executor calls this method in a job.
    fn run(self: &Arc<Self>, number: u64) {
        let mut state = self.state.lock().unwrap();
        let Some(mut work) = state.plans.get_mut(&number).and_then(|plan| plan.work.take()) else { return };
        drop(state);
        let entry = TaskHandle { shared: Arc::clone(self), number };
        // No lock is held here, and a panic ends only this run.
        drop(catch_unwind(AssertUnwindSafe(|| work(&entry))));
        self.has_run(number, work);
    }

    /// Plans the next run, or drops the closure if there is no next run.
    fn has_run(&self, number: u64, work: Work) {
        let mut state = self.state.lock().unwrap();
        let Some(plan) = state.plans.get_mut(&number) else {
            drop(state);
            return; // cancelled meanwhile: the closure is dropped, with no lock held
        };
        let Some(period) = plan.period else {
            state.plans.remove(&number);
            drop(state);
            return; // it was its only run
        };
        plan.due = plan.due.saturating_add(period);
        plan.work = Some(work);
        let due = plan.due;
        state.waiting.insert((due, number));
        drop(state);
        self.clock.wake();
    }
}

enum Next {
    /// The run of this entry is due.
    Due(u64),
    /// No entry is due before this time.
    Later(Millis),
}
