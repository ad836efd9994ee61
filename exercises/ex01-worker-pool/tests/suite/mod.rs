//! The properties of the worker pool; each property is a function. `exercise.toml` lists the properties and
//! says what each of them promises.

use exercises_harness::{aside, at_once, expect, fail, live_threads, panic_on_purpose, step};

use super::exercise::WorkerPool;
use crate::probe::{Counter, Shared, until_asleep, until_others_wait};
use crate::sync::{Arc, thread};

const NOT_RUN: &str = "a job is in the queue and no worker takes it: does execute() notify after the push, does a worker \
                       look at the queue before it waits, and are there workers left?";
const STUCK_SHUTDOWN: &str = "a worker does not end: does every worker learn that the end has come, even a worker that sleeps or is about \
                              to wait?";

fn shut_down(pool: WorkerPool) {
    expect("shutdown()", STUCK_SHUTDOWN, || pool.shutdown());
}

/// Executes `jobs` jobs. Each job waits until all jobs have begun, so the jobs end only if all run at once.
fn run_at_once(pool: &WorkerPool, jobs: usize, cause: &str) {
    let begun = Arc::new(Counter::new("the other job to begin"));
    let ended = Arc::new(Counter::new("jobs that must run at the same time"));
    for job in 1..=jobs {
        let (begun, ended) = (Arc::clone(&begun), Arc::clone(&ended));
        let handed_over =
            "execute() has to hand the job over: the caller must not wait until the job has run";
        expect("execute()", handed_over, || {
            pool.execute(move || {
                step(&format!("job {job} begins and waits for the other"));
                begun.add();
                begun.wait_for(jobs);
                ended.add();
            });
        });
    }
    expect("waiting for jobs that meet", cause, || ended.wait_for(jobs));
}

pub fn every_job_runs_once() {
    let pool = WorkerPool::new(2);
    let runs: Arc<Shared<Vec<u32>>> = Arc::default();
    let ran = Arc::new(Counter::new("three jobs to have run"));
    for job in 1..=3 {
        let (runs, ran) = (Arc::clone(&runs), Arc::clone(&ran));
        step(&format!("executes job {job}"));
        pool.execute(move || {
            step(&format!("job {job} runs"));
            runs.with(|runs| runs.push(job));
            ran.add();
        });
    }
    expect("waiting for three jobs", NOT_RUN, || ran.wait_for(3));
    aside(|| shut_down(pool));
    let mut seen = runs.with(|runs| runs.clone());
    seen.sort_unstable();
    if seen != [1, 2, 3] {
        fail(
            &format!("these jobs ran: {seen:?}"),
            "a job is taken out of the queue and not run, or is given to more than one worker",
        );
    }
}

pub fn one_worker_runs_the_jobs_in_their_order() {
    let pool = WorkerPool::new(1);
    let order: Arc<Shared<Vec<u32>>> = Arc::default();
    for job in 1..=3 {
        let order = Arc::clone(&order);
        pool.execute(move || {
            step(&format!("job {job} runs"));
            order.with(|order| order.push(job));
        });
    }
    aside(|| shut_down(pool));
    let order = order.with(|order| order.clone());
    if !order.is_sorted() {
        fail(
            &format!("the order was {order:?}"),
            "a queue is first in, first out: push at one end, take from the other end, and let no job go round it. (If the newest job came \
             first, the oldest one might wait for ever.)",
        );
    }
}

pub fn as_many_jobs_run_at_once_as_there_are_threads() {
    let pool = WorkerPool::new(2);
    let cause = if live_threads() < 2 {
        "only one job runs at a time: does new() start as many threads as it is asked for?"
    } else {
        "only one job runs at a time although there are enough threads: is every lock released before the job is called, does a worker \
         take one job and leave the rest to the others, and does every execute() wake a worker up, that is: does it notify after the \
         change?"
    };
    run_at_once(&pool, 2, cause);
    aside(|| shut_down(pool));
}

pub fn no_job_waits_for_a_busy_worker_while_another_is_free() {
    let pool = WorkerPool::new(2);
    let open = Arc::new(Counter::new("the test to open the gate"));
    let ran = Arc::new(Counter::new("the jobs that came after it"));
    for job in 1..=3 {
        let (open, ran) = (Arc::clone(&open), Arc::clone(&ran));
        step(&format!("executes job {job}"));
        pool.execute(move || {
            if job == 1 {
                step("job 1 begins, and waits at the gate");
                open.wait_for(1);
            } else {
                step(&format!("job {job} runs"));
                ran.add();
            }
        });
    }
    let cause = "a job waits for the worker that is busy with job 1, while the other worker has nothing to do: is there one queue for all \
                 workers, and does a free worker always take the next job?";
    expect("waiting for jobs 2 and 3, while job 1 keeps one of two workers busy", cause, || ran.wait_for(2));
    open.add();
    aside(|| shut_down(pool));
}

pub fn no_more_threads_run_jobs_than_the_pool_has() {
    let pool = WorkerPool::new(2);
    let ran_on: Arc<Shared<Vec<_>>> = Arc::default();
    for _ in 0..4 {
        let ran_on = Arc::clone(&ran_on);
        pool.execute(move || {
            let me = thread::current().id();
            step("a job runs");
            ran_on.with(|threads| {
                if !threads.contains(&me) {
                    threads.push(me);
                }
            });
        });
    }
    let test = thread::current().id();
    if ran_on.with(|threads| threads.contains(&test)) {
        fail(
            "a job ran on the thread that called execute()",
            "execute() has to hand the job over: the caller must not wait until the job has run",
        );
    }
    aside(|| shut_down(pool));
    let threads = ran_on.with(|threads| threads.clone());
    if threads.contains(&test) {
        fail(
            "a job ran on the thread that called shutdown()",
            "shutdown() waits for the workers and runs no job itself: otherwise more jobs would run at a time than the pool has threads",
        );
    }
    if threads.len() > 2 {
        fail(
            &format!("{} threads ran jobs, in a pool of 2", threads.len()),
            "a thread for each job is no pool: under load there are as many threads as jobs",
        );
    }
}

pub fn execute_returns_while_every_worker_is_busy() {
    let pool = WorkerPool::new(1);
    let open = Arc::new(Counter::new("the test to open the gate"));
    let ran = Arc::new(Counter::new("three jobs to have run"));
    let cause = "execute() waits for a worker, or runs the job itself: it must only put the job into a queue, which has no bound here";
    for job in 1..=3 {
        let (open, ran) = (Arc::clone(&open), Arc::clone(&ran));
        at_once("execute()", cause, || {
            pool.execute(move || {
                step(&format!("job {job} waits at the gate"));
                open.wait_for(1);
                ran.add();
            });
        });
    }
    step("opens the gate");
    open.add();
    expect("waiting for three jobs", NOT_RUN, || ran.wait_for(3));
    aside(|| shut_down(pool));
}

pub fn a_worker_without_a_job_sleeps_until_there_is_one() {
    let pool = WorkerPool::new(2);
    let ran = Arc::new(Counter::new("the job to run"));
    for job in 1..=2 {
        let cause = "a worker that looks at the queue again and again keeps a core busy for nothing (and a worker that ends is missing \
                     later): wait on a Condvar";
        until_asleep(2, cause);
        until_others_wait("a thread of the pool runs while there is nothing to do", cause);
        step("sees both workers asleep");
        let ran = Arc::clone(&ran);
        let counter = Arc::clone(&ran);
        expect("execute()", NOT_RUN, || {
            pool.execute(move || {
                step(&format!("job {job} runs"));
                counter.add();
            });
        });
        expect("waiting for the job", NOT_RUN, || ran.wait_for(job));
    }
    aside(|| shut_down(pool));
}

pub fn workers_stay_when_another_was_faster() {
    let pool = WorkerPool::new(2);
    let ran = Arc::new(Counter::new("two jobs to have run"));
    for job in 1..=2 {
        let ran = Arc::clone(&ran);
        step(&format!("executes job {job}"));
        pool.execute(move || {
            step(&format!("job {job} runs"));
            ran.add();
        });
    }
    expect("waiting for two jobs", NOT_RUN, || ran.wait_for(2));
    let cause = "a worker has ended because it found no job when it woke up. A wake-up is only a hint (another worker may have been \
                 faster, and a wait may end without a notification): look again, in a `while`, not in an `if`. If no worker has ended: \
                 does every execute() wake a worker up?";
    run_at_once(&pool, 2, cause);
    aside(|| shut_down(pool));
}

pub fn a_panicking_job_costs_no_worker() {
    let pool = WorkerPool::new(2);
    for _ in 0..2 {
        pool.execute(|| panic_on_purpose());
    }
    let cause = "the workers that ran the panicking jobs have ended. Catch the panic of a job where the job is called";
    run_at_once(&pool, 2, cause);
    aside(|| shut_down(pool));
}

pub fn shutdown_runs_what_was_accepted() {
    let pool = WorkerPool::new(2);
    let ran = Arc::new(Counter::new("jobs"));
    for job in 1..=4 {
        let ran = Arc::clone(&ran);
        pool.execute(move || {
            step(&format!("job {job} runs"));
            ran.add();
        });
    }
    shut_down(pool);
    // If shutdown() does not wait, a job that a worker has taken from the queue may still be running now.
    // Another property checks that shutdown() waits.
    expect("waiting for the jobs that run", "", || {
        while live_threads() > 0 {
            thread::yield_now();
        }
    });
    let ran = ran.get();
    if ran < 4 {
        fail(
            &format!("{ran} of 4 jobs were run"),
            "a worker ends as soon as it learns of the shutdown: it may only end when the queue is empty as well",
        );
    }
}

pub fn shutdown_wakes_every_sleeping_worker() {
    let pool = WorkerPool::new(2);
    until_asleep(2, "a worker that has nothing to do waits on a Condvar");
    step("sees both workers asleep");
    shut_down(pool);
}

pub fn shutdown_reaches_a_worker_that_is_about_to_sleep() {
    let pool = WorkerPool::new(2);
    pool.execute(|| step("a job runs"));
    shut_down(pool);
}

pub fn shutdown_returns_when_every_thread_has_ended() {
    let pool = WorkerPool::new(2);
    for job in 1..=2 {
        pool.execute(move || step(&format!("job {job} runs")));
    }
    shut_down(pool);
    none_left(
        "shutdown() tells the threads to end and does not wait for their end: keep their JoinHandles and join them. (A thread's \
         last lines run before the thread ends, so a count of ended workers is not enough.)",
    );
}

pub fn no_thread_is_left_after_a_panic_either() {
    let pool = WorkerPool::new(2);
    pool.execute(|| panic_on_purpose());
    shut_down(pool);
    none_left(
        "shutdown() does not wait for the thread that took the place of one whose job panicked. Catch the panic, so that the thread need \
         not end; or keep the JoinHandle of the new thread, too",
    );
}

/// Checks that no thread is left after shutdown().
fn none_left(cause: &str) {
    let left = live_threads();
    if left > 0 {
        fail(&format!("shutdown() has returned; threads of the pool that are still alive: {left}"), cause);
    }
}

pub fn shutdown_sleeps_until_the_threads_have_ended() {
    let pool = WorkerPool::new(1);
    let open = Arc::new(Counter::new("the test to open the gate"));
    let gate = Arc::clone(&open);
    pool.execute(move || {
        step("the job begins, and waits at the gate");
        gate.wait_for(1);
    });
    let closer =
        thread::Builder::new().name("closer".into()).spawn(move || shut_down(pool)).expect("a thread");
    until_others_wait(
        "a thread never sleeps while shutdown() waits for a job",
        "a loop checks again and again whether the threads have ended, and keeps a core busy for nothing: join() sleeps",
    );
    step("opens the gate");
    open.add();
    if closer.join().is_err() {
        fail("a thread of the test panicked", "shutdown() never panics");
    }
}

pub fn many_jobs_and_many_workers() {
    const JOBS: usize = 1_500;
    const WORKERS: usize = 40;
    if !exercises_harness::first_run!() {
        return;
    }
    let pool = WorkerPool::new(1);
    let order: Arc<Shared<Vec<usize>>> = Arc::default();
    let all_wait = Arc::new(Counter::new("all jobs to be in the queue"));
    let gate = Arc::clone(&all_wait);
    pool.execute(move || gate.wait_for(1));
    for job in 0..JOBS {
        let order = Arc::clone(&order);
        pool.execute(move || {
            order.with(|order| order.push(job));
            if job % 8 == 0 {
                panic_on_purpose();
            }
        });
    }
    all_wait.add();
    shut_down(pool);
    let order = order.with(|order| order.clone());
    if let Some(wrong) = (0..JOBS).find(|job| order.get(*job) != Some(job)) {
        let seen = format!(
            "{JOBS} jobs were executed, {} have run, and only the first {wrong} ran in their order",
            order.len()
        );
        fail(
            &seen,
            "all accepted jobs must run in their order, however many wait and however many panic. The queue has no bound: keep every job, \
             and let no job go round it",
        );
    }

    let pool = WorkerPool::new(WORKERS);
    until_asleep(
        WORKERS,
        "workers look again and again, and keep a core busy for nothing: wait on a Condvar",
    );
    let cause = "many workers sleep, and as many jobs come: each execute() must wake a worker, however many workers there are";
    run_at_once(&pool, WORKERS, cause);
    until_asleep(
        WORKERS,
        "workers look again and again, and keep a core busy for nothing: wait on a Condvar",
    );
    shut_down(pool);
}
