//! What the properties use: jobs that are submitted, joined and waited for, and the likely causes.

use exercises_harness::{aside, at_once, expect, fail, step};

use super::super::exercise::{Handle, Panicked, Pool};
use crate::probe::{Counter, Shared, others_come_to_rest};
use crate::sync::{Arc, thread};

pub(super) const CLAIM: &str = "a worker that joins a job which nobody has begun has to claim it and run it itself, whoever has \
                                submitted it: if all workers only wait, nobody is left who could begin what they wait for";
pub(super) const GETS_IT: &str = "everybody who joins a job gets its result: a worker and a thread outside, the first and the \
                                  next, before the job has ended and after. All who wait for its end have to be woken; \
                                  so wake all, and let nothing come between the look and the wait";
pub(super) const DOES_NOT_WAIT: &str =
    "submit() puts the job into the queue and returns: it neither runs it nor waits for one that runs";
pub(super) const SPINS: &str = "who waits for a job that another thread runs (or will run) must not look again and again: wait on a \
                                Condvar";
pub(super) const NO_OTHER: &str = "while a worker waits in join() it runs no job but the one that it waits for: any other one may \
                                   need what the waiting job holds, or wait for something that this one does only afterwards, and \
                                   it is under it on the same stack";
pub(super) const NOT_OUTSIDE: &str = "only a worker of the job's own pool claims it. Everybody else waits: a pool of one thread \
                                      promises that its jobs run on that thread";
pub(super) const HUSK: &str = "the entry of a job that was claimed is still in the queue (unless you have taken it out). The worker \
                               who comes to it has nothing to do there: it must not wait for the job, and must not end, but take \
                               the next entry";
pub(super) const STUCK_SHUTDOWN: &str = "a worker does not end, or a job does not";

type Work = Box<dyn FnOnce() -> u32 + Send>;
pub(super) type Outcome = Result<u32, Panicked>;

/// Submits a job, which returns at once.
pub(super) fn submit(pool: &Pool, work: Work) -> Handle<u32> {
    at_once("submit()", DOES_NOT_WAIT, || pool.submit(work))
}

/// Submits a job that does this and returns 0.
pub(super) fn execute(pool: &Pool, work: Box<dyn FnOnce() + Send>) -> Handle<u32> {
    let returns = move || {
        work();
        0
    };
    submit(pool, Box::new(returns))
}

pub(super) fn outcome(what: &str, cause: &str, handle: &Handle<u32>) -> Outcome {
    expect(what, cause, || handle.join())
}

/// Joins a job that does not panic.
pub(super) fn join(what: &str, cause: &str, handle: &Handle<u32>) -> u32 {
    outcome(what, cause, handle).unwrap_or_else(|_| {
        fail(&format!("{what} gave Err(Panicked), and the job has not panicked"), cause);
    })
}

pub(super) fn shut_down(pool: &Pool) {
    aside(|| expect("shutdown()", STUCK_SHUTDOWN, || pool.shutdown()));
}

pub(super) fn on_a_thread(name: &str, work: Box<dyn FnOnce() + Send>) -> thread::JoinHandle<()> {
    thread::Builder::new().name(name.into()).spawn(work).expect("a thread")
}

pub(super) fn ended(thread: thread::JoinHandle<()>) {
    if thread.join().is_err() {
        fail("a thread of the test panicked", "join() and shutdown() never panic");
    }
}

/// Jobs that have begun and ended, of so many.
pub(super) struct Progress {
    jobs: usize,
    begun: Counter,
    ended: Counter,
}

impl Progress {
    pub(super) fn of(jobs: usize) -> Arc<Self> {
        let (begun, ended) = (Counter::new("the jobs to begin"), Counter::new("all jobs to end"));
        Arc::new(Self { jobs, begun, ended })
    }

    /// The body of a job.
    pub(super) fn job(&self, what: &str, work: impl FnOnce() -> u32) -> u32 {
        step(&format!("{what} begins"));
        self.begun.add();
        let result = work();
        step(&format!("{what} ends"));
        self.ended.add();
        result
    }

    /// Waits for all jobs.
    pub(super) fn until_all_ended(&self, what: &str, cause: &str) {
        if others_come_to_rest() && self.begun.get() < self.jobs {
            let waiting = self.begun.get() - self.ended.get();
            let left = self.jobs - self.begun.get();
            let seen = format!(
                "{what} stands still: jobs that have begun and wait: {waiting}; jobs that nobody begins: {left}"
            );
            fail(&seen, cause);
        }
        expect(&format!("waiting for {what}"), cause, || self.ended.wait_for(self.jobs));
    }
}

/// Submits a job that submits the next and joins it, and so on.
pub(super) fn chain(pool: &Pool, links: usize, progress: &Arc<Progress>) -> Handle<u32> {
    let (jobs, mine) = (pool.clone(), Arc::clone(progress));
    let link = move || {
        let name = format!("the job that has {} behind it", links - 1);
        mine.job(&name, || match links {
            1 => 1,
            _ => 1 + join("join() of the next", CLAIM, &chain(&jobs, links - 1, &mine)),
        })
    };
    submit(pool, Box::new(link))
}

/// A gate at which a job waits until the test opens it, and who is inside.
pub(super) struct Gate {
    pub(super) begun: Counter,
    open: Counter,
}

impl Gate {
    pub(super) fn new() -> Arc<Self> {
        let (begun, open) =
            (Counter::new("the job at the gate to begin"), Counter::new("the gate to be opened"));
        Arc::new(Self { begun, open })
    }

    /// A job that waits here, and brings 7.
    pub(super) fn job(self: &Arc<Self>) -> Work {
        let gate = Arc::clone(self);
        Box::new(move || {
            step("the job begins, and waits at the gate");
            gate.begun.add();
            gate.open.wait_for(1);
            7
        })
    }

    pub(super) fn until_begun(&self) {
        let cause = "a worker that is free takes the next entry, and the job is there until it has run, also if its handle was \
                     dropped";
        expect("waiting for a job to begin", cause, || self.begun.wait_for(1));
    }

    pub(super) fn open(&self) {
        step("opens the gate");
        self.open.add();
    }
}

/// The threads that join a job and must not run it.
#[derive(Default)]
pub(super) struct Joiners(Shared<Vec<thread::ThreadId>>);

impl Joiners {
    /// The calling thread is one.
    pub(super) fn join(&self, what: &str, handle: &Handle<u32>) {
        let me = thread::current().id();
        self.0.with(|joiners| joiners.push(me));
        join(what, NOT_OUTSIDE, handle);
    }

    /// A job that none of them may run.
    pub(super) fn job(self: &Arc<Self>, whose: &'static str) -> Box<dyn FnOnce() + Send> {
        let joiners = Arc::clone(self);
        Box::new(move || {
            step("the job runs");
            let me = thread::current().id();
            if joiners.0.with(|joiners| joiners.contains(&me)) {
                fail(&format!("the job runs inside join(), on {whose}"), NOT_OUTSIDE);
            }
        })
    }
}

/// The thread on which a job is under way that waits in join().
#[derive(Default)]
pub(super) struct Waiting(Shared<Option<thread::ThreadId>>);

impl Waiting {
    pub(super) fn join(&self, handle: &Handle<u32>) {
        let me = thread::current().id();
        self.0.with(|waiting| *waiting = Some(me));
        join("join()", NO_OTHER, handle);
        self.0.with(|waiting| *waiting = None);
    }

    /// A job that must not run there.
    pub(super) fn other_job(self: &Arc<Self>, name: &'static str) -> Box<dyn FnOnce() + Send> {
        let waiting = Arc::clone(self);
        Box::new(move || {
            step(&format!("{name} runs"));
            let me = thread::current().id();
            if waiting.0.with(|waiting| *waiting == Some(me)) {
                fail(&format!("{name}, which nobody joins, runs inside the join() of another job"), NO_OTHER);
            }
        })
    }
}

/// The job that is submitted last, and should be run.
pub(super) struct Last {
    ran: Counter,
}

impl Last {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { ran: Counter::new("the job that was submitted last") })
    }

    pub(super) fn submit(self: &Arc<Self>, pool: &Pool) {
        let last = Arc::clone(self);
        let work = move || {
            step("the last job runs");
            last.ran.add();
        };
        drop(execute(pool, Box::new(work)));
    }

    pub(super) fn wait(&self) {
        self.ran.wait_for(1);
    }

    /// `seen` is what is seen if it never runs, and `cause` why.
    pub(super) fn until_ran(&self, seen: &str, cause: &str) {
        if others_come_to_rest() && self.ran.get() == 0 {
            fail(seen, cause);
        }
        expect("waiting for the last job", cause, || self.wait());
    }
}
