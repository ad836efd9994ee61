//! Checks the steps on real threads: each step keeps the promises that the table lists for it. The program
//! `road` shows the broken promises, and the models in `logservice/model` find them. On real threads, a
//! promise is broken only by chance.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use logservice_road::properties::Property;
use logservice_road::table::steps;

const ROUNDS: usize = 200;

/// The time limit for all rounds of one check.
const LIMIT: Duration = Duration::from_mins(1);

fn holds(what: &str, check: fn()) {
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(|| (0..ROUNDS).for_each(|_| check())));
        tell.send(result.is_ok()).unwrap();
    });
    let held = told.recv_timeout(LIMIT).unwrap_or_else(|late| panic!("{what}: {late}, after {LIMIT:?}"));
    assert!(held, "{what}");
}

#[test]
fn every_step_keeps_what_it_is_said_to_keep() {
    // In step 3, `stop` may hang in any check, because the count may be too high.
    for step in steps().into_iter().filter(|step| step.number != 3) {
        for property in Property::ALL.into_iter().filter(|property| step.keeps(*property)) {
            holds(&format!("step {}: {property}", step.number), step.check(property));
        }
    }
}
