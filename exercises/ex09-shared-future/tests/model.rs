//! The properties under the model: `src/exercise.rs`, compiled against locks and threads whose schedule the test decides.

use exercises_harness::model::{self, probe, sync};

#[path = "../src/exercise.rs"]
mod exercise;
mod suite;

fn check(property: impl Fn() + Send + Sync + 'static) {
    model::check(include_str!("../src/exercise.rs"), property);
}

#[test]
fn everybody_gets_the_same_value() {
    check(suite::everybody_gets_the_same_value);
}

#[test]
fn who_comes_later_gets_the_value_too() {
    check(suite::who_comes_later_gets_the_value_too);
}

#[test]
fn every_task_that_polled_is_woken() {
    check(suite::every_task_that_polled_is_woken);
}

#[test]
fn the_waker_of_the_last_poll_counts() {
    check(suite::the_waker_of_the_last_poll_counts);
}

#[test]
fn no_wake_up_is_lost() {
    check(suite::no_wake_up_is_lost);
}

#[test]
fn cancel_releases_everybody() {
    check(suite::cancel_releases_everybody);
}

#[test]
fn a_decided_outcome_stays() {
    check(suite::a_decided_outcome_stays);
}

#[test]
fn the_outcome_is_decided_once() {
    check(suite::the_outcome_is_decided_once);
}

#[test]
fn a_dropped_promise_cancels() {
    check(suite::a_dropped_promise_cancels);
}

#[test]
fn a_waker_may_use_the_future() {
    check(suite::a_waker_may_use_the_future);
}
