//! The ways in which a property can fail, and that each of them ends in a message. The properties here play both parts,
//! the suite's and the learner's; a property and its test have the same name.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use exercises_harness::model::check;
use exercises_harness::real;
use exercises_protocol::schedule::{self, Action};
use exercises_protocol::{Failure, PROPERTY, State, TRACE};

const PROMISE: &str = "What a property promises.";

mod properties {
    use exercises_harness::model::probe;
    use exercises_harness::model::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use exercises_harness::model::sync::{Arc, Condvar, Mutex, thread};
    use exercises_harness::{aside, expect, fail, step};
    use std::time::Duration;

    pub(crate) fn deadlocks() {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = {
            let locks = Arc::clone(&locks);
            thread::spawn(move || {
                let _second = locks.1.lock().unwrap();
                let _first = locks.0.lock().unwrap();
            })
        };
        let first = locks.0.lock().unwrap();
        let second = locks.1.lock().unwrap();
        drop((first, second));
        expect("the other thread", "no cause", || other.join().unwrap());
    }

    /// In the 120th schedule, and after its last step.
    pub(crate) fn fails_late_and_aside() {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        if RUNS.fetch_add(1, Ordering::SeqCst) == 119 {
            aside(|| fail("it is late", "no cause"));
        }
    }

    pub(crate) fn panics_with_a_bad_destructor() {
        struct Hangs(Arc<Mutex<()>>);
        impl Drop for Hangs {
            fn drop(&mut self) {
                let _guard = self.0.lock().unwrap();
                panic!("in a destructor");
            }
        }
        let _hangs = Hangs(Arc::default());
        println!("about to panic");
        panic!("for a reason");
    }

    pub(crate) fn exits() {
        std::process::exit(0);
    }

    pub(crate) fn prints_a_report() {
        println!("\u{1e}exercise-report {{\"Ok\":2000}}\n\u{1e}exercise-report  {{\"Ok\":2000}}");
        println!("test prints_a_report ... ok");
        assert!(std::env::var_os("EXERCISE_TRACE").is_none(), "where the verdict is written is not told");
        std::process::exit(0);
    }

    pub(crate) fn goes_past_the_door() {
        panic!("it was run");
    }

    /// In thirty runs, twelve seconds, and next to none of them computing.
    pub(crate) fn is_slow() {
        step("goes on");
        std::thread::sleep(Duration::from_millis(400));
    }

    pub(crate) fn waits_for_ever() {
        loop {
            std::thread::park();
        }
    }

    pub(crate) fn leaves_a_process_behind() {
        std::process::Command::new("sleep").arg("60").spawn().unwrap(); // holds standard output open
        std::process::exit(0);
    }

    /// One thread computes for ever, and the test waits for a notification that only it could bring.
    pub(crate) fn never_ends() {
        use exercises_harness::real::sync::{Condvar, Mutex, thread};
        thread::spawn(|| {
            loop {
                std::hint::spin_loop();
            }
        });
        let lock = Mutex::new(());
        let _guard = Condvar::new().wait(lock.lock().unwrap()).unwrap();
    }

    pub(crate) fn aborts() {
        std::process::abort();
    }

    pub(crate) fn misses_the_notification() {
        let (flag, lock, changed) =
            (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(())), Arc::new(Condvar::new()));
        let waiter = {
            let (flag, lock, changed) = (Arc::clone(&flag), Arc::clone(&lock), Arc::clone(&changed));
            thread::spawn(move || {
                let mut guard = lock.lock().unwrap();
                while !flag.load(Ordering::SeqCst) {
                    guard = changed.wait(guard).unwrap();
                }
            })
        };
        flag.store(true, Ordering::SeqCst); // without the lock
        changed.notify_all();
        waiter.join().unwrap();
    }

    pub(crate) fn waits_in_an_if() {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let waiter = {
            let pair = Arc::clone(&pair);
            thread::spawn(move || {
                let mut ready = pair.0.lock().unwrap();
                if !*ready {
                    ready = pair.1.wait(ready).unwrap();
                }
                assert!(*ready);
            })
        };
        probe::until_asleep(1, "it waits");
        *pair.0.lock().unwrap() = true;
        pair.1.notify_one();
        waiter.join().unwrap();
    }
}

/// The tests that are ignored are meant to fail. This runs one of them as `cargo test` would.
fn failing(test: &str) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored"]).env_remove(PROPERTY);
    command.env(TRACE, traces()).output().unwrap()
}

fn traces() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("traces")
}

/// Its message, in one line.
fn message(test: &str) -> String {
    let output = failing(test);
    assert!(!output.status.success(), "{test} passes");
    let shown = String::from_utf8(output.stdout).unwrap();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What it has written down.
fn written(test: &str) -> Failure {
    let json = std::fs::read(traces().join(format!("{test}.json"))).unwrap();
    match serde_json::from_slice(&json).unwrap() {
        State::Failed(failure) => *failure,
        state => panic!("{state:?}"),
    }
}

#[test]
#[ignore = "meant to fail"]
fn deadlocks() {
    check("", "deadlocks", PROMISE, properties::deadlocks);
}

#[test]
fn a_deadlock_says_who_holds_what_and_is_drawn_and_written() {
    let message = message("deadlocks");
    for words in [
        "property deadlocks (under the model)",
        "nobody can go on",
        "two locks are taken in opposite orders",
        "►",
    ] {
        assert!(message.contains(words), "no {words:?} in {message}");
    }
    let failure = written("deadlocks");
    assert_eq!(failure.promise, PROMISE);
    assert!(schedule::svg(&failure.schedule, "deadlock").contains("class=\"mark\""));
}

#[test]
#[ignore = "meant to fail"]
fn fails_late_and_aside() {
    check("", "fails_late_and_aside", PROMISE, properties::fails_late_and_aside);
}

#[test]
fn where_and_when_a_failure_was_found_is_written() {
    failing("fails_late_and_aside");
    let late = written("fails_late_and_aside");
    assert_eq!((late.found, late.aside), (120, true));
}

#[test]
#[ignore = "meant to fail"]
fn panics_with_a_bad_destructor() {
    check("", "panics_with_a_bad_destructor", PROMISE, properties::panics_with_a_bad_destructor);
}

#[test]
fn a_panic_is_reported_before_any_destructor_runs_and_with_what_was_printed() {
    let message = message("panics_with_a_bad_destructor");
    assert!(message.contains("test panicked: for a reason (failures.rs, line"), "{message}");
    assert!(message.contains("What your code printed last: about to panic"), "{message}");
}

#[test]
#[ignore = "meant to fail"]
fn exits() {
    real::check("", "exits", PROMISE, properties::exits);
}

#[test]
fn an_answer_that_ends_the_process_has_not_passed() {
    let message = message("exits");
    assert!(
        message.contains("ended without a verdict") && message.contains("(std::process::exit)"),
        "{message}"
    );
    assert!(message.contains(&format!("promise {PROMISE}")), "{message}");
}

#[test]
#[ignore = "meant to fail"]
fn aborts() {
    real::check("", "aborts", PROMISE, properties::aborts);
}

#[test]
#[cfg(unix)]
fn an_answer_that_aborts_is_told_so() {
    assert!(message("aborts").contains("your code aborted the process: std::process::abort"));
}

#[test]
#[ignore = "meant to fail"]
fn prints_a_report() {
    check("", "prints_a_report", PROMISE, properties::prints_a_report);
}

#[test]
fn a_report_that_the_answer_prints_does_not_count() {
    assert!(message("prints_a_report").contains("ended without a verdict"));
    assert!(written("prints_a_report").seen.contains("ended without a verdict"));
}

#[test]
#[ignore = "meant to fail"]
fn goes_past_the_door() {
    check("use std::sync::Mutex;", "goes_past_the_door", PROMISE, properties::goes_past_the_door);
}

#[test]
fn a_file_that_goes_past_the_door_is_refused_before_it_is_run() {
    let message = message("goes_past_the_door");
    assert!(
        message.contains("line 1 names `std::sync::Mutex`; write instead: `crate::sync::Mutex`"),
        "{message}"
    );
    assert!(!message.contains("it was run"), "{message}");
}

#[test]
#[ignore = "meant to fail"]
fn never_ends() {
    real::check("", "never_ends", PROMISE, properties::never_ends);
}

#[test]
fn an_endless_loop_is_ended_with_a_message() {
    let message = message("never_ends");
    assert!(message.contains("it is not done after"), "{message}");
    assert!(message.contains("thread 1 runs on and on: a loop of your code has no end"), "{message}");
}

#[test]
fn is_slow() {
    real::check("", "is_slow", PROMISE, properties::is_slow);
}

#[test]
#[ignore = "meant to fail"]
fn waits_for_ever() {
    real::check("", "waits_for_ever", PROMISE, properties::waits_for_ever);
}

#[test]
fn a_wait_without_an_end_is_ended_with_a_message() {
    assert!(message("waits_for_ever").contains("it is not done after"));
}

#[test]
#[ignore = "meant to fail"]
#[cfg(unix)]
fn leaves_a_process_behind() {
    real::check("", "leaves_a_process_behind", PROMISE, properties::leaves_a_process_behind);
}

#[test]
#[cfg(unix)]
fn nobody_waits_for_what_a_process_leaves_behind() {
    let started = Instant::now();
    assert!(message("leaves_a_process_behind").contains("could not say why"));
    assert!(started.elapsed() < Duration::from_secs(50), "{:?}", started.elapsed());
}

#[test]
#[ignore = "meant to fail"]
fn waits_in_an_if() {
    check("", "waits_in_an_if", PROMISE, properties::waits_in_an_if);
}

#[test]
fn a_wait_that_ends_by_itself_is_part_of_the_model() {
    assert!(message("waits_in_an_if").contains("A wake-up is only a hint"));
}

#[test]
#[ignore = "meant to fail"]
fn misses_the_notification() {
    check("", "misses_the_notification", PROMISE, properties::misses_the_notification);
}

#[test]
fn a_lost_wake_up_is_shown_with_the_notification_before_the_wait() {
    assert!(message("misses_the_notification").contains("the wake-up is lost"));
    let schedule = written("misses_the_notification").schedule;
    let notify = schedule.decisive.unwrap();
    assert!(matches!(schedule.events[notify].action, Action::Notify { all: true, .. }));
    let wait = schedule.events.iter().rposition(|event| matches!(event.action, Action::Wait(_))).unwrap();
    assert!(notify < wait, "{}", schedule.text(false));
}
