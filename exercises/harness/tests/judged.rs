//! Tests of exercises whose answer is a test: which outcomes count as failures, and which message the learner
//! gets.

use exercises_harness::model::check;

mod failing;

use failing::{PROMISE, message, written};

/// The properties of this file; each of them has a learner's test. In this file a program is a number: 1 is a
/// right program, and 2 is a wrong program.
mod properties {
    use exercises_harness::model::probe::Judged;
    use exercises_harness::model::sync::{Arc, Condvar, Mutex, mpsc, thread};

    type New = fn() -> Arc<u32>;

    const ALL: &[Judged<u32>] = &[
        Judged { name: "solution", about: "it is one", is_right: true, new: || Arc::new(1) },
        Judged { name: "m01_two", about: "it is two", is_right: false, new: || Arc::new(2) },
    ];

    fn rejected(test: fn(New)) {
        Judged::is_rejected(ALL, "m01", "the test is blind", test);
    }

    fn accepted(test: fn(New)) {
        Judged::right_ones_pass(ALL, "The test sees ghosts", test);
    }

    fn sleep_for_ever() {
        let lock = Mutex::new(());
        drop(Condvar::new().wait_while(lock.lock().unwrap(), |()| true));
    }

    pub(crate) fn panics() {
        rejected(|new| assert_eq!(*new(), 1));
    }

    pub(crate) fn hangs() {
        rejected(|new| {
            if *new() == 2 {
                sleep_for_ever();
            }
        });
    }

    /// Panics only on schedules that run the other thread first.
    pub(crate) fn panics_seldom() {
        rejected(|new| {
            let (sends, receives) = mpsc::channel();
            let thread = thread::spawn(move || sends.send(()).unwrap());
            assert!(*new() == 1 || receives.try_recv().is_err());
            thread.join().unwrap();
        });
    }

    pub(crate) fn joins_a_thread_that_panics() {
        rejected(|new| thread::spawn(move || assert_eq!(*new(), 1)).join().unwrap());
    }

    pub(crate) fn does_nothing() {
        rejected(|_| {});
    }

    pub(crate) fn hears_no_panic() {
        rejected(|new| drop(thread::spawn(move || assert_eq!(*new(), 1)).join()));
    }

    pub(crate) fn is_still_to_do() {
        rejected(|_| todo!("a test"));
    }

    pub(crate) fn leaves_a_thread() {
        rejected(|_| drop(thread::spawn(sleep_for_ever)));
    }

    pub(crate) fn leaves_a_thread_beside_a_right_one() {
        accepted(|_| drop(thread::spawn(sleep_for_ever)));
    }

    pub(crate) fn passes_with_a_right_one() {
        accepted(|new| drop(thread::spawn(move || assert_eq!(*new(), 1)))); // the thread ends by itself
    }

    pub(crate) fn fails_with_a_right_one() {
        accepted(|new| thread::spawn(move || assert_eq!(*new(), 2, "two")).join().unwrap());
    }

    pub(crate) fn repeats_itself() {
        accepted(|new| {
            for _ in 0..60_000 {
                drop(Mutex::new(new()).lock());
            }
        });
    }

    pub(crate) fn hangs_with_a_right_one() {
        accepted(|_| sleep_for_ever());
    }
}

/// A test for each property, with the same name; `cargo test` ignores these tests, and other tests run them.
macro_rules! tests_that_fail {
    ($($name:ident)*) => {
        $(#[test]
        #[ignore = "meant to fail"]
        fn $name() {
            check("", stringify!($name), PROMISE, properties::$name);
        })*
    };
}

tests_that_fail! { does_nothing hears_no_panic is_still_to_do leaves_a_thread leaves_a_thread_beside_a_right_one
fails_with_a_right_one hangs_with_a_right_one repeats_itself }

#[test]
fn panics() {
    check("", "panics", PROMISE, properties::panics);
}

#[test]
fn hangs() {
    check("", "hangs", PROMISE, properties::hangs);
}

#[test]
fn panics_seldom() {
    check("", "panics_seldom", PROMISE, properties::panics_seldom);
}

#[test]
fn joins_a_thread_that_panics() {
    check("", "joins_a_thread_that_panics", PROMISE, properties::joins_a_thread_that_panics);
}

#[test]
fn passes_with_a_right_one() {
    check("", "passes_with_a_right_one", PROMISE, properties::passes_with_a_right_one);
}

#[test]
fn a_test_that_never_fails_with_a_wrong_program_is_told_what_is_wrong_with_it() {
    for test in ["does_nothing", "hears_no_panic"] {
        let message = message(test);
        let seen = "your test passes on every schedule with m01_two, which is wrong: it is two";
        assert!(message.contains(seen) && message.contains("cause the test is blind"), "{test}: {message}");
        assert!(!written(test).can_be_drawn(), "no schedule is to blame");
    }
}

#[test]
fn a_test_that_is_to_be_written_rejects_nothing() {
    assert!(message("is_still_to_do").contains("still to do: a test"));
}

#[test]
fn a_thread_that_outlives_the_test_is_a_mistake_of_the_test_whatever_the_program() {
    for test in ["leaves_a_thread", "leaves_a_thread_beside_a_right_one"] {
        let message = message(test);
        assert!(
            message.contains("your test has come back, and a thread that it has started never ends"),
            "{message}"
        );
    }
}

#[test]
fn a_test_that_fails_with_a_right_program_is_told_what_it_saw_on_which_thread() {
    let message = message("fails_with_a_right_one");
    for part in [
        "thread 1 panicked, at line",
        "failed: two",
        "test panicked:",
        "solution is right: it is one. The test sees ghosts",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn a_test_that_hangs_with_a_right_program_is_told_that_the_program_is_right() {
    let message = message("hangs_with_a_right_one");
    for part in
        ["your test of solution never came to an end", "solution is right: it is one. The test sees ghosts"]
    {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[test]
fn a_test_that_repeats_what_the_schedules_repeat_is_told_so() {
    let message = message("repeats_itself");
    assert!(message.contains("it need not repeat anything"), "{message}");
}
