//! The properties of the bounded executor; each property is a function. `exercise.toml` lists the properties
//! and says what each of them promises.

use std::collections::VecDeque;

use executor::prelude::*;
use executor::{
    CancelToken, DirectExecutor, Executor, Outcome, RejectReason, RejectedExecution, Task, ThreadPoolExecutor,
};
use exercises_harness::{expect, fail, panic_on_purpose, step};

use super::exercise::BoundedExecutor;
use crate::probe::{Counter, Shared, until_others_wait};
use crate::sync::{Arc, thread};

/// An inner executor that the property controls: it keeps each task until the property runs the task, and
/// refuses tasks if the property says so.
#[derive(Clone)]
struct Inner(Arc<InnerState>);

struct InnerState {
    tasks: Shared<VecDeque<Task>>,
    refuses: Shared<bool>,
    /// The number of tasks that were accepted so far.
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

    /// Removes and returns the oldest task that the executor keeps.
    fn take(&self) -> Task {
        Self::taken(self.0.tasks.with(VecDeque::pop_front))
    }

    fn taken(task: Option<Task>) -> Task {
        task.unwrap_or_else(|| {
            let cause = "execute() returned Ok, and has not given the job to the inner executor";
            fail("the inner executor has no task", cause)
        })
    }

    fn run_one(&self) -> Outcome {
        let task = self.take();
        step("the inner executor runs the job");
        task.run()
    }

    fn run_last(&self) {
        let task = Self::taken(self.0.tasks.with(VecDeque::pop_back));
        step("the inner executor runs the job that came last");
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

/// Executes a job, and fails if the job is refused.
fn let_in(bounded: &BoundedExecutor<Inner>, cause: &str, job: impl FnOnce() + Send + 'static) {
    if expect("execute()", cause, || bounded.execute(job)).is_err() {
        fail(
            "execute() refused the job, and the inner executor has not",
            "a bounded executor has to wait for room, and must not refuse a job because there is no room",
        );
    }
}

/// Checks that the executor has room for exactly one job while it has no job.
fn check_room_for_one(inner: &Inner, bounded: Arc<BoundedExecutor<Inner>>, cause: &'static str, twice: &str) {
    let before = inner.accepted();
    let_in(&bounded, cause, || {});
    let second = {
        let job = || step("the second job runs");
        let submit = move || let_in(&bounded, cause, job);
        thread::Builder::new().name("second".into()).spawn(submit).expect("a thread")
    };
    // The first job is let in and not run yet. Until the property runs the first job, the second job must
    // wait.
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

/// Calls execute() on a new thread.
fn submitter(name: &str, bounded: &Arc<BoundedExecutor<Inner>>) -> thread::JoinHandle<()> {
    let bounded = Arc::clone(bounded);
    let submit = move || let_in(&bounded, "a permit does not come back when its job is done", || {});
    thread::Builder::new().name(name.into()).spawn(submit).expect("a thread")
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
                "a bounded executor has to wait for room, and must not refuse a job because there is no room",
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
    let submitters: Vec<_> = (1..=2).map(|n| submitter(&format!("submitter {n}"), &bounded)).collect();
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
    let second = submitter("second", &bounded);
    inner.run_one();
    inner.wait_for(2);
    if seen.get() > 0 {
        fail(
            "a second job was let in while the first one was running, and the bound is 1",
            "the permit comes back too early. `let _ = x;` drops x at once (`let _x = x;` does not), and a value that is \
             not moved into the job's closure is dropped when execute() returns",
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
    check_room_for_one(&inner, Arc::new(bounded), "a permit does not come back when its job is done", twice);
}

pub fn the_permit_comes_back_when_the_job_panics() {
    let inner = Inner::new();
    let bounded = BoundedExecutor::new(inner.clone(), 1);
    let_in(&bounded, NO_ROOM_YET, || panic_on_purpose());
    inner.run_one();
    let cause = "the permit of the job that panicked is lost. What stands after job() is not reached then: give the \
                 permit back in a Drop";
    let twice = "the permit of the job that panicked came back twice";
    check_room_for_one(&inner, Arc::new(bounded), cause, twice);
}

pub fn the_permit_comes_back_when_the_inner_executor_refuses() {
    let inner = Inner::new();
    let bounded = BoundedExecutor::new(inner.clone(), 1);
    inner.refuse(true);
    let refused =
        expect("execute()", NO_ROOM_YET, || bounded.execute(|| step("the refused job runs after all")));
    match refused {
        Err(rejected) => drop(rejected), // drops the job, too
        Ok(()) => refusal_lost(),
    }
    step("drops the refused job");
    inner.refuse(false);
    let cause = "the permit of the job that was refused is lost: it must come back when the inner executor refuses the job";
    let twice =
        "the permit of the refused job came back twice: on the error, and again when the job was dropped";
    check_room_for_one(&inner, Arc::new(bounded), cause, twice);
}

fn refusal_lost() -> ! {
    fail(
        "the inner executor refused, and execute() returned Ok",
        "the job is lost and the caller does not know: pass the error on",
    )
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
    check_room_for_one(&inner, Arc::new(bounded), cause, "the permit of the dropped job came back twice");
}

pub fn execute_sleeps_while_there_is_no_room() {
    let inner = Inner::new();
    let bounded = Arc::new(BoundedExecutor::new(inner.clone(), 1));
    let_in(&bounded, NO_ROOM_YET, || {});
    let second = submitter("second", &bounded);
    until_others_wait(
        "execute() runs on and on while there is no room",
        "execute() asks again and again whether there is room, and so keeps a core busy: acquire() sleeps until there is \
         room",
    );
    inner.run_one();
    inner.wait_for(2);
    inner.run_one();
    join(second);
}

pub fn a_place_is_free_whichever_job_is_done() {
    let inner = Inner::new();
    let bounded = BoundedExecutor::new(inner.clone(), 2);
    for job in 1..=2 {
        let_in(&bounded, NO_ROOM_YET, move || step(&format!("job {job} runs")));
    }
    inner.run_last();
    let cause = "the job that came second is done, the first is not, and execute() waits: does it wait for one job in \
                 particular, and not for any place that becomes free?";
    let_in(&bounded, cause, || {});
    inner.run_one();
    inner.run_one();
}

pub fn a_job_may_execute_another() {
    let bounded = Arc::new(BoundedExecutor::new(DirectExecutor, 2));
    let ran = Arc::new(Counter::new("the other job to run"));
    let cause = "a job calls execute() on the thread that runs it, and there is room for both: does execute() keep others out \
                 while it hands a job over?";
    let job = {
        let (bounded, ran) = (Arc::clone(&bounded), Arc::clone(&ran));
        move || {
            step("the job executes another");
            let other = move || {
                step("the other job runs");
                ran.add();
            };
            drop(expect("execute()", cause, || bounded.execute(other)));
        }
    };
    drop(expect("execute()", cause, || bounded.execute(job)));
    if ran.get() != 1 {
        fail(
            "a job executed another job, and the other job did not run",
            "execute() refused it, or has lost it",
        );
    }
}

pub fn a_refused_job_comes_back_whole() {
    let inner = Inner::new();
    let bounded = BoundedExecutor::new(inner.clone(), 1);
    let ran = Arc::new(Counter::new("the job to run"));
    let runs = Arc::clone(&ran);
    inner.refuse(true);
    let refused = expect("execute()", NO_ROOM_YET, || {
        bounded.execute(move || {
            runs.add();
        })
    });
    let Err(RejectedExecution { reason, task }) = refused else { refusal_lost() };
    if !matches!(reason, RejectReason::Shutdown) {
        fail(
            &format!("the inner executor refused because it is shut down, and execute() says: {reason}"),
            "pass on the error of the inner executor as it is: what the caller does next depends on the reason",
        );
    }
    step("runs the task that came back");
    task.run();
    if ran.get() != 1 {
        fail(
            &format!("the task that came back was run once, and the job {} times", ran.get()),
            "the error has to hold the job itself, as the inner executor has given it back: the caller may run it \
             elsewhere, or later",
        );
    }
}

pub fn the_inner_executor_sees_how_the_job_ended() {
    let inner = Inner::new();
    let bounded = BoundedExecutor::new(inner.clone(), 2);
    let_in(&bounded, NO_ROOM_YET, || step("the job returns"));
    let_in(&bounded, NO_ROOM_YET, || panic_on_purpose());
    let outcome = inner.run_one();
    if !matches!(outcome, Outcome::Completed) {
        fail(
            &format!("a job returned, and the inner executor saw {outcome:?}"),
            "what else runs in that task?",
        );
    }
    if !matches!(inner.run_one(), Outcome::Panicked(_)) {
        fail(
            "a job panicked, and the inner executor took it for done",
            "the panic is caught on the way and goes no further, so the inner executor's panic handler and hooks hear \
             nothing of it. Let it pass (a Drop gives the permit back all the same), or pass it on with resume_unwind",
        );
    }
}

pub fn a_cancelled_caller_does_not_get_in_without_room() {
    let inner = Inner::new();
    let bounded = Arc::new(BoundedExecutor::new(inner.clone(), 1));
    let_in(&bounded, NO_ROOM_YET, || {});
    let caller = {
        let bounded = Arc::clone(&bounded);
        let token = CancelToken::new();
        token.cancel();
        let cause = "acquire() returns an error if the caller's task is cancelled. execute() must not panic then, or wait \
                     for ever: refuse the job (RejectReason::Interrupted), or go on waiting";
        let submit = move || drop(expect("execute()", cause, || bounded.execute(|| {})));
        let submit = move || token.attach(submit);
        thread::Builder::new().name("cancelled caller".into()).spawn(submit).expect("a thread")
    };
    for _ in 0..10 {
        thread::yield_now();
    }
    if inner.accepted() > 1 {
        fail(
            "two jobs were let in, and the bound is 1: the caller of the second is cancelled",
            "acquire() returned an error and no permit, and the job was handed over all the same. Refuse the job \
             (RejectReason::Interrupted), or go on waiting",
        );
    }
    inner.run_one();
    join(caller);
    if inner.accepted() > 1 {
        inner.run_one();
    }
    check_room_for_one(
        &inner,
        bounded,
        "a caller whose task was cancelled was refused or let in, and its permit is gone",
        "acquire() has given the caller no permit, and the caller gave one back: make the value that returns the permit only after \
         acquire() has succeeded",
    );
}

pub fn many_jobs_are_let_in_and_come_back() {
    const BOUND: usize = 300;
    const WAITING: usize = 40;
    const ALL_OF_THEM: &str = "the bound may be any number: there are as many permits as it says, and each permit comes \
                               back, however its job ends. For usize::MAX, do not allocate memory for each place";
    if !exercises_harness::first_run!() {
        return;
    }
    let inner = Inner::new();
    let bounded = Arc::new(BoundedExecutor::new(inner.clone(), BOUND));
    for round in 1..=3 {
        for job in 0..BOUND {
            let work = move || {
                if job % 4 == 0 {
                    panic_on_purpose();
                }
            };
            let what = format!("execute() of job {} in round {round}, with a bound of {BOUND}", job + 1);
            if expect(&what, ALL_OF_THEM, || bounded.execute(work)).is_err() {
                fail(&format!("{what} refused the job, and the inner executor has not"), ALL_OF_THEM);
            }
        }
        if round < 3 {
            (0..BOUND).for_each(|job| if job % 5 == 0 { drop(inner.take()) } else { drop(inner.run_one()) });
        }
    }
    let waiting: Vec<_> = (0..WAITING).map(|_| submitter("submitter", &bounded)).collect();
    until_others_wait(
        "execute() runs on and on while there is no room",
        "wait on a semaphore, or on a Condvar",
    );
    for _ in 0..WAITING {
        inner.run_one();
    }
    for submitter in waiting {
        expect("execute(), for which there is room now", ALL_OF_THEM, || join(submitter));
    }
    let boundless = expect("an executor with a bound of usize::MAX", ALL_OF_THEM, || {
        BoundedExecutor::new(inner.clone(), usize::MAX)
    });
    let_in(&boundless, ALL_OF_THEM, || {});
}
