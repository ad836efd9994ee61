//! Right: two layers. Below, alarms that ring once; above, a series sets the next alarm when its run has ended.
#![allow(unused)]

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, Weak, thread};

// ----- Given. -----

/// A time, or a length of time: milliseconds since the clock was started.
pub type Millis = u64;

/// The time that never comes. Who waits until then waits for `wake` alone.
pub const NEVER: Millis = Millis::MAX;

/// Tells the time, and wakes the one thread that waits for it. In the tests it is the test that moves the time.
pub trait Clock: Send + Sync {
    /// What time it is.
    fn now(&self) -> Millis;

    /// Waits until the time is `until`, or until `wake` is called. It also returns at once if `wake` was called since the last
    /// wait, and it may return for no reason. Only one thread at a time may wait.
    fn wait_until(&self, until: Millis);

    /// Ends the wait that is under way, or else the next one.
    fn wake(&self);
}

/// What is to be done. It may panic.
pub type Job = Box<dyn FnOnce() + Send>;

/// Calls jobs.
pub trait Executor: Send + Sync {
    /// Takes a job and calls it once: some time later, or before `execute` returns; on a thread of the executor, or on the one
    /// that calls `execute`. A panic of the job ends there.
    fn execute(&self, job: Job);
}

/// What runs at its time. It is given its own entry. It may panic, and may be called again afterwards.
pub type Work = Box<dyn FnMut(&Entry) + Send>;

// ----- Yours. -----

/// What an alarm does when it rings: it gives the inner executor a job.
type Ring = Box<dyn FnOnce() + Send>;

/// Rings once, at a time, on its own thread.
struct Alarms {
    clock: Arc<dyn Clock>,
    /// `None` after the end.
    set: Mutex<Option<BTreeMap<(Millis, u64), Ring>>>,
}

impl Alarms {
    fn set(&self, due: Millis, number: u64, ring: Ring) {
        let mut set = self.set.lock().unwrap();
        let Some(alarms) = &mut *set else {
            drop(set);
            return; // and the alarm is dropped, with no lock held
        };
        alarms.insert((due, number), ring);
        drop(set);
        self.clock.wake();
    }

    fn remove(&self, due: Millis, number: u64) {
        let alarm = self.set.lock().unwrap().as_mut().and_then(|set| set.remove(&(due, number)));
        drop(alarm);
    }

    fn end(&self) {
        let set = self.set.lock().unwrap().take();
        drop(set);
        self.clock.wake();
    }

    fn watch(&self) {
        loop {
            let mut set = self.set.lock().unwrap();
            let Some(alarms) = &mut *set else { return };
            let now = self.clock.now();
            let due = alarms.first_key_value().map_or(NEVER, |((due, _), _)| *due);
            let ring = if due != NEVER && due <= now { alarms.pop_first() } else { None };
            drop(set);
            match ring {
                Some((_, ring)) => ring(),
                None => self.clock.wait_until(due),
            }
        }
    }
}

/// A closure and its times. Its alarm owns it, or its run.
struct Series {
    alarms: Arc<Alarms>,
    below: Arc<dyn Executor>,
    number: u64,
    period: Option<Millis>,
    now: Mutex<Now>,
}

struct Now {
    work: Option<Work>,
    due: Millis,
    is_cancelled: bool,
}

impl Series {
    fn set_alarm(self: Arc<Self>, due: Millis) {
        let alarms = Arc::clone(&self.alarms);
        let number = self.number;
        let ring = move || {
            let below = Arc::clone(&self.below);
            below.execute(Box::new(move || self.run()));
        };
        alarms.set(due, number, Box::new(ring));
    }

    fn run(self: Arc<Self>) {
        let work = self.now.lock().unwrap().work.take();
        let Some(mut work) = work else { return };
        let entry = Entry { series: Arc::downgrade(&self) };
        drop(catch_unwind(AssertUnwindSafe(|| work(&entry))));
        let Some(period) = self.period else { return };
        let mut now = self.now.lock().unwrap();
        if now.is_cancelled {
            drop(now);
            return;
        }
        now.work = Some(work);
        now.due = now.due.saturating_add(period);
        let due = now.due;
        drop(now);
        self.set_alarm(due);
    }
}

/// Has closures run when their time has come, where the inner executor calls them.
pub struct Scheduler {
    alarms: Arc<Alarms>,
    below: Arc<dyn Executor>,
    made: Mutex<u64>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

/// A closure that was scheduled. To drop the entry does not cancel it.
pub struct Entry {
    series: Weak<Series>,
}

impl Scheduler {
    /// Makes a scheduler without entries, and starts its thread.
    pub fn new(clock: Arc<dyn Clock>, below: Arc<dyn Executor>) -> Self {
        let alarms = Arc::new(Alarms { clock, set: Mutex::new(Some(BTreeMap::new())) });
        let own = Arc::clone(&alarms);
        let thread = thread::spawn(move || own.watch());
        Self { alarms, below, made: Mutex::new(0), thread: Mutex::new(Some(thread)) }
    }

    /// Has the closure run when `delay` has passed, counted from now. With a period it runs again and again: it is due at each
    /// period from its first time. Once the scheduler was shut down, the closure is dropped.
    pub fn schedule(&self, delay: Millis, period: Option<Millis>, work: Work) -> Entry {
        let due = self.alarms.clock.now().saturating_add(delay);
        let number = {
            let mut made = self.made.lock().unwrap();
            *made += 1;
            *made
        };
        let series = Arc::new(Series {
            alarms: Arc::clone(&self.alarms),
            below: Arc::clone(&self.below),
            number,
            period,
            now: Mutex::new(Now { work: Some(work), due, is_cancelled: false }),
        });
        let entry = Entry { series: Arc::downgrade(&series) };
        series.set_alarm(due);
        entry
    }

    /// Ends the thread and drops every closure that waits for its time. Waits for the thread, and for no run.
    pub fn shutdown(&self) {
        self.alarms.end();
        let thread = self.thread.lock().unwrap().take();
        if let Some(thread) = thread {
            thread.join().unwrap();
        }
    }
}

impl Entry {
    /// No run begins from now on. The closure is dropped at once, or at the end of its run if it runs.
    pub fn cancel(&self) {
        let Some(series) = self.series.upgrade() else { return };
        let mut now = series.now.lock().unwrap();
        now.is_cancelled = true;
        let (work, due) = (now.work.take(), now.due);
        drop(now);
        drop(work);
        series.alarms.remove(due, series.number);
    }
}
