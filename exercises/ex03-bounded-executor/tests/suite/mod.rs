//! The properties of the bounded executor, each a function. `exercise.toml` lists them and says what each promises.

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{Executor, RejectReason, RejectedExecution, Task, ThreadPoolExecutor};
use exercises_harness::{expect, fail, panic_on_purpose, step};

use super::exercise::BoundedExecutor;
use crate::probe::{Counter, Shared};
use crate::sync::{Arc, thread};

/// An inner executor under the property's control: it keeps the tasks until it is told what to do with them, and
/// refuses if it is told to.
#[derive(Clone)]
struct Inner(Arc<InnerState>);

struct InnerState {
    tasks: Shared<VecDeque<Task>>,
    refuses: Shared<bool>,
    /// How many were accepted so far.
    accepted: Counter,
}

impl Inner {
    fn new() -> Self {
        Self(Arc::new(InnerState {
            tasks: Shared::default(),
            refuses: Shared::default(),
            accepted: Counter::new("the inner executor to be given the job"),
        }))
    }

    fn refuse(&self, refuses: bool) {
        self.0.refuses.with(|now| *now = refuses);
    }

    fn take(&self) -> Task {
        let task = self.0.tasks.with(VecDeque::pop_front);
        task.unwrap_or_else(|| {
            let cause = "execute() returned Ok, and has not given the job to the inner executor";
            fail("the inner executor has no task", cause)
        })
    }

    fn run_one(&self) {
        let task = self.take();
        step("the inner executor runs the job");
        task.run();
    }

    fn wait_for(&self, accepted: usize) {
        let cause = "a job was neither let in nor refused: does it run on the submitter's thread, or does a permit not \
                     come back when its job is done?";
        expect("waiting for the next job to be let in", cause, || self.0.accepted.wait_for(accepted));
    }

    fn accepted(&self) -> usize {
        self.0.accepted.get()
    }
}

impl Executor for Inner {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        if self.0.refuses.with(|refuses| *refuses) {
            step("the inner executor refuses");
            return Err(RejectedExecution { reason: RejectReason::Shutdown, task });
        }
        self.0.tasks.with(|tasks| tasks.push_back(task));
        step("the inner executor queues the job");
        self.0.accepted.add();
        Ok(())
    }
}

const NO_ROOM_YET: &str = "there is room, and execute() waits: is the semaphore made with `bound` permits?";

/// Executes a job that must be let in.
fn let_in(bounded: &BoundedExecutor<Inner>, cause: &str, job: impl FnOnce() + Send + 'static) {
    if expect("execute()", cause, || bounded.execute(job)).is_err() {
        fail(
            "execute() refused the job, and the inner executor has not",
            "a bounded executor has to wait for room, not to refuse for want of it",
        );
    }
}

/// Sees that there is room for one job and for no other, now that nothing is under way.
fn check_room_for_one(inner: &Inner, bounded: BoundedExecutor<Inner>, cause: &'static str, twice: &str) {
    let before = inner.accepted();
    let_in(&bounded, cause, || {});
    let second = {
        let job = || step("the second job runs");
        let submit = move || let_in(&bounded, cause, job);
        thread::Builder::new().name("second".into()).spawn(submit).expect("a thread")
    };
    // The first job is let in and not run: the second must still be waiting when we say so.
    for _ in 0..10 {
        thread::yield_now();
    }
    if inner.accepted() > before + 1 {
        fail("two jobs were let in, and the bound is 1", twice);
    }
    inner.run_one();
    inner.wait_for(before + 2);
    inner.run_one();
    join(second);
}

fn join<T>(handle: thread::JoinHandle<T>) {
    if handle.join().is_err() {
        fail("a thread of the test panicked", "execute() never panics");
    }
}

pub fn every_job_runs_once() {
    let pool = Arc::new(ThreadPoolExecutor::fixed(2));
    let bounded = BoundedExecutor::new(Arc::clone(&pool), 2);
    let ran = Arc::new(Counter::new("three jobs to have run"));
    let cause = "a permit does not come back when its job is done";
    for job in 1..=3 {
        let ran = Arc::clone(&ran);
        let accepted = expect("execute()", cause, || {
            bounded.execute(move || {
                step(&format!("job {job} runs"));
                ran.add();
            })
        });
        if accepted.is_err() {
            fail(
                "execute() refused a job",
                "a bounded executor has to wait for room, not to refuse for want of it",
            );
        }
    }
    expect("waiting for three jobs", "a job was accepted, and neither run nor given back", || {
        ran.wait_for(3)
    });
    pool.close();
    if ran.get() != 3 {
        fail(
            &format!("{} runs of 3 jobs", ran.get()),
            "a job is run here and given to the inner executor as well",
        );
    }
}

pub fn as_many_jobs_are_let_in_as_the_bound_says() {
    let inner = Inner::new();
    let bounded = BoundedExecutor::new(inner.clone(), 2);
    for _ in 0..2 {
        let_in(&bounded, NO_ROOM_YET, || {});
    }
    inner.run_one();
    inner.run_one();
}

pub fn no_more_jobs_are_let_in_than_the_bound_says() {
    let inner = Inner::new();
    let bounded = Arc::new(BoundedExecutor::new(inner.clone(), 1));
    let submit = |job: usize| {
        let bounded = Arc::clone(&bounded);
        let submit = move || let_in(&bounded, "a permit does not come back when its job is done", || {});
        thread::Builder::new().name(format!("submitter {job}")).spawn(submit).expect("a thread")
    };
    let submitters: Vec<_> = (1..=2).map(submit).collect();
    for job in 1..=2 {
        inner.wait_for(job);
        thread::yield_now();
        let queued = inner.0.tasks.with(|tasks| tasks.len());
        if queued > 1 {
            fail(
                &format!("{queued} jobs are queued in the inner executor, and the bound is 1"),
                "the permit has to be taken by execute(), before the job is handed over, and given back when the job \
                 is done, not before (`let _ = x;` drops x at once, `let _x = x;` does not)",
            );
        }
        inner.run_one();
    }
    submitters.into_iter().for_each(join);
}

pub fn a_running_job_keeps_its_place() {
    let inner = Inner::new();
    let bounded = Arc::new(BoundedExecutor::new(inner.clone(), 1));
    let seen = Arc::new(Counter::new("nothing"));
    let job = {
        let (inner, seen) = (inner.clone(), Arc::clone(&seen));
        move || {
            step("the job begins");
            for _ in 0..10 {
                thread::yield_now();
            }
            if inner.accepted() > 1 {
                seen.add();
            }
            step("the job ends");
        }
    };
    let_in(&bounded, NO_ROOM_YET, job);
    let second = {
        let bounded = Arc::clone(&bounded);
        let submit = move || let_in(&bounded, "a permit does not come back when its job is done", || {});
        thread::Builder::new().name("second".into()).spawn(submit).expect("a thread")
    };
    inner.run_one();
    inner.wait_for(2);
    if seen.get() > 0 {
        fail(
            "a second job was let in while the first one was running, and the bound is 1",
            "the permit comes back too early. `let _ = x;` drops x at once (`let _x = x;` does not), and what is not \
             moved into the job's closure is dropped when execute() returns",
        );
    }
    inner.run_one();
    join(second);
}

pub fn the_permit_comes_back_when_the_job_is_done() {
    let inner = Inner::new();
    let bounded = BoundedExecutor::new(inner.clone(), 1);
    let_in(&bounded, NO_ROOM_YET, || step("the job runs"));
    inner.run_one();
    let twice = "more permits come back than were taken: each has to be given back once, in one place";
    check_room_for_one(&inner, bounded, "a permit does not come back when its job is done", twice);
}

pub fn the_permit_comes_back_when_the_job_panics() {
    let inner = Inner::new();
    let bounded = BoundedExecutor::new(inner.clone(), 1);
    let_in(&bounded, NO_ROOM_YET, || panic_on_purpose());
    inner.run_one();
    let cause = "the permit of the job that panicked is lost. What stands after job() is not reached then: give the \
                 permit back in a Drop";
    let twice = "the permit of the job that panicked came back twice";
    check_room_for_one(&inner, bounded, cause, twice);
}

pub fn the_permit_comes_back_when_the_inner_executor_refuses() {
    let inner = Inner::new();
    let bounded = BoundedExecutor::new(inner.clone(), 1);
    inner.refuse(true);
    let refused =
        expect("execute()", NO_ROOM_YET, || bounded.execute(|| step("the refused job runs after all")));
    match refused {
        Err(rejected) => drop(rejected), // and the job with it
        Ok(()) => fail(
            "the inner executor refused, and execute() returned Ok",
            "the job is lost and nobody knows: pass the error on",
        ),
    }
    step("drops the refused job");
    inner.refuse(false);
    let cause =
        "the permit of the job that was refused is lost: it has to come back when the inner executor says no";
    let twice =
        "the permit of the refused job came back twice: on the error, and again when the job was dropped";
    check_room_for_one(&inner, bounded, cause, twice);
}

pub fn the_permit_comes_back_when_the_job_is_dropped_unrun() {
    let inner = Inner::new();
    let bounded = BoundedExecutor::new(inner.clone(), 1);
    let_in(&bounded, NO_ROOM_YET, || {});
    let task = inner.take();
    step("the inner executor drops the job, as at shutdown_now()");
    drop(task);
    let cause = "the permit of the job that was never run is lost: a closure that is dropped runs no code but the Drop \
                 of what it has captured. Let it capture something that gives the permit back";
    check_room_for_one(&inner, bounded, cause, "the permit of the dropped job came back twice");
}
