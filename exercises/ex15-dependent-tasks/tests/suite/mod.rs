//! The properties of a pool whose jobs join jobs, each a function. `exercise.toml` lists them and says what each promises.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use exercises_harness::{at_once, expect, fail, live_threads, panic_on_purpose, step};

use super::exercise::{Handle, Pool};
use crate::probe::{Counter, Shared, others_come_to_rest, until_others_wait};
use crate::sync::{Arc, thread};

mod jobs;

use jobs::{
    CLAIM, DOES_NOT_WAIT, GETS_IT, Gate, HUSK, Joiners, Last, NO_OTHER, NOT_OUTSIDE, Outcome, Progress,
    SPINS, STUCK_SHUTDOWN, Waiting, chain, ended, execute, join, on_a_thread, outcome, shut_down, submit,
};

const ITS_OWN_AFFAIR: &str = "catch the panic where the job is called, whoever calls it, and note that there will be no result: who \
                              joins the job is told Err(Panicked), and a worker that has claimed it goes on";

const STILL_A_WORKER: &str = "a job that was claimed has panicked, and the worker that ran it is a worker as before: it claims the next job \
                              that it joins and that nobody has begun";

pub fn the_result_comes_back() {
    let pool = Pool::new(1);
    let seven = submit(&pool, Box::new(|| 7));
    let clone = seven.clone();
    let page = submit(&pool, Box::new(move || join("join() by a worker", GETS_IT, &clone)));
    let joins = [
        ("join()", &seven),
        ("the second join()", &seven),
        ("join() of a clone", &seven.clone()),
        (
            "join() of a job \
        that has joined it",
            &page,
        ),
    ];
    for (what, handle) in joins {
        let got = join(what, GETS_IT, handle);
        if got != 7 {
            fail(&format!("{what} gave {got}, and the result was 7"), GETS_IT);
        }
    }
    shut_down(&pool);
}

pub fn submit_hands_the_job_over() {
    let pool = Pool::new(1);
    let submitted = Arc::new(Counter::new("submit() to return"));
    let (jobs, flag) = (pool.clone(), Arc::clone(&submitted));
    let page = submit(
        &pool,
        Box::new(move || {
            let seen = Arc::clone(&flag);
            let part = submit(
                &jobs,
                Box::new(move || {
                    if seen.get() == 0 {
                        fail("the job ran inside submit()", DOES_NOT_WAIT);
                    }
                    0
                }),
            );
            step("submit() has returned");
            flag.add();
            drop(part);
            0
        }),
    );
    expect("waiting for the job that submits", DOES_NOT_WAIT, || submitted.wait_for(1));
    drop(page);
    shut_down(&pool);
}

pub fn a_page_on_one_thread_gets_its_parts() {
    let pool = Pool::new(1);
    let progress = Progress::of(3);
    let (jobs, mine) = (pool.clone(), Arc::clone(&progress));
    let page = submit(
        &pool,
        Box::new(move || {
            let part = |name: &'static str, result: u32| {
                let mine = Arc::clone(&mine);
                submit(&jobs, Box::new(move || mine.job(name, || result)))
            };
            let (header, footer) = (part("the header", 1), part("the footer", 2));
            mine.job("the page", || join("join()", CLAIM, &header) * 10 + join("join()", CLAIM, &footer))
        }),
    );
    progress.until_all_ended("a page on a pool of one thread", CLAIM);
    let drawn = join("join() of the page", GETS_IT, &page);
    if drawn != 12 {
        fail(&format!("the parts gave 1 and 2, and the page made {drawn} of them"), GETS_IT);
    }
    shut_down(&pool);
}

pub fn a_chain_may_be_longer_than_there_are_threads() {
    let pool = Pool::new(1);
    let progress = Progress::of(3);
    drop(chain(&pool, 3, &progress));
    progress.until_all_ended("a chain of 3 jobs on one thread", CLAIM);
    shut_down(&pool);
}

pub fn two_pages_may_join_each_others_parts() {
    let pool = Pool::new(2);
    let progress = Progress::of(4);
    let parts: Arc<Shared<[Option<Handle<u32>>; 2]>> = Arc::default();
    let submitted = Arc::new(Counter::new("both pages to have submitted their parts"));
    for page in 0..2 {
        let (jobs, mine) = (pool.clone(), Arc::clone(&progress));
        let (parts, submitted) = (Arc::clone(&parts), Arc::clone(&submitted));
        let draw = move || {
            let part = Arc::clone(&mine);
            let part = submit(&jobs, Box::new(move || part.job("a part", || 0)));
            parts.with(|parts| parts[page] = Some(part));
            submitted.add();
            submitted.wait_for(2);
            let other = parts.with(|parts| parts[1 - page].take()).expect("it was submitted");
            mine.job("a page", || join("join() of the other page's part", CLAIM, &other));
        };
        execute(&pool, Box::new(draw));
    }
    progress.until_all_ended("two pages, each of which waits for the other's part, on two threads,", CLAIM);
    shut_down(&pool);
}

pub fn every_job_runs_once() {
    let pool = Pool::new(2);
    let progress = Progress::of(4);
    let runs: Arc<Shared<Vec<u32>>> = Arc::default();
    let cause = "a job is lost, or is begun by two: whoever takes it out of its place, under a lock, is the one who runs it; who \
                 finds the place empty does not";
    let (jobs, mine, ran) = (pool.clone(), Arc::clone(&progress), Arc::clone(&runs));
    let page = move || {
        let parts = [1, 2, 3].map(|part| {
            let (mine, ran) = (Arc::clone(&mine), Arc::clone(&ran));
            submit(
                &jobs,
                Box::new(move || {
                    mine.job("a part", || {
                        ran.with(|ran| {
                            ran.push(part);
                            part
                        })
                    })
                }),
            )
        });
        mine.job("the page", || {
            // Nobody joins the third.
            for part in &parts[..2] {
                join("join()", cause, part);
            }
            0
        });
    };
    execute(&pool, Box::new(page));
    progress.until_all_ended("a page with three parts on two threads", cause);
    shut_down(&pool);
    let mut ran = runs.with(|ran| ran.clone());
    ran.sort_unstable();
    if ran != [1, 2, 3] {
        fail(&format!("these jobs ran, of 1, 2 and 3: {ran:?}"), cause);
    }
}

pub fn a_job_that_runs_already_is_waited_for() {
    let pool = Pool::new(2);
    let gate = Gate::new();
    let awaited = submit(&pool, gate.job());
    gate.until_begun();
    let returned = Arc::new(Counter::new("join() to return"));
    let (wanted, seen) = (awaited.clone(), Arc::clone(&returned));
    let cause = "somebody else runs the job already: who joins it now has to sleep until it has ended, and then gets what that one \
                 has got";
    let page = submit(
        &pool,
        Box::new(move || {
            let result = join("join() of a job that runs", cause, &wanted);
            seen.add();
            result
        }),
    );
    until_others_wait("a worker that joins a job which runs does not sleep", SPINS);
    if returned.get() > 0 {
        fail("join() has returned, and the job still runs", cause);
    }
    gate.open();
    let got = join("join() of the one who waits", cause, &page);
    if got != 7 {
        fail(&format!("join() gave {got}, and the result was 7"), cause);
    }
    shut_down(&pool);
}

pub fn all_who_wait_are_woken() {
    let pool = Pool::new(2);
    let gate = Gate::new();
    let awaited = submit(&pool, gate.job());
    gate.until_begun();
    let wanted = awaited.clone();
    drop(submit(&pool, Box::new(move || join("join() by a worker", GETS_IT, &wanted))));
    let outside = ["first", "second"].map(|name| {
        let wanted = awaited.clone();
        let joins = move || {
            join("join() by a thread outside", GETS_IT, &wanted);
        };
        on_a_thread(name, Box::new(joins))
    });
    until_others_wait("who joins a job that runs does not sleep", SPINS);
    gate.open();
    for thread in outside {
        expect("waiting for all who join", GETS_IT, || ended(thread));
    }
    expect("shutdown()", GETS_IT, || pool.shutdown());
}

pub fn a_thread_outside_only_waits() {
    let pool = Pool::new(1);
    let gate = Gate::new();
    drop(submit(&pool, gate.job()));
    gate.until_begun();
    let joiners: Arc<Joiners> = Arc::default();
    let queued = execute(&pool, joiners.job("a thread that is no worker"));
    let (wanted, mine) = (queued.clone(), Arc::clone(&joiners));
    let joins = move || mine.join("join() by a thread outside", &wanted);
    let outside = on_a_thread("outside", Box::new(joins));
    until_others_wait("a thread outside that joins a job does not sleep", SPINS);
    gate.open();
    joiners.join("join() by the test", &queued);
    expect("waiting for all who join", GETS_IT, || ended(outside));
    shut_down(&pool);
}

pub fn a_worker_of_another_pool_only_waits() {
    let (own, other) = (Pool::new(1), Pool::new(1));
    let gate = Gate::new();
    drop(submit(&own, gate.job()));
    gate.until_begun();
    let joiners: Arc<Joiners> = Arc::default();
    let queued = execute(&own, joiners.job("another pool's worker"));
    let joins = move || joiners.join("join() by another pool's worker", &queued);
    let page = execute(&other, Box::new(joins));
    until_others_wait("a worker of another pool that joins a job does not sleep", SPINS);
    gate.open();
    join("join() of the job that waits", NOT_OUTSIDE, &page);
    shut_down(&other);
    shut_down(&own);
}

pub fn who_joins_outside_keeps_nobody_from_claiming() {
    let pool = Pool::new(1);
    let progress = Progress::of(2);
    let shown: Arc<Shared<Option<Handle<u32>>>> = Arc::default();
    let submitted = Arc::new(Counter::new("the part to be submitted"));
    let cause = "a thread outside waits for the job, too, and has not begun it: so a worker that joins it has to claim it. To look at a \
                 job, or to wait for it, changes nothing in it";
    let (jobs, mine) = (pool.clone(), Arc::clone(&progress));
    let (slot, told) = (Arc::clone(&shown), Arc::clone(&submitted));
    let page = move || {
        let part = Arc::clone(&mine);
        let part = submit(&jobs, Box::new(move || part.job("the part", || 0)));
        slot.with(|slot| *slot = Some(part.clone()));
        told.add();
        mine.job("the page", || join("join() by a worker", cause, &part));
    };
    drop(execute(&pool, Box::new(page)));
    let joins = move || {
        submitted.wait_for(1);
        let part = shown.with(Option::take).expect("it was submitted");
        join("join() by a thread outside", GETS_IT, &part);
    };
    let outside = on_a_thread("outside", Box::new(joins));
    progress.until_all_ended("a page with a part that a thread outside joins, too,", cause);
    expect("waiting for the thread outside", GETS_IT, || ended(outside));
    shut_down(&pool);
}

pub fn a_worker_that_joins_runs_no_other_job() {
    // One that waits for a job that nobody has begun: there are others before it in the queue, and after it.
    let pool = Pool::new(1);
    let waiting: Arc<Waiting> = Arc::default();
    let (jobs, mine) = (pool.clone(), Arc::clone(&waiting));
    let page = move || {
        drop(execute(&jobs, mine.other_job("an older job")));
        let part = submit(&jobs, Box::new(|| 0));
        drop(execute(&jobs, mine.other_job("a newer job")));
        mine.join(&part);
    };
    let page = execute(&pool, Box::new(page));
    join("join() of the page", NO_OTHER, &page);
    shut_down(&pool);
}

pub fn a_worker_that_waits_runs_no_other_job() {
    // One that waits for a job that runs already.
    let pool = Pool::new(2);
    let waiting: Arc<Waiting> = Arc::default();
    let gate = Gate::new();
    let awaited = submit(&pool, gate.job());
    gate.until_begun();
    let mine = Arc::clone(&waiting);
    let page = execute(&pool, Box::new(move || mine.join(&awaited)));
    drop(execute(&pool, waiting.other_job("another job")));
    until_others_wait("a worker that joins a job which runs does not sleep", SPINS);
    gate.open();
    join("join() of the page", NO_OTHER, &page);
    shut_down(&pool);
}

pub fn no_more_threads_run_jobs_than_the_pool_has() {
    let pool = Pool::new(1);
    let ran_on: Arc<Shared<Vec<thread::ThreadId>>> = Arc::default();
    let (jobs, threads) = (pool.clone(), Arc::clone(&ran_on));
    let page = move || {
        note_thread(&threads);
        let part = Arc::clone(&threads);
        let part = execute(&jobs, Box::new(move || note_thread(&part)));
        join("join()", CLAIM, &part);
    };
    let page = execute(&pool, Box::new(page));
    join("join() of the page", CLAIM, &page);
    shut_down(&pool);
    let threads = ran_on.with(|threads| threads.len());
    if threads > 1 {
        fail(
            &format!("{threads} threads ran jobs, in a pool of 1"),
            "a pool has as many threads as it was given: do not start another one while a worker waits, and let nobody \
             outside run a job; the worker that waits can run the job itself",
        );
    }
}

fn note_thread(threads: &Shared<Vec<thread::ThreadId>>) {
    let me = thread::current().id();
    step("a job runs");
    threads.with(|threads| {
        if !threads.contains(&me) {
            threads.push(me);
        }
    });
}

pub fn what_was_claimed_keeps_no_worker() {
    let pool = Pool::new(2);
    // Keeps the second worker away until the part is claimed.
    let claimed = Gate::new();
    drop(submit(&pool, claimed.job()));
    claimed.until_begun();
    let (begun, last) = (Arc::new(Counter::new("the part to begin")), Last::new());
    let (jobs, part_begun, next) = (pool.clone(), Arc::clone(&begun), Arc::clone(&last));
    let page = move || {
        let all = jobs.clone();
        let part = move || {
            part_begun.add();
            next.submit(&all);
            claimed.open();
            next.wait();
        };
        let part = execute(&jobs, Box::new(part));
        join("join() of the part", HUSK, &part);
    };
    let page = execute(&pool, Box::new(page));
    if others_come_to_rest() && begun.get() == 0 {
        let seen = "a worker joins a job that nobody has begun, and waits; the other one is busy with something else";
        fail(seen, CLAIM);
    }
    last.until_ran(
        "a job is in the queue; of two workers one runs a job that it has claimed, and the other does not take the one in the \
         queue",
        HUSK,
    );
    join("join() of the page", HUSK, &page);
    shut_down(&pool);
}

pub fn what_was_claimed_costs_no_worker() {
    let pool = Pool::new(1);
    let jobs = pool.clone();
    let page = move || {
        let parts = [1, 2].map(|part| submit(&jobs, Box::new(move || part)));
        for part in &parts {
            join("join()", CLAIM, part);
        }
    };
    let page = execute(&pool, Box::new(page));
    join("join() of the page", CLAIM, &page);
    let last = Last::new();
    last.submit(&pool);
    last.until_ran("after a page whose parts were claimed, the pool does not run the next job", HUSK);
    shut_down(&pool);
}

pub fn nobody_else_waits_for_a_claimed_job() {
    let pool = Pool::new(1);
    let before = submit(&pool, Box::new(|| 1));
    join("join()", GETS_IT, &before);
    let gate = Gate::new();
    let (jobs, at_gate) = (pool.clone(), gate.job());
    let page = submit(
        &pool,
        Box::new(move || {
            let part = submit(&jobs, at_gate);
            join("join() of the part", CLAIM, &part)
        }),
    );
    if others_come_to_rest() && gate.begun.get() == 0 {
        fail("a page on one thread waits for a part that nobody begins", CLAIM);
    }
    gate.until_begun();
    let after = submit(&pool, Box::new(|| 2));
    let cause = "a job that has ended is joined at once, whichever others run: hold no lock while a job runs that anybody else needs";
    at_once("join() of a job that has ended", cause, || before.join()).unwrap_or_default();
    gate.open();
    join("join() of the page", CLAIM, &page);
    join("join() of the last job", GETS_IT, &after);
    shut_down(&pool);
}

pub fn a_panic_is_told_to_those_who_join() {
    let pool = Pool::new(1);
    let jobs = pool.clone();
    let page = submit(
        &pool,
        Box::new(move || {
            let part = submit(&jobs, Box::new(|| panic_on_purpose()));
            for what in ["join() of a part that panics", "the second join() of a part that has panicked"] {
                told(what, outcome(what, ITS_OWN_AFFAIR, &part));
            }
            let next = submit(&jobs, Box::new(|| 7));
            join("join() of a part that comes after one that has panicked", STILL_A_WORKER, &next)
        }),
    );
    if outcome("join() of the page", STILL_A_WORKER, &page) != Ok(7) {
        fail(
            "the page has claimed a part that panicked, and that panic has ended the page, too",
            ITS_OWN_AFFAIR,
        );
    }
    let alone = submit(&pool, Box::new(|| panic_on_purpose()));
    let what = "join() of a job that panics on a worker";
    told(what, outcome(what, ITS_OWN_AFFAIR, &alone));
    let next = submit(&pool, Box::new(|| 1));
    join("join() of the job after a panic", ITS_OWN_AFFAIR, &next);
    shut_down(&pool);
}

pub fn a_job_wakes_a_worker_beside_those_who_join() {
    let (pool, gate, last) = (Pool::new(2), Gate::new(), Last::new());
    let awaited = submit(&pool, gate.job());
    gate.until_begun();
    let joins = move || {
        join("join() by a thread outside", GETS_IT, &awaited);
    };
    let outside = on_a_thread("outside", Box::new(joins));
    until_others_wait("who joins a job that runs, or a worker without a job, does not sleep", SPINS);
    last.submit(&pool);
    last.until_ran(
        "a job is in the queue, one of two workers sleeps, and a thread outside waits in join(): nobody runs the job",
        "one notification has woken the thread that waits in join(), and it has no use for it. If that one waits on the \
         Condvar on which workers sleep, wake all, or give each kind of waiter a Condvar of its own",
    );
    gate.open();
    expect("waiting for the thread outside", GETS_IT, || ended(outside));
    shut_down(&pool);
}

/// Whether the property has not run in this process. What goes wrong by number goes wrong in any schedule, so one is enough.
fn first_run() -> bool {
    static HAS_RUN: AtomicBool = AtomicBool::new(false);
    !HAS_RUN.swap(true, Relaxed)
}

pub fn many_jobs_and_a_long_chain() {
    const JOBS: u32 = 1_000;
    const LINKS: usize = 100;
    if !first_run() {
        return;
    }
    let (pool, gate) = (Pool::new(1), Gate::new());
    drop(submit(&pool, gate.job()));
    gate.until_begun();
    let begun = Arc::new(Counter::new("nothing"));
    let handles: Vec<_> = (0..JOBS)
        .map(|number| {
            let begun = Arc::clone(&begun);
            let work = move || {
                begun.add();
                number
            };
            submit(&pool, Box::new(work))
        })
        .collect();
    if begun.get() > 0 {
        let seen = format!(
            "{JOBS} jobs were submitted while the only worker was busy, and {} have run",
            begun.get()
        );
        fail(&seen, DOES_NOT_WAIT);
    }
    gate.open();
    for (handle, number) in handles.iter().zip(0..) {
        let got = join("join() of one of many", GETS_IT, handle);
        if got != number {
            fail(&format!("job {number} of {JOBS} returned its number, and join() gave {got}"), GETS_IT);
        }
    }
    if begun.get() != handles.len() {
        fail(
            &format!("{JOBS} jobs were submitted, and jobs ran {} times", begun.get()),
            "each job runs once",
        );
    }
    let progress = Progress::of(LINKS);
    drop(chain(&pool, LINKS, &progress));
    progress.until_all_ended("a chain of a hundred jobs on one thread", CLAIM);
    shut_down(&pool);
}

fn told(what: &str, outcome: Outcome) {
    if let Ok(result) = outcome {
        fail(&format!("{what} gave {result}"), ITS_OWN_AFFAIR);
    }
}

pub fn shutdown_lets_jobs_wait_for_jobs() {
    let pool = Pool::new(1);
    let progress = Progress::of(2);
    let gate = Gate::new();
    let (jobs, mine, at_gate) = (pool.clone(), Arc::clone(&progress), gate.job());
    let page = move || {
        at_gate();
        drop(chain(&jobs, 1, &mine));
        join("join() in a pool that shuts down", CLAIM, &chain(&jobs, 1, &mine));
    };
    drop(execute(&pool, Box::new(page)));
    gate.until_begun();
    let closing = pool.clone();
    let cause = "shutdown() has begun, and jobs still join jobs: who is a worker of this pool, and how a job comes to an end, is \
                 the same until the last thread has ended";
    let closer = on_a_thread("closer", Box::new(move || expect("shutdown()", cause, || closing.shutdown())));
    until_others_wait(
        "a thread runs on and on, while shutdown() waits for a job",
        "shutdown() sleeps in join() of its threads",
    );
    gate.open();
    progress.until_all_ended("a page that goes on after shutdown() has begun", cause);
    expect("shutdown()", cause, || ended(closer));
    let left = live_threads();
    if left > 0 {
        fail(
            &format!("shutdown() has returned; threads of the pool that are still alive: {left}"),
            STUCK_SHUTDOWN,
        );
    }
}
