//! The closures that the properties schedule, and a record of their runs.

use exercises_harness::{aside, expect, fail, panic_on_purpose, step};

use super::super::exercise::{Clock, Executor, Millis, Scheduler, TaskHandle, Work};
use super::below::Calls;
use super::clock::Hands;
use super::{BUSY, DROPPED, OVERLAP};
use crate::below::{Threads, on_a_thread};
use crate::probe::{Counter, Shared, others_come_to_rest};
use crate::sync::{Arc, thread};

/// The action of a run.
pub(super) type Does = Box<dyn FnMut(&TaskHandle) + Send>;

pub(super) fn nothing() -> Does {
    Box::new(|_| {})
}

pub(super) fn panics() -> Does {
    Box::new(|_| panic_on_purpose())
}

/// A record of the runs of a property's closures.
pub(super) struct Log {
    clock: Arc<Hands>,
    /// For each run that has begun, the number of its entry and the time.
    begun: Shared<Vec<(u32, Millis)>>,
    running: Shared<Vec<u32>>,
    begins: Counter,
    ended: Counter,
    dropped: Shared<Vec<u32>>,
    drops: Counter,
}

/// A run that is going on. The drop of this value records the end of the run, even after a panic.
struct Running<'a>(&'a Log, u32);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let Self(log, number) = self;
        log.running.with(|running| running.retain(|other| other != number));
        step(&format!("run of entry {number} ends"));
        log.ended.add();
    }
}

/// A value that a closure captures; the drop of this value records that the closure was dropped.
struct Captured {
    log: Arc<Log>,
    number: u32,
    at_drop: Option<Box<dyn FnOnce() + Send>>,
}

impl Drop for Captured {
    fn drop(&mut self) {
        if let Some(at_drop) = self.at_drop.take() {
            at_drop();
        }
        let number = self.number;
        step(&format!("the closure of entry {number} is dropped"));
        self.log.dropped.with(|dropped| dropped.push(number));
        self.log.drops.add();
    }
}

impl Log {
    fn new(clock: &Arc<Hands>) -> Arc<Self> {
        let (begins, ended) = (Counter::new("a run to begin"), Counter::new("a run to end"));
        let drops = Counter::new("a closure to be dropped");
        let (begun, running, dropped) = (Shared::default(), Shared::default(), Shared::default());
        Arc::new(Self { clock: Arc::clone(clock), begun, running, begins, ended, dropped, drops })
    }

    fn begin(&self, number: u32) -> Running<'_> {
        let now = self.clock.now();
        step(&format!("run of entry {number} begins"));
        self.begun.with(|begun| begun.push((number, now)));
        let overlaps = self.running.with(|running| {
            let overlaps = running.contains(&number);
            running.push(number);
            overlaps
        });
        if overlaps {
            fail(&format!("a run of entry {number} begins, and the previous run has not ended"), OVERLAP);
        }
        self.begins.add();
        Running(self, number)
    }

    /// Returns the numbers of the entries whose runs have begun, in the order in which they began.
    pub(super) fn begun(&self) -> Vec<u32> {
        self.begun.with(|begun| begun.iter().map(|(number, _)| *number).collect())
    }

    pub(super) fn times_of(&self, number: u32) -> Vec<Millis> {
        let begun = self.begun.with(|begun| begun.clone());
        begun.into_iter().filter(|(other, _)| *other == number).map(|(_, time)| time).collect()
    }

    pub(super) fn is_dropped(&self, number: u32) -> bool {
        self.dropped.with(|dropped| dropped.contains(&number))
    }
}

/// A scheduler, its clock, and a record of what its entries have done.
pub(super) struct Trial {
    pub(super) clock: Arc<Hands>,
    pub(super) scheduler: Arc<Scheduler>,
    pub(super) log: Arc<Log>,
    threads: Option<Arc<Threads>>,
}

impl Trial {
    pub(super) fn over<E: Executor + 'static>(below: &Arc<E>) -> Arc<Self> {
        Self::new(Arc::<E>::clone(below), None)
    }

    /// Makes a scheduler on an executor with a thread for each job.
    pub(super) fn on_threads() -> Arc<Self> {
        let threads = Arc::new(Threads::default());
        Self::new(Arc::<Threads>::clone(&threads), Some(threads))
    }

    /// Makes two schedulers: one on an executor with a thread for each job, and one on an executor that calls
    /// each job at once.
    pub(super) fn on_each() -> [Arc<Self>; 2] {
        [Self::on_threads(), Self::over(&Calls::at_once(false))]
    }

    fn new(below: Arc<dyn Executor>, threads: Option<Arc<Threads>>) -> Arc<Self> {
        let clock = Hands::new();
        let log = Log::new(&clock);
        let (own, none) = (Arc::<Hands>::clone(&clock), "new() starts a thread and returns");
        let scheduler = Arc::new(expect("new()", none, || Scheduler::new(own, below)));
        Arc::new(Self { clock, scheduler, log, threads })
    }

    /// Makes a closure that calls `does` whenever it runs.
    pub(super) fn work(&self, number: u32, does: Does) -> Work {
        self.work_with(number, does, None)
    }

    /// Makes a closure that calls `does` whenever it runs, and `at_drop` when it is dropped.
    pub(super) fn work_with(
        &self,
        number: u32,
        mut does: Does,
        at_drop: Option<Box<dyn FnOnce() + Send>>,
    ) -> Work {
        let captured = Captured { log: Arc::clone(&self.log), number, at_drop };
        Box::new(move |entry| {
            let _running = captured.log.begin(captured.number);
            does(entry);
            thread::yield_now(); // lets other threads act on the end of this run before it ends
        })
    }

    pub(super) fn once(&self, delay: Millis, number: u32, does: Does) -> TaskHandle {
        let work = self.work(number, does);
        expect("schedule()", BUSY, || self.scheduler.schedule(delay, None, work))
    }

    /// Schedules a closure that is due after `period`, and then after each further period.
    pub(super) fn every(&self, period: Millis, number: u32, does: Does) -> TaskHandle {
        let work = self.work(number, does);
        expect("schedule()", BUSY, || self.scheduler.schedule(period, Some(period), work))
    }

    /// Makes a call on another thread, and checks that the call returns while nothing else happens.
    pub(super) fn at_once(&self, what: &str, while_: &str, cause: &str, call: Box<dyn FnOnce() + Send>) {
        let name = what.to_owned();
        let caller = on_a_thread(
            "caller",
            Box::new({
                let cause = cause.to_owned();
                move || expect(&name, &cause, call)
            }),
        );
        if others_come_to_rest() && !caller.is_finished() {
            fail(&format!("{while_}, and {what} does not return"), cause);
        }
        expect("waiting for its caller", cause, || drop(caller.join()));
    }

    pub(super) fn cancel(&self, entry: &TaskHandle) {
        expect("cancel()", BUSY, || entry.cancel());
    }

    /// Waits until the given number of runs have begun in all.
    pub(super) fn until_begun(&self, runs: usize, cause: &str) {
        self.until(&self.log.begins, runs, "the number of runs that are due", cause);
    }

    /// Waits until the given number of runs have ended in all.
    pub(super) fn until_ended(&self, runs: usize, cause: &str) {
        self.until(&self.log.ended, runs, "the number of runs that are due", cause);
    }

    fn until(&self, counter: &Counter, least: usize, what: &str, cause: &str) {
        if others_come_to_rest() && counter.get() < least {
            let (now, begun) = (self.clock.now(), self.log.begun());
            let have_run = match begun.as_slice() {
                [.., _, _, last] if begun.len() > 20 => {
                    format!("{} have begun, the last of entry {last}", begun.len())
                }
                _ => format!("these entries have run: {begun:?}"),
            };
            let seen = format!("the clock says {now}, {what}: {least}; all threads wait, and {have_run}");
            fail(&seen, cause);
        }
        expect("waiting for a run", cause, || counter.wait_for(least));
    }

    /// Waits until this closure was dropped. `when` is part of the message: it says what has happened before.
    pub(super) fn until_dropped(&self, number: u32, when: &str, cause: &str) {
        if others_come_to_rest() {
            self.check_dropped(number, when, cause);
        }
        let mut drops = 0;
        expect("waiting for a closure to be dropped", cause, || {
            while !self.log.is_dropped(number) {
                drops += 1;
                self.log.drops.wait_for(drops);
            }
        });
    }

    /// Checks that the given closure was dropped.
    pub(super) fn check_dropped(&self, number: u32, when: &str, cause: &str) {
        if !self.log.is_dropped(number) {
            fail(&format!("{when}, and the closure of entry {number} has not been dropped"), cause);
        }
    }

    /// Lets all other threads continue until they wait, and then checks that only the runs of the given
    /// entries have begun, in the given order.
    pub(super) fn check(&self, expected: &[u32], cause: &str) {
        others_come_to_rest();
        let begun = self.log.begun();
        if begun != expected {
            let now = self.clock.now();
            fail(
                &format!("the clock says {now}. These entries have run: {begun:?}; expected: {expected:?}"),
                cause,
            );
        }
    }

    pub(super) fn shutdown(&self, cause: &str) {
        expect("shutdown()", cause, || self.scheduler.shutdown());
    }

    /// Waits for the end of all threads of the inner executor.
    pub(super) fn join(&self) {
        if let Some(threads) = &self.threads {
            threads.join(DROPPED);
        }
    }

    /// Ends the scheduler after the event that the property checks.
    pub(super) fn end(&self) {
        aside(|| self.shutdown("shutdown() ends the thread"));
        aside(|| self.join());
    }
}
