//! Tests a process that does one job after another, and what happens to the jobs if the process ends.

use std::collections::BTreeSet;
use std::env;
use std::process;
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use exercises_harness::{Worker, fail, model, next_job, real};
use exercises_protocol::Failure;

const PROMISE: &str = "It holds.";

/// Runs the jobs that the worker process is given. The worker is this program, started with arguments that
/// select only this test.
#[test]
#[ignore = "is started by the others"]
fn does_jobs() {
    let mut held = None;
    while let Some(job) = next_job(held) {
        match job.as_str() {
            "holds" => real::run_here("", PROMISE, 1, || {}),
            "fails" => real::run_here("", PROMISE, 1, || fail("it failed", "on purpose")),
            "fails_when_the_other_is_first" => model::run_here("", PROMISE, 2_000, the_other_is_first),
            "aborts" => real::run_here("", PROMISE, 1, || process::abort()),
            "exits" => real::run_here("", PROMISE, 1, || process::exit(0)),
            "takes_all_memory" => real::run_here("", PROMISE, 1, take_all_memory),
            "never_comes_back" => thread::park(),
            "leaves_a_thread" => real::run_here("", PROMISE, 1, leave_a_thread),
            "meets_the_thread" => real::run_here("", PROMISE, 1, meet_the_thread),
            _ => panic!("there is no job {job}"),
        }
        held = Some(process::id() as usize);
    }
}

fn take_all_memory() {
    let all: Vec<u8> = Vec::with_capacity(isize::MAX as usize);
    fail(&format!("there was enough: {:?}", all.as_ptr()), "on purpose");
}

fn the_other_is_first() {
    let first = model::sync::Arc::new(model::sync::Mutex::new(None));
    let other = model::sync::thread::spawn({
        let first = model::sync::Arc::clone(&first);
        move || {
            first.lock().unwrap().get_or_insert("the other");
        }
    });
    first.lock().unwrap().get_or_insert("this one");
    other.join().unwrap();
    if *first.lock().unwrap() == Some("the other") {
        fail("the other was first", "on purpose");
    }
}

/// A message on this channel ends the process.
static LEFT: Mutex<Option<mpsc::Sender<()>>> = Mutex::new(None);

fn leave_a_thread() {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        if told.recv().is_ok() {
            process::exit(3);
        }
    });
    *LEFT.lock().unwrap() = Some(tell);
}

fn meet_the_thread() {
    if let Some(tell) = LEFT.lock().unwrap().take() {
        tell.send(()).unwrap();
        thread::park();
    }
}

fn worker() -> Worker {
    let this = env::current_exe().unwrap();
    Worker::new(&this, &["does_jobs", "--exact", "--include-ignored", "--nocapture"])
}

/// Returns the number of the process in which the job held.
fn held(worker: &mut Worker, job: &str) -> usize {
    worker.run(job, 0, Duration::from_secs(25)).unwrap_or_else(|failure| panic!("{job}: {failure:?}"))
}

fn failed(worker: &mut Worker, job: &str, deadline: Duration) -> Failure {
    *worker.run(job, 0, deadline).expect_err(job)
}

#[test]
fn jobs_that_hold_share_a_process() {
    let mut worker = worker();
    let processes: BTreeSet<usize> = (0..10).map(|_| held(&mut worker, "holds")).collect();
    assert_eq!(processes.len(), 1, "{processes:?}");
}

#[test]
fn the_end_of_the_process_is_put_down_to_the_job_it_was_at() {
    let long = Duration::from_secs(25);
    let aborts = if cfg!(unix) { "std::process::abort" } else { "" };
    for (job, deadline, seen, cause) in [
        ("fails", long, "it failed", "on purpose"),
        ("aborts", long, "without a verdict", aborts),
        ("exits", long, "without a verdict", "std::process::exit"),
        ("takes_all_memory", long, "without a verdict", "asked for more memory than there is"),
        ("never_comes_back", Duration::ZERO, "did not end and could not say why", "ended the process"),
    ] {
        let mut worker = worker();
        let first = held(&mut worker, "holds");
        assert_eq!(held(&mut worker, "holds"), first);
        let failure = failed(&mut worker, job, deadline);
        assert!(failure.seen.contains(seen) && failure.cause.contains(cause), "{job}: {failure:?}");
        assert!(!failure.cause.contains("holds"), "{job}: {failure:?}");
        assert_ne!(held(&mut worker, "holds"), first, "{job}");
    }
}

#[test]
fn what_a_job_leaves_behind_is_put_down_to_it() {
    let mut worker = worker();
    held(&mut worker, "meets_the_thread");
    held(&mut worker, "leaves_a_thread");
    let failure = failed(&mut worker, "meets_the_thread", Duration::from_secs(25));
    assert!(failure.seen.contains("without a verdict"), "{failure:?}");
    assert!(failure.cause.contains("left something behind, leaves_a_thread"), "{failure:?}");
    held(&mut worker, "meets_the_thread");
}

#[test]
fn each_round_has_schedules_of_its_own() {
    let mut worker = worker();
    let mut found = |round| {
        worker
            .run("fails_when_the_other_is_first", round, Duration::from_secs(25))
            .expect_err("on some schedule")
            .found
    };
    let rounds: Vec<usize> = (1..=10).map(&mut found).collect();
    assert!(rounds.iter().collect::<BTreeSet<_>>().len() > 2, "{rounds:?}");
    assert_eq!((1..=10).map(found).collect::<Vec<_>>(), rounds);
}
