//! Tests the meaning of directives, and texts that are not directives.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use logservice::{Level, Levels};

const ALL: [Level; 5] = [Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace];

/// Returns the number of levels that are enabled for a target.
fn enabled(levels: &Levels, target: &str) -> usize {
    let enabled = ALL.map(|level| levels.enables(target, level));
    assert!(enabled.is_sorted_by(|a, b| a >= b), "{target}: {enabled:?}");
    enabled.iter().filter(|&&enabled| enabled).count()
}

#[track_caller]
fn assert_enables(directives: &str, expected: &[(&str, usize)]) {
    let levels = Levels::parse(directives).unwrap();
    for &(target, expected) in expected {
        assert_eq!(enabled(&levels, target), expected, "{directives}: {target}");
    }
}

#[test]
fn directives_are_those_of_rust_log() {
    assert_enables("info", &[("a", 3), ("", 3)]);
    assert_enables("off", &[("a", 0)]);
    assert_enables("5", &[("a", 5)]);
    assert_enables("WARN", &[("a", 2)]);
    assert_enables("a=debug", &[("a", 4), ("a::b", 4), ("b", 0)]);
    assert_enables("a", &[("a", 5), ("b", 0)]);
    assert_enables("warn,a=debug,a::noisy=off", &[("a::b", 4), ("a::noisy::x", 0), ("b", 2)]);
    assert_enables("a::noisy=off, a = debug ,warn,", &[("a::b", 4), ("a::noisy::x", 0), ("b", 2)]);
    assert_enables("info,warn", &[("a", 2)]); // the last directive counts
    assert_enables(
        "warp,tracing,inform,a/b=debug,inf=trace",
        &[("warp", 5), ("inf", 5), ("a/b", 4), ("b", 0)],
    );
    assert_enables("", &[("a", 1)]);
    assert_enables(" , ", &[("a", 1)]);
}

#[test]
fn what_is_no_directive_is_named_and_changes_nothing() {
    let levels = Levels::parse("info,a=trace").unwrap();
    for (directives, named) in [
        ("warn,a=loud", "`a=loud`"),
        ("a=", "`a=`"),
        ("=info", "`=info`"),
        ("a=6", "`a=6`"),
        ("a=info=warn", "`a=info=warn`"),
        ("a[span]=info", "`a[span]=info`"),
        ("[span{id=7}]=info", "`[span{id=7}]=info`"),
        ("info,a=debug/pattern", "`a=debug/pattern`"),
        ("inf", "write `info`, or, if it is a target, `inf=trace`"),
        ("a,WARNING", "write `warn`, or, if it is a target, `WARNING=trace`"),
        ("eror", "`error`"),
        ("wrn,a", "`warn`"),
        ("all", "`trace`"),
        ("6", "`6` cannot be understood: levels are numbered"),
        ("info/pattern", "write `info`, or, if all of it is a target, `info/pattern=trace`"),
        ("a/pattern", "write `a`, or"),
        ("info debug", "commas"),
    ] {
        let error = levels.set(directives).unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
        assert!(Levels::parse(directives).is_err());
        assert_eq!((enabled(&levels, "a"), enabled(&levels, "b")), (5, 3), "after {directives}");
    }
}

#[test]
fn they_can_be_shown_and_understood_again() {
    let levels = Levels::parse("warn,a=debug,b=off").unwrap();
    let again = Levels::parse(&levels.to_string()).unwrap();
    assert_eq!(["a", "b", "c"].map(|target| enabled(&again, target)), [4, 0, 2]);
}

#[test]
fn a_thread_that_looks_at_two_of_them_mixes_nothing_up() {
    let [one, other] =
        ["info,a=trace,b=off", "info,a=off,b=trace"].map(|levels| Levels::parse(levels).unwrap());
    for _ in 0..3 {
        assert_eq!((enabled(&one, "a"), enabled(&other, "a")), (5, 0));
        assert_eq!((enabled(&one, "b"), enabled(&other, "b")), (0, 5));
        one.set("error,a=warn,b=off").unwrap();
        assert_eq!((enabled(&one, "a"), enabled(&one, "c")), (2, 1));
        one.set("info,a=trace,b=off").unwrap();
    }
}

#[test]
fn a_change_counts_for_whoever_hears_of_it() {
    let levels = Levels::parse("off,a=info").unwrap();
    let heard = AtomicBool::new(false);
    let ready = AtomicBool::new(false);
    thread::scope(|scope| {
        let looks = scope.spawn(|| {
            while !heard.load(Ordering::Acquire) {
                levels.enables("a", Level::Info);
                ready.store(true, Ordering::Relaxed);
            }
            (
                levels.enables("a", Level::Info),
                levels.enables("a", Level::Warn),
                levels.enables("b", Level::Error),
            )
        });
        while !ready.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        levels.set("off,a=warn").unwrap();
        heard.store(true, Ordering::Release);
        assert_eq!(looks.join().unwrap(), (false, true, false));
    });
}
