//! The properties of a server that serves all visitors at once; each property is a function. `exercise.toml`
//! lists the properties and says what each of them promises.

use exercises_harness::{expect, fail};

use super::exercise::{Visit, serve_all};
use crate::probe::Counter;
use crate::sync::Arc;

const NOBODY_ELSE: &str = "a visitor who is being served waits here for all others to be served as well, and one of the others is \
                           not: serve_all() waits for one visitor before it has started a thread for each. If the threads are \
                           started and joined in the same loop, the visitors are still served one after the other";

const FORGOTTEN: &str = "a visit has gone nowhere: it has been dropped, and not run. Does your loop come to the first and to the last \
                         visitor?";

/// Counts the visits that have begun, and the visits that have ended.
struct Seen {
    begun: Counter,
    over: Counter,
}

/// Makes visits. Each visit waits until all visits have begun, and then ends.
fn visits(count: usize) -> (Arc<Seen>, Vec<Visit>) {
    let seen = Arc::new(Seen {
        begun: Counter::new("all visits to begin"),
        over: Counter::new("all visits to be over"),
    });
    let visit = |_| {
        let seen = Arc::clone(&seen);
        Box::new(move || {
            seen.begun.add();
            seen.begun.wait_for(count);
            seen.over.add();
        }) as Visit
    };
    let visits = (0..count).map(visit).collect();
    (seen, visits)
}

fn serve(visits: Vec<Visit>) {
    expect("serve_all()", NOBODY_ELSE, || serve_all(visits));
}

pub fn each_visitor_is_served() {
    for count in [0, 1, 3] {
        let served = Arc::new(Counter::new("the visits"));
        let visit = |_| {
            let served = Arc::clone(&served);
            Box::new(move || _ = served.add()) as Visit
        };
        serve((0..count).map(visit).collect());
        // This property checks only that each visit is run, and does not check that serve_all() has waited.
        expect("waiting for each visit to be run", FORGOTTEN, || served.wait_for(count));
    }
}

pub fn no_visitor_waits_for_another() {
    let (_, visits) = visits(3);
    serve(visits);
}

pub fn it_returns_when_all_have_been_served() {
    let (seen, visits) = visits(3);
    serve(visits);
    let over = seen.over.get();
    if over < 3 {
        fail(
            &format!("serve_all() has returned, and {over} of 3 visits are over"),
            "no thread waits for a thread that is not joined. A handle that is dropped lets its thread go on alone",
        );
    }
}

pub fn many_visitors_are_served() {
    if exercises_harness::first_run!() {
        let (_, visits) = visits(300);
        serve(visits);
    }
}
