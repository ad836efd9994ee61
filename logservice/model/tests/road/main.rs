//! Checks under shuttle which step of the lesson keeps which promise. If a step breaks a promise, the check
//! must fail with the message of that promise.
#![cfg(feature = "shuttle")]

extern crate executor_model as executor;

use std::panic::catch_unwind;

use logservice_model::{check_others, door};

#[path = "../../../road/src/lib.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)] // the parts for real threads are not used here
mod road;

use road::properties::Property;
use road::table::Step;

/// Returns a part of the panic message that shuttle reports if the promise is broken.
fn sign(property: Property) -> &'static str {
    match property {
        Property::AcceptedMeansWritten => "left: written, right: accepted",
        Property::StopEnds | Property::NobodyBlocksForEver => "deadlock",
        Property::OrderWithinAThread => "logged as 1, 2, 3 and written as",
        Property::AfterStopAClearRefusal => "a log that was stopped accepts a line",
    }
}

/// Returns true if the check of `property` finds that the promise is broken. If the `stop` of a step can
/// hang, every check of this step can hang. A hanging `stop` has its own check; each other check tries more
/// schedules until one does not hang.
fn is_broken(step: &Step, property: Property) -> bool {
    for offset in 0..100 {
        let checked = catch_unwind(|| check_others(offset, step.check(property)));
        let Err(failure) = checked else { return false };
        let text = failure.downcast_ref::<String>().map_or("", String::as_str);
        if text.contains(sign(property)) {
            return true;
        }
        let is_known = text.contains(sign(Property::StopEnds)) && !step.keeps(Property::StopEnds);
        assert!(is_known, "step {}, {property}: {text}", step.number);
    }
    false
}

fn keeps_and_breaks_what_the_table_says(number: usize) {
    let step = &road::table::steps()[number - 1];
    assert_eq!(step.number, number);
    for property in Property::ALL {
        let keeps = !is_broken(step, property);
        assert_eq!(keeps, step.keeps(property), "step {number}, {}: {property}", step.name);
    }
}

macro_rules! steps {
    ($($test:ident $number:literal)*) => { $(
        #[test]
        fn $test() {
            keeps_and_breaks_what_the_table_says($number);
        }
    )* };
}

steps! {
    s1_no_stop 1
    s2_racing_flag 2
    s3_wrong_lock 3
    s4_kept_reservation 4
    s5_reservations 5
    s6_executor_service 6
    s7_cached_pool 7
    s8_poison_pill 8
    s9_pill_and_gate 9
}
