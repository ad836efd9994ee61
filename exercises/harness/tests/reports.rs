//! Tests the messages about a panic, about the place of a failure, and about very many events.

use std::fs;
use std::path::Path;
use std::process::Command;

use exercises_harness::model::check;
use exercises_protocol::PROPERTY;
use exercises_protocol::schedule::Action;

mod failing;

use failing::{PROMISE, failing, message, written};

mod properties {
    use exercises_harness::model::below::on_a_thread;
    use exercises_harness::model::sync::atomic::{AtomicUsize, Ordering};
    use exercises_harness::model::sync::{Arc, Condvar, Mutex, mpsc, thread};
    use exercises_harness::{aside, expect, fail, panic_on_purpose, step};

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

    /// The only receiving thread has run a job that panics.
    pub(crate) fn loses_its_receiver() {
        let (sender, receiver) = mpsc::channel();
        let worker = thread::spawn(move || {
            let () = receiver.recv().unwrap();
            panic_on_purpose();
        });
        while sender.send(()).is_ok() {
            thread::yield_now();
        }
        drop(worker);
        panic!("nobody receives any more");
    }

    /// A job runs on the thread that executes it, and no code catches its panic.
    pub(crate) fn lets_a_panic_escape() {
        expect("execute()", "no cause", || panic_on_purpose());
    }

    /// Catches the panic of a job, and panics with another payload.
    pub(crate) fn throws_another_panic() {
        let thrown = std::panic::catch_unwind(|| panic_on_purpose());
        panic!("a job has panicked: {}", thrown.is_err());
    }

    /// Starts three threads with the same name. To tell them apart, a number is added to the name of the
    /// second thread, and this makes the name equal to the name of a fourth thread.
    pub(crate) fn starts_three_of_a_name() {
        let threads =
            ["worker", "worker", "worker 2", "worker"].map(|name| on_a_thread(name, Box::new(|| {})));
        for thread in threads {
            thread.join().unwrap();
        }
        fail("something was seen", "no cause");
    }

    /// Fails in the 120th schedule, after the last step.
    pub(crate) fn fails_late_and_aside() {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let before = RUNS.fetch_add(1, Ordering::SeqCst);
        if before % 2 == 1 {
            thread::yield_now(); // a run that is the same as another would not be tried
        }
        if before == 119 {
            aside(|| fail("it is late", "no cause"));
        }
    }

    /// Reports a failure for which no rule knows a decisive step.
    pub(crate) fn sees_something() {
        step("does something");
        let lock = Mutex::new(());
        drop(lock.lock().unwrap());
        fail("something was seen", "no cause");
    }

    /// Very many threads wait for a notification that never comes.
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
}

#[test]
#[ignore = "meant to fail"]
fn panics_with_a_bad_destructor() {
    check("", "panics_with_a_bad_destructor", PROMISE, properties::panics_with_a_bad_destructor);
}

#[test]
fn a_panic_is_reported_before_any_destructor_runs_and_with_what_was_printed() {
    let message = message("panics_with_a_bad_destructor");
    assert!(message.contains("test panicked: for a reason (reports.rs, line"), "{message}");
    assert!(message.contains("What your code printed last: about to panic"), "{message}");
}

#[test]
#[ignore = "meant to fail"]
fn loses_its_receiver() {
    check("", "loses_its_receiver", PROMISE, properties::loses_its_receiver);
}

#[test]
fn of_a_panic_for_want_of_a_thread_the_thread_s_end_is_told() {
    let message = message("loses_its_receiver");
    assert!(message.contains("test panicked: nobody receives any more"), "{message}");
    assert!(message.contains("a panic ended thread 1"), "{message}");
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
fn throws_another_panic() {
    check("", "throws_another_panic", PROMISE, properties::throws_another_panic);
}

#[test]
fn a_panic_in_the_place_of_one_on_purpose_is_told_as_that() {
    let message = message("throws_another_panic");
    assert!(message.contains("test panicked: a job has panicked"), "{message}");
    assert!(message.contains("hand on what catch_unwind() returned"), "{message}");
}

#[test]
#[ignore = "meant to fail"]
fn starts_three_of_a_name() {
    check("", "starts_three_of_a_name", PROMISE, properties::starts_three_of_a_name);
}

#[test]
fn no_two_threads_have_one_name_and_a_line_of_the_tests_is_not_shown() {
    let message = message("starts_three_of_a_name");
    let schedule = written("starts_three_of_a_name").schedule;
    let names: Vec<&str> = schedule.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["test", "worker", "worker 2", "worker 2 2", "worker 3"]);
    assert!(message.contains("starts worker 3") && !message.contains("starts worker 3 :"), "{message}");
}

/// Runs some of the tests that are meant to fail, and returns their output from `result` on.
fn end_of(tests: &[&str], more: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ex00-order");
    fs::create_dir_all(&folder).unwrap();
    let property =
        |name: &str, rank: u8| format!("[[property]]\nname = \"{name}\"\npromise = \"\"\nrank = {rank}\n");
    let list = property("lets_a_panic_escape", 1)
        + &property("fails_late_and_aside", 0)
        + &property("sees_something", 0)
        + &property("throws_another_panic", 0);
    let head = "title = \"\"\nchapters = []\nneeds = []\nhints = []\nafterwards = \"\"\n";
    fs::write(folder.join("exercise.toml"), format!("{head}{list}")).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(tests).args(["--exact", "--ignored"]).args(more).env_remove(PROPERTY);
    command.env("LC_ALL", "C.UTF-8").env_remove("COLUMNS").env("CARGO_MANIFEST_DIR", folder);
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let (_, end) = text.rsplit_once("test result: ").unwrap_or_else(|| panic!("{text}"));
    end.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_failure_to_begin_with_is_named_at_the_end_whatever_the_order_of_the_tests() {
    let all = ["fails_late_and_aside", "lets_a_panic_escape", "sees_something", "throws_another_panic"];
    for (tests, first) in [
        (&all[..], "begin with sees_something: something was seen"),
        (&all[..2], "begin with lets_a_panic_escape: the panic of a job came out"),
    ] {
        for more in [&[][..], &["--test-threads=1"]] {
            let end = end_of(tests, more);
            assert!(end.starts_with("FAILED.") && end.contains(first), "{end}");
            let (_, property) = first.split_once("with ").unwrap();
            let (property, _) = property.split_once(':').unwrap();
            assert!(end.ends_with(&format!("cargo test -p ex00-order {property}")), "{end}");
        }
    }
    assert!(!end_of(&all[2..3], &[]).contains("begin with"), "there is no choice");
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
