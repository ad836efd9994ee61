//! The properties of a join that helps; each property is a function. `exercise.toml` lists the properties and
//! says what each one promises.

use exercises_harness::{expect, fail, live_threads, panic_on_purpose, step};

use super::exercise::Pool;
use crate::below::{Gate, on_a_thread};
use crate::probe::{Counter, Shared, until_others_wait};
use crate::sync::Arc;

mod computation;

use computation::{
    Half, Job, Joining, Leaves, brings, join_that_panics, joins, meet, run, run_unless_stuck, shut_down,
    submit, tree,
};

const HAND_OVER: &str =
    "submit() puts the job into the queue and returns. No lock that it needs may be held while a half runs";
const RESULTS: &str =
    "join() returns the result of a and the result of b, in this order, whichever thread has run them";
const TAKE_BACK: &str = "the half that was offered is still in the queue, and no worker comes for it: the thread that waits \
                         for it has to take it out and run it. And a half that was taken out must leave no entry behind that \
                         stops a worker";
const OFFER: &str =
    "offer one half to the other workers before you run the other one: put it into the queue and wake them";
const ONCE: &str =
    "each half runs once: a thread must find a half and take it out of the queue in one step under one lock";
const WAITS: &str = "the half runs on another worker: join() must sleep until the half has ended, and then take its result. \
                     The end of a half has to wake the worker that waits for it: a notification that wakes one thread may wake \
                     one that waits for something else. And nothing may come between the look and the wait";
const SPINS: &str = "a worker with nothing to do must not look again and again: wait on a Condvar";
const HELPS: &str = "a worker that waits for a half can run the halves that this half has offered, and what that has \
                     offered, and so on: look in the queue for a part of what you wait for, even if it comes while you \
                     sleep. Each part has to know which task offered it, whichever thread runs it and whatever that \
                     thread ran before";
const NO_OTHER: &str = "a worker that waits in join() may run the half that it waits for, and parts of it. Any other work runs \
                        on top of the waiting job, on the same stack, and may need a lock that this job holds, or may never \
                        end: leave it in the queue";
const THREADS: &str =
    "a pool has as many threads as it was given: a worker that waits can run the half itself";
const PANIC: &str = "catch the panic of each half where you call it, keep it as the result of this half, and let it go on in the join() of that half \
                     (std::panic::resume_unwind), and nowhere else";
const NONE_LEFT: &str = "when join() returns or panics, neither half may run any more, or begin later: wait for the one \
                         that runs elsewhere, and run or take out the one that has not begun, even if a has panicked";
const NO_LOCK: &str = "while a half runs, hold no lock that another thread needs, and let no worker wait for a half that it \
                       has not joined";
const WAKE: &str = "workers without work and workers in a join() sleep, and a notification that wakes one of them may \
                    wake one that has nothing to do: then no worker takes the work that is there. So wake all, or let \
                    them wait on different Condvars";
const AT_SIZE: &str = "each join() offers a half, however deep it is and however much is in the queue: you cannot know how \
                       many workers will be free when its turn comes. And a worker that waits helps with parts of any depth";
const ENDS: &str = "shutdown() has begun, and a job still joins halves: join() must offer, take back and help as before, until \
                    the last job has ended";

pub fn one_thread_is_enough() {
    let pool = Pool::new(1);
    let half = |a, b| joins(&pool, TAKE_BACK, brings(a), brings(b));
    run_unless_stuck(&pool, 154, TAKE_BACK, joins(&pool, TAKE_BACK, half(1, 2), half(3, 4)));
    shut_down(&pool);
}

pub fn both_halves_can_run_at_once() {
    let pool = Pool::new(2);
    let both = Arc::new(Counter::new("both halves to begin"));
    run(&pool, 12, OFFER, joins(&pool, OFFER, meet(&both, 1), meet(&both, 2)));
    shut_down(&pool);
}

pub fn every_half_runs_once() {
    let pool = Pool::new(2);
    let leaves = Leaves::default();
    run(&pool, 2, ONCE, tree(&pool, ONCE, 1, &leaves));
    shut_down(&pool);
    let ran = leaves.with(|leaves| leaves.len());
    if ran != 2 {
        fail(&format!("two halves were joined; halves that have run: {ran}"), ONCE);
    }
}

pub fn no_more_threads_run_than_the_pool_has() {
    let pool = Pool::new(1);
    let leaves = Leaves::default();
    run(&pool, 2, THREADS, tree(&pool, THREADS, 1, &leaves));
    let others = leaves.with(|leaves| leaves.iter().filter(|leaf| **leaf != leaves[0]).count());
    let alive = live_threads();
    if others > 0 || alive > 1 {
        let seen = format!(
            "a pool of 1, and a join of two halves: halves that ran on another thread than the first: {others}; threads: {alive}"
        );
        fail(&seen, THREADS);
    }
    shut_down(&pool);
}

/// Returns two halves. The first half waits until the second half has begun on another worker; the second
/// half waits at the gate.
fn apart(gate: &Arc<Gate>) -> (Half, Half) {
    let (one, other) = (Arc::clone(gate), Arc::clone(gate));
    let a = move || {
        one.until_reached(OFFER);
        1
    };
    let b = move || {
        other.pass();
        2
    };
    (Box::new(a), Box::new(b))
}

pub fn a_half_that_runs_elsewhere_is_waited_for() {
    let (pool, gate) = (Pool::new(3), Gate::new());
    // Two workers may wait in join(): one waits for the half at the gate, and the other waits for the half
    // that contains this join.
    let (a, b) = apart(&gate);
    let half = joins(&pool, WAITS, a, b);
    let job = Job::submit(&pool, 22, WAITS, with_a_half_elsewhere(&pool, WAITS, half));
    gate.until_reached(OFFER);
    until_others_wait("a half runs elsewhere, and a worker that waits for it does not sleep", SPINS);
    if job.has_ended() {
        fail("join() has returned, and one of its halves still runs", WAITS);
    }
    gate.open();
    job.ends(WAITS);
    shut_down(&pool);
}

/// Makes a job that joins the given half, and makes sure that the half runs on another worker.
fn with_a_half_elsewhere(pool: &Pool, cause: &'static str, half: Half) -> Half {
    let begun = Arc::new(Counter::new("the other half to begin"));
    let seen = Arc::clone(&begun);
    let a = move || {
        expect("waiting for the other half to begin", OFFER, || seen.wait_for(1));
        1
    };
    let b = move || {
        begun.add();
        half()
    };
    joins(pool, cause, Box::new(a), Box::new(b))
}

/// Makes a half that joins two halves; they can end only if two workers run them at the same time.
fn two_that_meet(pool: &Pool) -> Half {
    let both = Arc::new(Counter::new("two halves to begin, on two workers"));
    joins(pool, HELPS, meet(&both, 1), meet(&both, 2))
}

pub fn it_helps_with_what_it_waits_for() {
    let pool = Pool::new(2);
    let (first, then) = (joins(&pool, HELPS, brings(0), brings(0)), two_that_meet(&pool));
    let half = move || first() + then();
    run_unless_stuck(&pool, 22, HELPS, with_a_half_elsewhere(&pool, HELPS, Box::new(half)));
    shut_down(&pool);
}

/// Nests the given number of joins, each inside a half of the previous join; the innermost half runs
/// `inmost`.
fn in_a_half_of_a_half(pool: &Pool, levels: usize, inmost: Half) -> Half {
    (0..levels).fold(inmost, |half, _| joins(pool, HELPS, brings(0), half))
}

pub fn it_helps_with_parts_of_parts() {
    let pool = Pool::new(2);
    // Either of the two workers can run the part. The worker that does not run the part must find the halves
    // of the part.
    let half = in_a_half_of_a_half(&pool, 5, two_that_meet(&pool));
    run_unless_stuck(&pool, 22, HELPS, with_a_half_elsewhere(&pool, HELPS, half));
    shut_down(&pool);
}

/// Makes a job from a half; the result of the half is dropped.
fn as_job(half: Half) -> Box<dyn FnOnce() + Send> {
    Box::new(move || {
        half();
    })
}

pub fn it_takes_its_own_half_and_no_job() {
    let pool = Pool::new(1);
    let (jobs, joining) = (pool.clone(), Arc::<Joining>::default());
    let work = move || {
        let older = joining.other("a job that came before the halves", NO_OTHER);
        submit(&jobs, as_job(older));
        let (newer, inner) = (joining.other("a job that came after the halves", NO_OTHER), jobs.clone());
        let a = move || {
            submit(&inner, as_job(newer));
            1
        };
        joining.join(&jobs, NO_OTHER, Box::new(a), brings(2))
    };
    run(&pool, 12, RESULTS, Box::new(work));
    shut_down(&pool);
}

pub fn it_helps_with_nothing_else() {
    let pool = Pool::new(3);
    let (joining, gate, at_gate) = (Arc::<Joining>::default(), Gate::new(), Gate::new());
    // One half of the job joins two inner halves. The second inner half runs on another worker: it submits a
    // job, and then waits at a gate.
    let (x, stays) = apart(&gate);
    let (jobs, another) = (pool.clone(), joining.other("another job", NO_OTHER));
    let y = move || {
        submit(&jobs, as_job(another));
        stays()
    };
    let (jobs, mine) = (pool.clone(), Arc::clone(&joining));
    let waits = move || mine.join(&jobs, NO_OTHER, x, Box::new(y));
    // Meanwhile the other half of the job offers halves on two levels, and waits at a gate, too.
    let (begun, stays, elsewhere) = (Arc::clone(&gate), Arc::clone(&at_gate), Arc::clone(&joining));
    let first = move || {
        elsewhere.is_elsewhere("another half of the job", NO_OTHER);
        stays.pass();
        0
    };
    let part = || joining.other("a part of another half of the job", NO_OTHER);
    let offers = joins(&pool, NO_OTHER, joins(&pool, NO_OTHER, Box::new(first), part()), part());
    let other = move || {
        begun.until_reached(OFFER);
        offers()
    };
    let job = Job::submit(&pool, 120, RESULTS, joins(&pool, NO_OTHER, Box::new(waits), Box::new(other)));
    at_gate.until_reached(OFFER);
    at_gate.open();
    gate.open();
    job.ends(WAKE);
    shut_down(&pool);
}

pub fn a_wake_up_reaches_who_needs_it() {
    let (pool, gate) = (Pool::new(3), Gate::new());
    let (a, b) = apart(&gate);
    let job = Job::submit(&pool, 12, WAKE, joins(&pool, WAKE, a, b));
    gate.until_reached(OFFER);
    // The first worker waits in join(), the second worker has nothing to do, and the third worker is at the
    // gate.
    run(&pool, 7, WAKE, brings(7));
    gate.open();
    job.ends(WAKE);
    shut_down(&pool);
}

pub fn a_running_half_locks_nothing() {
    let (pool, busy, gate) = (Pool::new(2), Gate::new(), Gate::new());
    submit(&pool, busy.passes());
    busy.until_reached(OFFER);
    let at_gate = Arc::clone(&gate);
    let b = move || {
        at_gate.pass();
        2
    };
    let job = Job::submit(&pool, 12, RESULTS, joins(&pool, TAKE_BACK, brings(1), Box::new(b)));
    gate.until_reached(TAKE_BACK);
    busy.open();
    // One half runs on the job's own worker. The other worker of the pool is free.
    run(&pool, 7, NO_LOCK, brings(7));
    gate.open();
    job.ends(RESULTS);
    shut_down(&pool);
}

fn panics() -> Half {
    Box::new(|| panic_on_purpose())
}

pub fn a_panic_of_a_half_comes_out_of_its_join() {
    let pool = Pool::new(1);
    let jobs = pool.clone();
    let work = move || {
        for [a, b] in [[panics(), brings(1)], [brings(1), panics()], [panics(), panics()]] {
            let panic = join_that_panics(&jobs, PANIC, a, b);
            if panic != Some("a panic on purpose") {
                fail(
                    &format!("a half panicked with \"a panic on purpose\", and join() with {panic:?}"),
                    PANIC,
                );
            }
        }
        joins(&jobs, PANIC, brings(1), brings(2))()
    };
    run(&pool, 12, PANIC, Box::new(work));
    shut_down(&pool);
}

pub fn a_panic_is_not_that_of_the_one_who_helps() {
    let pool = Pool::new(2);
    let both = Arc::new(Counter::new("the halves of the half to begin, on two workers"));
    let (met, jobs) = (meet(&both, 0), pool.clone());
    let then_panics = move || {
        met();
        panic_on_purpose()
    };
    let half = move || {
        join_that_panics(&jobs, PANIC, meet(&both, 1), Box::new(then_panics));
        3
    };
    run(&pool, 13, PANIC, with_a_half_elsewhere(&pool, PANIC, Box::new(half)));
    // A thread runs a half that panics, and then continues its own task. If the thread then offers another
    // half, that half is a part of the thread's own task.
    let (jobs, then) = (pool.clone(), two_that_meet(&pool));
    let half = move || {
        join_that_panics(&jobs, HELPS, brings(0), panics());
        then()
    };
    run_unless_stuck(&pool, 22, HELPS, with_a_half_elsewhere(&pool, HELPS, Box::new(half)));
    shut_down(&pool);
}

pub fn a_panic_leaves_no_half_behind() {
    let pool = Pool::new(2);
    let over = Arc::<Shared<bool>>::default();
    let late = Arc::clone(&over);
    let b = move || {
        if late.with(|over| *over) {
            fail("a has panicked, and join() too, and then b began", NONE_LEFT);
        }
        step("b runs");
        if late.with(|over| *over) {
            fail("a has panicked, and join() too, while b still runs on another worker", NONE_LEFT);
        }
        2
    };
    run(&pool, 7, NONE_LEFT, then_seven(&pool, panics(), Box::new(b), over));
    shut_down(&pool);
}

/// Makes a half that returns 7. Before it returns, the half joins two other halves, one of which panics, and
/// then sets `over`.
fn then_seven(pool: &Pool, a: Half, b: Half, over: Arc<Shared<bool>>) -> Half {
    let pool = pool.clone();
    Box::new(move || {
        join_that_panics(&pool, NONE_LEFT, a, b);
        over.with(|over| *over = true);
        7
    })
}

pub fn shutdown_lets_a_computation_end() {
    let (pool, gate) = (Pool::new(2), Gate::new());
    let (at_gate, halves) = (Arc::clone(&gate), joins(&pool, ENDS, brings(1), brings(2)));
    let half = move || {
        at_gate.pass();
        halves()
    };
    let job = Job::submit(&pool, 22, ENDS, with_a_half_elsewhere(&pool, ENDS, Box::new(half)));
    gate.until_reached(OFFER);
    let closing = pool.clone();
    let closer = on_a_thread("closer", Box::new(move || expect("shutdown()", ENDS, || closing.shutdown())));
    gate.open();
    job.ends(ENDS);
    if expect("shutdown()", ENDS, || closer.join()).is_err() {
        fail("shutdown() panicked", ENDS);
    }
    let left = live_threads();
    if left > 0 {
        fail(&format!("shutdown() has returned; threads that are still alive: {left}"), ENDS);
    }
}

pub fn many_halves_and_jobs_may_wait() {
    if !exercises_harness::first_run!() {
        return;
    }
    let pool = Pool::new(2);
    run_unless_stuck(&pool, 12, AT_SIZE, in_a_half_of_a_half(&pool, 60, two_that_meet(&pool)));
    let (jobs, busy, both) = (pool.clone(), Gate::new(), Arc::new(Counter::new("both halves to begin")));
    submit(&pool, busy.passes());
    busy.until_reached(OFFER);
    let (met, other) = (meet(&both, 1), meet(&both, 2));
    let opens = move || {
        busy.open();
        met()
    };
    let half = joins(&pool, AT_SIZE, Box::new(opens), other);
    let behind_many_jobs = move || {
        let ran = Arc::new(Counter::new("jobs to run"));
        for _ in 0..1000 {
            let ran = Arc::clone(&ran);
            submit(
                &jobs,
                Box::new(move || {
                    ran.add();
                }),
            );
        }
        if ran.get() > 0 {
            let seen = format!(
                "a job submits other jobs, and no other worker is free; jobs that have run: {}",
                ran.get()
            );
            fail(&seen, HAND_OVER);
        }
        half()
    };
    run_unless_stuck(&pool, 12, AT_SIZE, Box::new(behind_many_jobs));
    let leaves = Leaves::default();
    run(&pool, 256, AT_SIZE, tree(&pool, AT_SIZE, 8, &leaves));
    let ran = leaves.with(|leaves| leaves.len());
    if ran != 256 {
        fail(&format!("a tree of joins has 256 leaves; leaves that have run: {ran}"), ONCE);
    }
    shut_down(&pool);
}
