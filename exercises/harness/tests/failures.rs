//! The ways in which a property can fail, and that each of them ends in a message. The properties here play both parts,
//! the suite's and the learner's; a property and its test have the same name.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use exercises_harness::model::check;
use exercises_harness::real;
use exercises_protocol::schedule::{Action, Event};
use exercises_protocol::{Failure, PROPERTY, SOON, State, TRACE, svg};

const PROMISE: &str = "What a property promises.";

mod properties {
    use exercises_harness::model::probe;
    use exercises_harness::model::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use exercises_harness::model::sync::{Arc, Condvar, Mutex, thread};
    use exercises_harness::{aside, expect, fail, panic_on_purpose, step};
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

    /// It waits on a Condvar with one lock, and whoever would wake it needs the other one, which it keeps.
    pub(crate) fn waits_under_another_lock() {
        let shared = Arc::new((Mutex::new(()), Mutex::new(false), Condvar::new()));
        let waiter = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let _kept = shared.0.lock().unwrap();
                let mut ready = shared.1.lock().unwrap();
                while !*ready {
                    ready = shared.2.wait(ready).unwrap();
                }
            })
        };
        probe::until_asleep(1, "it waits");
        let guard = shared.0.lock().unwrap();
        *shared.1.lock().unwrap() = true;
        shared.2.notify_one();
        drop(guard);
        waiter.join().unwrap();
    }

    /// It tells a thread to end only if it gets the lock at once.
    pub(crate) fn goes_on_without_the_lock() {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let waiter = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let mut ended = shared.0.lock().unwrap();
                while !*ended {
                    ended = shared.1.wait(ended).unwrap();
                }
            })
        };
        if let Ok(mut ended) = shared.0.try_lock() {
            *ended = true;
            shared.1.notify_one();
        }
        waiter.join().unwrap();
    }

    /// It waits for a thread that needs the lock it holds.
    pub(crate) fn joins_under_a_lock() {
        let lock = Arc::new(Mutex::new(()));
        let guard = lock.lock().unwrap();
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || drop(lock.lock().unwrap()))
        };
        other.join().unwrap();
        drop(guard);
    }

    /// Three threads, each with a lock that the one before wants.
    pub(crate) fn waits_in_a_circle() {
        let locks: Arc<Vec<Mutex<()>>> = Arc::new((0..3).map(|_| Mutex::default()).collect());
        let have = Arc::new(probe::Counter::new("all to have one"));
        let philosophers: Vec<_> = (0..3)
            .map(|n| {
                let (locks, have) = (Arc::clone(&locks), Arc::clone(&have));
                thread::spawn(move || {
                    let _left = locks[n].lock().unwrap();
                    have.add();
                    have.wait_for(3);
                    let _right = locks[(n + 1) % 3].lock().unwrap();
                })
            })
            .collect();
        for philosopher in philosophers {
            philosopher.join().unwrap();
        }
    }

    /// A job runs on the thread that executes it, and nobody catches its panic.
    pub(crate) fn lets_a_panic_escape() {
        expect("execute()", "no cause", || panic_on_purpose());
    }

    /// It says what it has seen; no rule knows a step that decided it.
    pub(crate) fn sees_something() {
        step("does something");
        let lock = Mutex::new(());
        drop(lock.lock().unwrap());
        fail("something was seen", "no cause");
    }

    /// Very many threads wait for what never comes.
    pub(crate) fn has_a_crowd() {
        let shared = Arc::new((Mutex::new(()), Condvar::new()));
        let crowd: Vec<_> = (0..500)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || drop(shared.1.wait(shared.0.lock().unwrap()).unwrap()))
            })
            .collect();
        for thread in crowd {
            thread.join().unwrap();
        }
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
    command.env("LC_ALL", "C.UTF-8").env_remove("COLUMNS");
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
    assert!(svg(&failure, "deadlock").contains("class=\"mark\""));
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
    let failure = written("waits_in_an_if");
    let is_spurious = |event: &Event| matches!(event.action, Action::Wake { spurious: true, .. });
    assert!(failure.schedule.events.iter().any(is_spurious) && failure.found > SOON, "{failure:?}");
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
    let wait = schedule.events.iter().rposition(|event| matches!(event.action, Action::Wait { .. })).unwrap();
    assert!(matches!(&schedule.events[notify].action, Action::Notify { woken, .. } if woken.is_empty()));
    assert!(notify < wait, "{schedule:?}");
}

#[test]
#[ignore = "meant to fail"]
fn waits_under_another_lock() {
    check("", "waits_under_another_lock", PROMISE, properties::waits_under_another_lock);
}

#[test]
#[ignore = "meant to fail"]
fn goes_on_without_the_lock() {
    check("", "goes_on_without_the_lock", PROMISE, properties::goes_on_without_the_lock);
}

#[test]
#[ignore = "meant to fail"]
fn joins_under_a_lock() {
    check("", "joins_under_a_lock", PROMISE, properties::joins_under_a_lock);
}

#[test]
fn waiting_under_a_lock_is_told_whatever_it_waits_for() {
    let message = message("waits_under_another_lock");
    assert!(message.contains("the lock is held for too long: thread 1 has held it"), "{message}");
    assert!(message.contains("which lets go of no lock but the one that it was given"), "{message}");
    assert!(message.contains("and test needs it"), "{message}");
    let Failure { cause, schedule, .. } = joins();
    assert!(cause.contains("the lock is held for too long: test has held it"), "{cause}");
    assert!(cause.contains("for thread 1 to end, and thread 1 needs it"), "{cause}");
    assert!(matches!(schedule.events[schedule.decisive.unwrap()].action, Action::Lock(_)));
}

#[test]
fn what_a_try_lock_left_undone_is_told() {
    failing("goes_on_without_the_lock");
    let Failure { cause, schedule, .. } = written("goes_on_without_the_lock");
    assert!(cause.contains("test found the lock taken and went on without it"), "{cause}");
    assert!(matches!(schedule.events[schedule.decisive.unwrap()].action, Action::Step(_)));
}

fn joins() -> Failure {
    failing("joins_under_a_lock");
    written("joins_under_a_lock")
}

#[test]
fn a_thread_that_wants_a_lock_leaves_an_event() {
    let schedule = joins().schedule;
    let last = |action: &Action| schedule.events.iter().rfind(|event| event.action == *action);
    assert!(last(&Action::Want(0)).is_some_and(|event| event.thread == 1), "{schedule:?}");
    assert!(last(&Action::Await(1)).is_some_and(|event| event.thread == 0), "{schedule:?}");
    assert!(schedule.threads[1].end.contains("for the lock that test has held"), "{schedule:?}");
}

#[test]
#[ignore = "meant to fail"]
fn waits_in_a_circle() {
    check("", "waits_in_a_circle", PROMISE, properties::waits_in_a_circle);
}

#[test]
fn a_circle_of_more_than_two_threads_is_told() {
    let message = message("waits_in_a_circle");
    assert!(message.contains("locks are taken in a circle: "), "{message}");
    for thread in ["thread 1", "thread 2", "thread 3"] {
        assert!(message.contains(&format!("{thread} has held one since line")), "{message}");
    }
}

#[test]
#[ignore = "meant to fail"]
fn lets_a_panic_escape() {
    check("", "lets_a_panic_escape", PROMISE, properties::lets_a_panic_escape);
}

#[test]
fn a_panic_that_comes_out_of_a_call_is_a_verdict() {
    let message = message("lets_a_panic_escape");
    assert!(message.contains("the panic of a job came out of execute(), on test"), "{message}");
    assert!(message.contains(&format!("promise {PROMISE}")), "{message}");
    assert!(message.contains("whoever calls the job has to catch it"), "{message}");
}

#[test]
#[ignore = "meant to fail"]
fn sees_something() {
    check("", "sees_something", PROMISE, properties::sees_something);
}

#[test]
fn a_failure_that_no_rule_explains_marks_no_step() {
    let message = message("sees_something");
    assert!(message.contains("something was seen") && !message.contains("decided"), "{message}");
    let schedule = written("sees_something").schedule;
    assert_eq!(schedule.decisive, None);
    assert_eq!(schedule.events.last().unwrap().action, Action::Fail("something was seen".into()));
}

#[test]
#[ignore = "meant to fail"]
fn has_a_crowd() {
    check("", "has_a_crowd", PROMISE, properties::has_a_crowd);
}

#[test]
fn of_very_many_threads_only_some_are_told() {
    let message = message("has_a_crowd");
    assert!(message.contains("and 489 more threads") && message.contains("not drawn"), "{message}");
    assert!(message.len() < 10_000, "{message}");
    assert_eq!(written("has_a_crowd").schedule.events.len(), 1_000);
}
