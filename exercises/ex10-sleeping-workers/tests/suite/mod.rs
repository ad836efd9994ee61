//! The properties of the inbox; each property is a function. `exercise.toml` lists the properties and says
//! what each of them promises.

use exercises_harness::{expect, fail, notifications, step};

use super::exercise::Inbox;
use crate::probe::{Counter, others_come_to_rest, until_asleep};
use crate::sync::{Arc, thread};

const PUT_NEVER_WAITS: &str = "put() pushes the job and returns; it waits for nothing but a lock";
const NOT_TAKEN: &str = "a job lies in the inbox, a worker sleeps, and no submitter will notify it: one of the two threads has \
                         to see the other. The worker must say that it sleeps before it looks for a job; the submitter must \
                         push the job before it looks for sleepers. Or both do their two steps under one lock, so that the \
                         other thread cannot come in between";

const ONE_FORGOTTEN: &str = "two jobs came while two workers slept, and one worker still sleeps: the second put() did not see \
                             it. An earlier job in the inbox says nothing about the sleepers, and neither does an earlier \
                             notification; the first sleeper clears a flag that two sleepers share; and a number is right \
                             only if no two threads change it at once";
const ONE_OF_MANY: &str = "many workers sleep, and a job that came has woken none of them: put() has to see a sleeper as long as \
                           one is left, however many there are";

fn put<T>(inbox: &Inbox<T>, job: T) {
    expect("put()", PUT_NEVER_WAITS, || inbox.put(job));
}

fn take(inbox: &Inbox<u32>) -> u32 {
    expect("take()", NOT_TAKEN, || inbox.take())
}

/// Starts a thread with a name, which appears in messages.
fn start<R: Send + 'static>(name: &str, work: impl FnOnce() -> R + Send + 'static) -> thread::JoinHandle<R> {
    thread::Builder::new().name(name.into()).spawn(work).expect("a thread")
}

/// Starts a worker that takes one job.
fn worker(name: &str, inbox: &Arc<Inbox<u32>>) -> thread::JoinHandle<u32> {
    let inbox = Arc::clone(inbox);
    start(name, move || take(&inbox))
}

/// Waits until a worker has taken its job, and returns the worker's result.
fn taken<R>(cause: &str, worker: thread::JoinHandle<R>) -> R {
    expect("waiting for a worker to take a job that lies in the inbox", cause, || join(worker))
}

fn join<R>(handle: thread::JoinHandle<R>) -> R {
    handle.join().unwrap_or_else(|_| fail("a thread of the test panicked", "put() and take() never panic"))
}

fn check_job(taken: u32, put: u32) {
    if taken != put {
        fail(
            &format!("take() returned job {taken}, and not job {put}"),
            "jobs come out in the order in which they went in, each of them once: push at one end, pop at the other",
        );
    }
}

pub fn jobs_come_out_in_their_order() {
    let inbox = Inbox::new();
    for job in 1..=3 {
        put(&inbox, job);
    }
    for job in 1..=3 {
        check_job(take(&inbox), job);
    }
}

pub fn a_woken_worker_changes_no_order() {
    let inbox = Arc::new(Inbox::new());
    let woken = worker("worker", &inbox);
    until_asleep(1, "take() looks again and again and keeps a core busy with nothing: wait on a Condvar");
    put(&inbox, 1);
    put(&inbox, 2);
    let same = Arc::clone(&inbox);
    let other = start("other worker", move || [take(&same), take(&same)]);
    put(&inbox, 3);
    let [first, second] = taken(NOT_TAKEN, other);
    let last = taken(NOT_TAKEN, woken);
    if first > second {
        fail(
            &format!("one worker took job {first} and then job {second}"),
            "a newer job has passed an older one, which was kept for a worker that was woken. Give a job to a woken worker at \
             once, or let every worker take it in its order",
        );
    }
    if first + second + last != 6 {
        fail(
            &format!("jobs {first}, {second} and {last} were taken; 1, 2 and 3 were put"),
            "each job is taken once",
        );
    }
    each_of_two_woken_workers_gets_older_jobs_first();
}

fn each_of_two_woken_workers_gets_older_jobs_first() {
    let inbox = Arc::new(Inbox::new());
    let workers = ["first worker", "second worker"].map(|name| {
        let same = Arc::clone(&inbox);
        start(name, move || [take(&same), take(&same)])
    });
    until_asleep(2, "take() looks again and again and keeps a core busy with nothing: wait on a Condvar");
    (1..=4).for_each(|job| put(&inbox, job));
    for worker in workers {
        let [first, second] = taken(NOT_TAKEN, worker);
        if first > second {
            fail(
                &format!("a worker took job {first} and then job {second}, which was there before"),
                "a newer job has passed an older one: the worker took the job for which it was woken, although an older job \
                 lay in the inbox. Whichever job woke the worker, take() must return the oldest job that is there",
            );
        }
    }
}

/// Puts a job into the inbox, and fails if the call notifies a thread.
fn put_quietly(inbox: &Inbox<u32>, job: u32, cause: &str) {
    let before = notifications();
    put(inbox, job);
    if notifications() > before {
        fail("put() called a notify while no worker was asleep", cause);
    }
}

pub fn put_notifies_only_if_a_worker_sleeps() {
    const NO_WORKER: &str = "each notify is a system call, even if there is no thread to wake: put() has to know whether a \
                             worker sleeps";
    const NOT_COUNTED_OFF: &str = "a worker that was woken does not sleep any more. If sleepers are counted, it has to be \
                                   counted off again, after every wait";
    let inbox = Arc::new(Inbox::new());
    put_quietly(&inbox, 1, NO_WORKER);
    put_quietly(&inbox, 2, NO_WORKER);
    check_job(take(&inbox), 1);
    check_job(take(&inbox), 2);
    let (took, gate) =
        (Arc::new(Counter::new("the worker to take a job")), Arc::new(Counter::new("the gate")));
    let at_work = {
        let (inbox, took, gate) = (Arc::clone(&inbox), Arc::clone(&took), Arc::clone(&gate));
        start("worker", move || {
            let job = take(&inbox);
            took.add();
            gate.wait_for(1);
            job
        })
    };
    until_asleep(1, "take() looks again and again and keeps a core busy with nothing: wait on a Condvar");
    step("sees the worker asleep");
    put(&inbox, 3);
    took.wait_for(1);
    step("sees the worker at work");
    put_quietly(&inbox, 4, NOT_COUNTED_OFF);
    gate.add();
    check_job(taken(NOT_TAKEN, at_work), 3);
    check_job(take(&inbox), 4);
}

pub fn a_worker_without_a_job_sleeps() {
    let inbox = Arc::new(Inbox::new());
    let worker = worker("worker", &inbox);
    until_asleep(1, "take() looks again and again and keeps a core busy with nothing: wait on a Condvar");
    step("sees the worker asleep");
    put(&inbox, 7);
    check_job(taken(NOT_TAKEN, worker), 7);
}

pub fn a_worker_about_to_sleep_gets_the_job() {
    for job in 1..=3 {
        let inbox = Arc::new(Inbox::new());
        let worker = worker("worker", &inbox);
        put(&inbox, job);
        check_job(taken(NOT_TAKEN, worker), job);
    }
}

pub fn each_job_wakes_a_worker() {
    let inbox = Arc::new(Inbox::new());
    let both = Arc::new(Counter::new("the other worker to take a job, too"));
    let workers = ["worker 1", "worker 2"].map(|name| {
        let (inbox, both) = (Arc::clone(&inbox), Arc::clone(&both));
        start(name, move || {
            let job = expect("take()", ONE_FORGOTTEN, || inbox.take());
            both.add();
            both.wait_for(2); // so one worker cannot take both jobs
            job
        })
    });
    until_asleep(2, "take() looks again and again and keeps a core busy with nothing: wait on a Condvar");
    step("sees both workers asleep");
    put(&inbox, 1);
    put(&inbox, 2);
    let jobs = workers.map(|worker| taken(ONE_FORGOTTEN, worker));
    if jobs.iter().sum::<u32>() != 3 {
        fail(&format!("the workers took {jobs:?}; jobs 1 and 2 were put"), "each job is taken once");
    }
}

pub fn a_worker_that_was_woken_for_nothing_sleeps_again() {
    let inbox = Arc::new(Inbox::new());
    let worker = worker("worker", &inbox);
    until_asleep(1, "take() looks again and again and keeps a core busy with nothing: wait on a Condvar");
    step("sees the worker asleep");
    put(&inbox, 1);
    let late = {
        let inbox = Arc::clone(&inbox);
        start("submitter", move || put(&inbox, 2))
    };
    let thief = start("thief", move || take(&inbox)); // the thief may be quicker than the woken worker
    join(late);
    let jobs = [thief, worker].map(|taker| taken(NOT_TAKEN, taker));
    if jobs.iter().sum::<u32>() != 3 {
        fail(&format!("jobs {jobs:?} were taken; 1 and 2 were put"), "each job is taken once");
    }
}

pub fn no_job_lies_beside_a_sleeping_worker() {
    let inbox = Arc::new(Inbox::new());
    let workers = ["worker 1", "worker 2"].map(|name| {
        let inbox = Arc::clone(&inbox);
        start(name, move || take(&inbox) + take(&inbox))
    });
    let submitters = [("submitter 1", [1, 2]), ("submitter 2", [3, 4])].map(|(name, jobs)| {
        let inbox = Arc::clone(&inbox);
        start(name, move || jobs.into_iter().for_each(|job| put(&inbox, job)))
    });
    submitters.into_iter().for_each(join);
    let sum: u32 = workers.map(|worker| taken(NOT_TAKEN, worker)).iter().sum();
    if sum != 10 {
        fail(
            &format!("the numbers of the jobs that were taken add up to {sum}, and not to 10"),
            "each job is taken once",
        );
    }
}

pub fn many_jobs_and_many_workers() {
    const JOBS: u32 = 2_000;
    const WORKERS: usize = 50;
    if !exercises_harness::first_run!() {
        return;
    }
    let inbox = Arc::new(Inbox::new());
    (0..JOBS).for_each(|job| put(&inbox, job / 2)); // two equal jobs count as two jobs
    (0..JOBS).for_each(|job| check_job(take(&inbox), job / 2));
    let took = Arc::new(Counter::new("as many jobs to be taken as were put"));
    let workers: Vec<_> = (1..=WORKERS)
        .map(|number| {
            let (inbox, took) = (Arc::clone(&inbox), Arc::clone(&took));
            start(&format!("worker {number}"), move || {
                let job = expect("take()", ONE_OF_MANY, || inbox.take());
                took.add();
                job
            })
        })
        .collect();
    until_asleep(
        WORKERS,
        "take() looks again and again and keeps a core busy with nothing: wait on a Condvar",
    );
    for (job, put_so_far) in (0..).zip(1..=WORKERS) {
        put(&inbox, job);
        if job < 5 && others_come_to_rest() && took.get() < put_so_far {
            let seen = format!(
                "{WORKERS} workers slept, jobs put since then: {put_so_far}, jobs taken: {}",
                took.get()
            );
            fail(&seen, ONE_OF_MANY);
        }
    }
    let mut jobs: Vec<u32> = workers.into_iter().map(|worker| taken(ONE_OF_MANY, worker)).collect();
    jobs.sort_unstable();
    if !jobs.iter().copied().eq(0..50) {
        fail(&format!("jobs 0 to 49 were put, and these were taken: {jobs:?}"), "each job is taken once");
    }
}
