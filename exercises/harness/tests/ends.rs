//! Tests answers that end their process or never end: each gets a verdict, and a forged report is ignored.

use std::time::{Duration, Instant};

use exercises_harness::model::check;
use exercises_harness::real;

mod failing;

use failing::{PROMISE, message, written};

mod properties {
    use std::time::Duration;

    use exercises_harness::step;

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

    pub(crate) fn leaves_a_process_behind() {
        std::process::Command::new("sleep").arg("60").spawn().unwrap(); // holds standard output open
        std::process::exit(0);
    }

    pub(crate) fn aborts() {
        std::process::abort();
    }

    /// This test takes twelve seconds for its thirty runs, and computes almost nothing.
    pub(crate) fn is_slow() {
        step("goes on");
        std::thread::sleep(Duration::from_millis(400));
    }

    pub(crate) fn waits_for_ever() {
        loop {
            std::thread::park();
        }
    }

    /// One thread computes for ever, and the test waits for a notification that only this thread could send.
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
