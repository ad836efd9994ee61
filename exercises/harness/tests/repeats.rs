//! Checks that a schedule with the same choices as an earlier schedule is not run.

use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use exercises_harness::model::probe;
use exercises_harness::model::sync::{Arc, Condvar, Mutex, thread};
use exercises_harness::{Worker, fail, model, next_job};

/// Runs the jobs that the worker process is given. The worker is this program, started with arguments that
/// select only this test.
#[test]
#[ignore = "is started by the others"]
fn does_jobs() {
    let mut held = None;
    while let Some(job) = next_job(held) {
        RUNS.store(0, Ordering::Relaxed);
        let property = match job.as_str() {
            "has_no_choice" => has_no_choice,
            "has_few_choices" => has_few_choices,
            "remembers_what_was_before" => remembers_what_was_before,
            "waits_once" => waits_once,
            "tries_to_lock" => tries_to_lock,
            _ => panic!("there is no job {job}"),
        };
        let source = if job == "tries_to_lock" { "lock.try_lock()" } else { "" };
        model::run_here(source, &job, model::SCHEDULES, property);
        held = Some(RUNS.load(Ordering::Relaxed));
    }
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

fn has_no_choice() {
    RUNS.fetch_add(1, Ordering::Relaxed);
    thread::spawn(|| ()).join().unwrap();
}

fn has_few_choices() {
    RUNS.fetch_add(1, Ordering::Relaxed);
    let number = Arc::new(Mutex::new(1));
    let other = {
        let number = Arc::clone(&number);
        thread::spawn(move || *number.lock().unwrap() *= 2)
    };
    *number.lock().unwrap() += 1;
    other.join().unwrap();
}

/// Fails only in the run with the last number; if this failure appears, no run was skipped.
fn remembers_what_was_before() {
    let runs = RUNS.fetch_add(1, Ordering::Relaxed) + 1;
    if runs.is_multiple_of(2) {
        probe::until_others_wait("nobody is there", "no cause");
    }
    if runs == model::SCHEDULES {
        fail("it was the last run", "on purpose");
    }
}

/// Fails if the wait ends without a notification.
fn waits_once() {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let other = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            *shared.0.lock().unwrap() = true;
            shared.1.notify_one();
        })
    };
    let mut done = shared.0.lock().unwrap();
    if !*done {
        done = shared.1.wait(done).unwrap();
    }
    if !*done {
        fail("the wait ended by itself", "on purpose");
    }
    drop(done);
    other.join().unwrap();
}

/// Fails if `try_lock` finds the lock taken; the holder does nothing while it holds the lock.
fn tries_to_lock() {
    let lock = Arc::new(Mutex::new(()));
    let other = {
        let lock = Arc::clone(&lock);
        thread::spawn(move || drop(lock.lock().unwrap()))
    };
    let taken = lock.try_lock().is_err();
    other.join().unwrap();
    if taken {
        fail("the lock was taken", "on purpose");
    }
}

fn worker() -> Worker {
    Worker::new(&env::current_exe().unwrap(), &["does_jobs", "--exact", "--include-ignored", "--nocapture"])
}

const LONG: Duration = Duration::from_secs(25);

#[test]
fn a_schedule_that_comes_again_is_not_run_again() {
    let mut worker = worker();
    let mut runs = |job, round| worker.run(job, round, LONG).unwrap_or_else(|failure| panic!("{failure:?}"));
    assert_eq!(runs("has_no_choice", 0), 10);
    let few = runs("has_few_choices", 0);
    assert!((11..30).contains(&few), "{few}");
    assert_eq!(runs("has_no_choice", 1), 10);
}

#[test]
fn if_anything_else_decides_every_schedule_is_run() {
    let failure = worker().run("remembers_what_was_before", 0, LONG).expect_err("in the last run");
    assert!(failure.seen.contains("the last run"), "{failure:?}");
    assert_eq!(failure.found, model::SCHEDULES);
}

#[test]
fn whoever_tries_to_lock_finds_the_lock_taken_on_some_schedule() {
    let failure = worker().run("tries_to_lock", 0, LONG).expect_err("on some schedule");
    assert!(failure.seen.contains("was taken"), "{failure:?}");
}

#[test]
fn a_wait_that_ends_by_itself_is_another_schedule() {
    let failure = worker().run("waits_once", 0, LONG).expect_err("on some schedule");
    assert!(failure.seen.contains("ended by itself"), "{failure:?}");
}
