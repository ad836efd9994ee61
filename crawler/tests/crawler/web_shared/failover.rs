//! Checks a crawl in which a replica of the engine takes over. The crawl fetches and records again exactly
//! the pages that the replica had not received.

use super::engine::Engine;
use super::forwarder::Forwarder;
use super::{LEASE, Shared, is_complete, late, said};
use crate::child::{WATCHDOG, ended};
use crawler::web::crawl::state::State;
use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

#[test]
#[ignore = "needs redis-server"]
fn what_a_copy_had_not_heard_of_is_done_again_when_it_takes_over() {
    let mut shared = Shared::of(400, Duration::from_millis(5), 2);
    let copy = Engine::with(&["--replicaof", "127.0.0.1", &shared.engine.port.to_string()]);
    let begun = Instant::now();
    while shared.engine.say(&["WAIT", "1", "100"]) != ":1" {
        assert!(begun.elapsed() < WATCHDOG, "the copy does not hear of anything");
    }
    let address = Forwarder::to(shared.engine.port, |_, _| false);
    let children: Vec<_> = (0..2).map(|process| shared.start_at(process, &address.url(), &LEASE)).collect();
    shared.until_asked(100);
    // From this point on, the replica receives no data. So when the engine is killed, the replica is in the
    // same state as after a slow connection.
    assert_eq!(copy.say(&["REPLICAOF", "NO", "ONE"]), "+OK");
    let heard = length(&copy);
    shared.until_asked(200);
    shared.engine.kill();
    thread::sleep(Duration::from_millis(200)); // for a while there is no engine
    let asked = shared.site.requests().len();
    address.turn_to(copy.port);
    shared.engine = copy;
    let mut ran_out = 0;
    for child in children {
        let output = ended(child);
        ran_out += late(&is_complete(&output));
        assert!(said(&output).contains("the engine answers again"), "{}", said(&output));
    }
    // The engine has each page only once, because it has lost its records of the other fetches.
    shared.assert_recorded_once();
    let mut files = BTreeMap::<String, usize>::new();
    for folder in &shared.folders {
        let count = |url: &str, _| {
            *files.entry(url.to_owned()).or_default() += 1;
            Ok(())
        };
        State::open(&folder.path().join("state")).unwrap().each(count).unwrap();
    }
    assert!(files.keys().eq(&shared.site.pages()), "{files:?}");
    let twice = files.values().filter(|&&count| count > 1).count();
    println!(
        "{heard} heard of, {asked} asked for, {} again, {twice} in two files, {ran_out} late",
        shared.again()
    );
    assert!(shared.again() > 0, "the copy had heard of everything: nothing is shown");
    assert!(shared.again() <= asked - heard + ran_out, "{} again", shared.again());
    assert!(twice <= asked - heard, "{twice} in two files");
    // Both engines have all files that an engine needs to start again.
    for process in 0..2 {
        is_complete(&ended(shared.start(process, &LEASE)));
    }
    shared.assert_recorded_once();
}

/// Returns the number of records that an engine has.
fn length(engine: &Engine) -> usize {
    engine.say(&["XLEN", "{test}:done"]).trim_start_matches(':').parse().unwrap()
}
