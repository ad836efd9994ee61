//! The jobs of the properties, the keys of these jobs, and a record of their actions.

use std::hash::{Hash, Hasher};

use exercises_harness::{expect, fail, panic_on_purpose, step};

use super::super::exercise::{Job, Refused};
use super::{COUNTED_ON_IT, OWN_JOB};
use crate::probe::{Counter, Shared, others_come_to_rest};
use crate::sync::{Arc, thread};

const ONE_AT_A_TIME: &str = "a thread that checks whether the stripe moves, and finds that it does not, has to say in the \
                             same step, under the same lock, that the stripe moves now. The stripe stays in the map, and \
                             moves, until its last job has ended. If it is taken out of the map while a job of it runs, \
                             or while a thread still has it in hand, a second stripe of the key is soon made";

/// The key type of the tests. All keys have the same hash, and the tests count the keys that exist.
#[derive(Clone)]
pub(super) struct Name {
    name: &'static str,
    _alive: Arc<()>,
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        0.hash(state);
    }
}

/// The source of a property's keys.
pub(super) struct Keys(Arc<()>);

impl Keys {
    pub(super) fn new() -> Self {
        Self(Arc::new(()))
    }

    pub(super) fn key(&self, name: &'static str) -> Name {
        Name { name, _alive: Arc::clone(&self.0) }
    }

    /// Returns the number of keys that exist, including clones of keys.
    pub(super) fn left(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

pub(super) fn panics() {
    panic_on_purpose()
}

/// A record of the actions of a property's jobs.
pub(super) struct Log {
    /// The key and the number of each job that has begun.
    begun: Shared<Vec<(&'static str, u32)>>,
    running: Shared<Vec<(&'static str, u32)>>,
    begins: Counter,
    ended: Counter,
}

/// The outcome of a job that was executed on another thread.
pub(super) type Fate = Arc<Shared<Option<Result<(), Refused>>>>;

/// A job that is running. The drop of this value records the end of the job, even after a panic.
struct Running<'a>(&'a Log, u32);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let Self(log, number) = self;
        log.running.with(|running| running.retain(|(_, other)| other != number));
        step(&format!("job {number} ends"));
        log.ended.add();
    }
}

impl Log {
    pub(super) fn new() -> Arc<Self> {
        let (begins, ended) = (Counter::new("a job to begin"), Counter::new("the jobs to have run"));
        Arc::new(Self { begun: Shared::default(), running: Shared::default(), begins, ended })
    }

    /// Makes a job of the given key that calls `work`.
    pub(super) fn job(self: &Arc<Self>, key: &'static str, number: u32, work: Job) -> Job {
        let log = Arc::clone(self);
        Box::new(move || {
            let _running = log.begin(key, number);
            work();
            thread::yield_now(); // gives a thread that wrongly begins a job the time for it
        })
    }

    fn begin(&self, key: &'static str, number: u32) -> Running<'_> {
        step(&format!("job {number} begins, of {key}"));
        self.begun.with(|begun| begun.push((key, number)));
        let other = self.running.with(|running| {
            let other = running.iter().find(|(other, _)| *other == key).copied();
            running.push((key, number));
            other
        });
        if let Some((_, other)) = other {
            fail(
                &format!("job {number} of {key} begins, and job {other} of {key} has not ended"),
                ONE_AT_A_TIME,
            );
        }
        self.begins.add();
        Running(self, number)
    }

    /// Returns the jobs that have begun, in the order in which they began.
    pub(super) fn begun(&self) -> Vec<u32> {
        self.begun.with(|begun| begun.iter().map(|(_, number)| *number).collect())
    }

    pub(super) fn has_run(&self, number: u32) -> bool {
        self.begun().contains(&number)
    }

    /// Waits until the given job has begun.
    pub(super) fn until_begun(&self, number: u32) {
        let mut jobs = 0;
        while !self.has_run(number) {
            jobs += 1;
            self.begins.wait_for(jobs);
        }
    }

    /// Waits until the given number of jobs have ended.
    pub(super) fn until_ended(&self, jobs: usize, cause: &str) {
        if others_come_to_rest() && self.ended.get() < jobs {
            let ran = self.begun();
            fail(
                &format!(
                    "{jobs} jobs were taken, no thread does anything any more, and only these have run: {ran:?}"
                ),
                cause,
            );
        }
        expect("waiting for the jobs", cause, || self.ended.wait_for(jobs));
    }

    /// Checks that exactly the expected jobs have run, in the given order.
    pub(super) fn check(&self, expected: &[u32], cause: &str) {
        let begun = self.begun();
        if begun != expected {
            fail(&format!("these jobs have run: {begun:?}; expected: {expected:?}"), cause);
        }
    }

    /// Checks that exactly the expected jobs have run, and that the jobs of each key have run in the given
    /// order.
    pub(super) fn check_of_each(&self, expected: &[u32], cause: &str) {
        let mut begun = self.begun.with(|begun| begun.clone());
        begun.sort_by_key(|(key, _)| *key); // is stable
        let mut of_each = begun.chunk_by(|(one, _), (other, _)| one == other);
        let in_order = of_each.all(|jobs| jobs.is_sorted_by_key(|(_, number)| *number));
        let mut numbers: Vec<u32> = begun.iter().map(|(_, number)| *number).collect();
        numbers.sort_unstable();
        if numbers != expected || !in_order {
            fail(
                &format!(
                    "these jobs have run: {begun:?}; expected: {expected:?}, the jobs of each key in this order"
                ),
                cause,
            );
        }
    }

    /// Checks that each of these jobs has run if it was taken, and can still be run if it was given back.
    /// Checks the jobs that were given back before all other jobs: if a call gave back the wrong job, this
    /// mistake explains why another job does not run.
    pub(super) fn check_fates(&self, fates: &[(u32, Fate)]) {
        let mut taken = Vec::new();
        for (number, fate) in fates {
            match fate.with(Option::take).expect("execute() has returned") {
                Ok(()) => taken.push(number),
                Err(Refused(job)) => self.check_refused(*number, job),
            }
        }
        if let Some(number) = taken.into_iter().find(|number| !self.has_run(**number)) {
            let seen = format!(
                "job {number} was taken, the underlying executor has called everything that it was given, but the job \
                 has not run"
            );
            fail(&seen, COUNTED_ON_IT);
        }
    }

    fn check_refused(&self, number: u32, job: Job) {
        if self.has_run(number) {
            fail(&format!("job {number} was refused, and has run"), OWN_JOB);
        }
        step(&format!("calls job {number}, which was refused"));
        job();
        if !self.has_run(number) {
            fail(&format!("job {number} was refused, and what came back is another job"), OWN_JOB);
        }
    }
}
