//! Helpers for the tests: computations that split themselves, halves that wait, and the likely causes of
//! failures.

use std::panic::{AssertUnwindSafe, catch_unwind};

use exercises_harness::{at_once, expect, fail, step};

use super::super::exercise::Pool;
use super::{HAND_OVER, TAKE_BACK};
use crate::probe::{Counter, Shared, others_come_to_rest};
use crate::sync::{Arc, thread};

/// The closure of a half that the tests give to join().
pub(super) type Half = Box<dyn FnOnce() -> u32 + Send>;

/// Makes a half that returns the given value.
pub(super) fn brings(result: u32) -> Half {
    Box::new(move || result)
}

/// Joins two halves that do not panic. `cause` is the likely cause if the join never ends, or returns another
/// result.
pub(super) fn join(pool: &Pool, cause: &str, a: Half, b: Half) -> (u32, u32) {
    expect("join()", cause, || pool.join(a, b))
}

/// Makes a half that joins two halves and returns `10 * a + b`, where `a` and `b` are their results. Neither
/// of the two halves panics.
pub(super) fn joins(pool: &Pool, cause: &'static str, a: Half, b: Half) -> Half {
    let pool = pool.clone();
    Box::new(move || {
        let (a, b) = join(&pool, cause, a, b);
        10 * a + b
    })
}

/// Joins two halves, and expects that at least one of them panics. Returns the text of the panic.
pub(super) fn join_that_panics(pool: &Pool, cause: &str, a: Half, b: Half) -> Option<&'static str> {
    let joined = expect("join()", cause, || catch_unwind(AssertUnwindSafe(|| pool.join(a, b))));
    let Err(panic) = joined else { fail("a half has panicked, and join() has returned", cause) };
    step("join() panics");
    panic.downcast_ref::<&'static str>().copied()
}

pub(super) fn submit(pool: &Pool, job: Box<dyn FnOnce() + Send>) {
    at_once("submit()", HAND_OVER, || pool.submit(job));
}

/// A submitted job; its counter tells whether the job has ended.
pub(super) struct Job(Arc<Counter>);

impl Job {
    /// Submits a job that should return the given value. `cause` is the likely cause if the job returns
    /// another value, or never ends.
    pub(super) fn submit(pool: &Pool, expected: u32, cause: &'static str, work: Half) -> Self {
        let ended = Arc::new(Counter::new("the job to end"));
        let told = Arc::clone(&ended);
        let job = move || {
            step("the job begins");
            let result = work();
            if result != expected {
                fail(&format!("the job returned {result}, and not {expected}"), cause);
            }
            step("the job ends");
            told.add();
        };
        submit(pool, Box::new(job));
        Self(ended)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.0.get() > 0
    }

    /// Waits until the job has ended.
    pub(super) fn ends(&self, cause: &str) {
        expect("waiting for the job", cause, || self.0.wait_for(1));
    }
}

/// Runs a job on the pool, and checks that the job returns the given value.
pub(super) fn run(pool: &Pool, expected: u32, cause: &'static str, work: Half) {
    Job::submit(pool, expected, cause, work).ends(cause);
}

/// Runs a job like `run`, and reports `cause` if the pool comes to a standstill.
pub(super) fn run_unless_stuck(pool: &Pool, expected: u32, cause: &'static str, work: Half) {
    let job = Job::submit(pool, expected, cause, work);
    if others_come_to_rest() && !job.has_ended() {
        fail("the pool stands still: a half is in the queue, and every worker waits for something", cause);
    }
    job.ends(cause);
}

pub(super) fn shut_down(pool: &Pool) {
    expect("shutdown()", TAKE_BACK, || pool.shutdown());
}

/// Makes a half that waits until another half with the same counter has begun.
pub(super) fn meet(both: &Arc<Counter>, result: u32) -> Half {
    let both = Arc::clone(both);
    Box::new(move || {
        step("a half begins, and waits for the other one");
        both.add();
        both.wait_for(2);
        result
    })
}

/// The threads on which the leaves of a tree of joins have run.
pub(super) type Leaves = Arc<Shared<Vec<thread::ThreadId>>>;

/// Makes a tree of nested joins with the given number of levels; each leaf returns 1.
pub(super) fn tree(pool: &Pool, cause: &'static str, levels: usize, leaves: &Leaves) -> Half {
    let (pool, leaves) = (pool.clone(), Arc::clone(leaves));
    Box::new(move || {
        if levels == 0 {
            let me = thread::current().id();
            step("a leaf runs");
            leaves.with(|leaves| leaves.push(me));
            return 1;
        }
        let half = || tree(&pool, cause, levels - 1, &leaves);
        let (a, b) = join(&pool, cause, half(), half());
        a + b
    })
}

/// Remembers which thread is in a join(), and makes jobs that must not run on that thread during the join().
#[derive(Default)]
pub(super) struct Joining(Shared<Option<thread::ThreadId>>);

impl Joining {
    /// Joins two halves on the calling thread, and remembers the thread until join() returns.
    pub(super) fn join(&self, pool: &Pool, cause: &str, a: Half, b: Half) -> u32 {
        let me = thread::current().id();
        self.0.with(|joining| *joining = Some(me));
        let (a, b) = join(pool, cause, a, b);
        self.0.with(|joining| *joining = None);
        10 * a + b
    }

    /// Checks that the calling thread is not the thread that is in join().
    pub(super) fn is_elsewhere(&self, what: &str, cause: &str) {
        step(&format!("{what} runs"));
        let me = thread::current().id();
        if self.0.with(|joining| *joining == Some(me)) {
            fail(
                &format!("{what} runs inside a join() that does not wait for it, on the same thread"),
                cause,
            );
        }
    }

    /// Makes a job or a half that must not run on the thread that is in join().
    pub(super) fn other(self: &Arc<Self>, what: &'static str, cause: &'static str) -> Half {
        let joining = Arc::clone(self);
        Box::new(move || {
            joining.is_elsewhere(what, cause);
            0
        })
    }
}
