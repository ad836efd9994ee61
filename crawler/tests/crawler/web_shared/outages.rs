//! Tests of failures of the engine: it is killed, full, unreachable, empty or slow, or its answer is lost.

use super::forwarder::Forwarder;
use super::{Shared, is_complete, said, signal};
use crate::child::{WATCHDOG, ended, report};
use std::thread;
use std::time::{Duration, Instant};

#[test]
#[ignore = "needs redis-server"]
fn an_engine_that_is_killed_and_comes_back_has_lost_nothing() {
    let mut shared = Shared::of(300, Duration::from_millis(5), 2);
    let children: Vec<_> = (0..2).map(|process| shared.start(process, &[])).collect();
    for times in [50, 150] {
        shared.until_asked(times);
        shared.engine.kill();
        thread::sleep(Duration::from_millis(200)); // a short outage, with no event to wait for
        shared.engine.restart();
    }
    let outputs: Vec<_> = children.into_iter().map(ended).collect();
    for output in &outputs {
        is_complete(output);
    }
    assert!(outputs.iter().any(|output| said(output).contains("it is tried again, and nothing is lost")));
    shared.assert_whole();
    shared.assert_fetched_once();
}

#[test]
#[ignore = "needs redis-server"]
fn a_full_engine_is_waited_for() {
    let shared = Shared::of(200, Duration::from_millis(5), 1);
    let child = shared.start(0, &[]);
    shared.until_asked(50);
    assert_eq!(shared.engine.say(&["CONFIG", "SET", "maxmemory", "1"]), "+OK");
    thread::sleep(Duration::from_millis(300)); // full for a while
    assert_eq!(shared.engine.say(&["CONFIG", "SET", "maxmemory", "0"]), "+OK");
    let output = ended(child);
    is_complete(&output);
    assert!(said(&output).contains("is full"), "{}", said(&output));
    shared.assert_whole();
    shared.assert_fetched_once();
}

#[test]
#[ignore = "needs redis-server"]
fn an_engine_that_stays_away_ends_the_run_with_a_sentence() {
    let mut shared = Shared::of(300, Duration::from_millis(5), 1);
    let flags = ["--patience", "1s", "--lease", "1s"];
    let child = shared.start(0, &flags);
    shared.until_asked(50);
    shared.engine.kill();
    let output = ended(child);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("the same command goes on from here"), "{}", said(&output));
    shared.engine.restart();
    is_complete(&ended(shared.start(0, &flags)));
    shared.assert_whole();
}

#[test]
#[ignore = "needs redis-server"]
fn an_engine_without_its_data_is_not_the_end_of_the_crawl() {
    let shared = Shared::of(2000, Duration::from_millis(5), 1);
    let child = shared.start(0, &[]);
    shared.until_asked(50);
    assert_eq!(shared.engine.say(&["FLUSHALL"]), "+OK");
    let output = ended(child);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("the crawl is no longer in the engine"), "{}", said(&output));
}

#[test]
#[ignore = "needs redis-server"]
fn an_answer_that_is_lost_is_given_again() {
    let shared = Shared::of(200, Duration::ZERO, 1);
    // The first connection loses no answer, so that the process can join the crawl.
    let forgetful = Forwarder::to(shared.engine.port, |connection, answer| {
        answer == if connection == 0 { 30 } else { 12 }
    });
    let output = ended(shared.start_at(0, &forgetful.url(), &[]));
    is_complete(&output);
    assert!(said(&output).matches("answers again").count() > 5, "{}", said(&output));
    shared.assert_whole();
    shared.assert_fetched_once();
}

#[test]
#[ignore = "needs redis-server"]
fn an_engine_that_is_slow_delays_the_crawl_and_its_end_and_nothing_else() {
    let shared = Shared::of(20, Duration::ZERO, 1);
    let slow = Forwarder::to(shared.engine.port, |_, _| false);
    slow.slow_down(Duration::from_millis(300));
    let child = shared.start_at(0, &slow.url(), &[]);
    shared.until_asked(10);
    let told = Instant::now();
    signal(&child, "-INT");
    assert_eq!(report(&ended(child)).0, Some(130));
    // Each of the four threads may need a round trip, and the end of the run needs some more round trips.
    // A process needs no additional round trips to send the links of its pages.
    println!("it has ended after {:?}", told.elapsed());
    assert!(told.elapsed() < Duration::from_secs(8), "{:?}", told.elapsed());
    assert_eq!(shared.engine.say(&["ZCARD", "{test}:leases"]), ":0");
    let output = ended(shared.start_at(0, &slow.url(), &[]));
    is_complete(&output);
    assert_eq!(said(&output), "");
    shared.assert_whole();
    assert!(shared.again() <= 4, "{} pages more than were under way at the signal", shared.again());
}

#[test]
#[ignore = "needs redis-server"]
fn an_engine_that_cannot_write_to_its_disk_is_waited_for() {
    let shared = Shared::of(200, Duration::from_millis(5), 1);
    let say = |words: &[&str]| shared.engine.say(words);
    let until = |words: &[&str], is_so: fn(&str) -> bool| {
        let begun = Instant::now();
        while !is_so(&say(words)) {
            assert!(begun.elapsed() < WATCHDOG, "{words:?}: {}", say(words));
            thread::sleep(Duration::from_millis(5));
        }
    };
    let child = shared.start(0, &[]);
    shared.until_asked(50);
    let folder = shared.engine.folder();
    assert_eq!(say(&["CONFIG", "SET", "save", "3600 1", "dir", "/proc"]), "+OK");
    until(&["BGSAVE"], |answer| answer.starts_with('+'));
    until(&["SET", "other", "1"], |answer| answer.starts_with("-MISCONF"));
    thread::sleep(Duration::from_millis(300)); // full for a while
    assert_eq!(say(&["CONFIG", "SET", "dir", folder]), "+OK");
    until(&["BGSAVE"], |answer| answer.starts_with('+'));
    let output = ended(child);
    is_complete(&output);
    let sentence = "cannot write to its disk, so it takes nothing; it is tried again, and nothing is lost";
    assert_eq!(said(&output).matches(sentence).count(), 1, "{}", said(&output));
    shared.assert_whole();
    shared.assert_fetched_once();
}
