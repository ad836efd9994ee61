//! The properties under the model: `src/exercise.rs`, compiled against locks and threads whose schedule the test decides.

use exercises_harness::model::{self, probe, sync};

#[path = "../src/exercise.rs"]
mod exercise;
mod suite;

fn check(property: impl Fn() + Send + Sync + 'static) {
    model::check(include_str!("../src/exercise.rs"), property);
}

#[test]
fn get_returns_a_value_that_is_there() {
    check(suite::get_returns_a_value_that_is_there);
}

#[test]
fn get_waits_for_the_value() {
    check(suite::get_waits_for_the_value);
}

#[test]
fn a_waiting_get_sleeps() {
    check(suite::a_waiting_get_sleeps);
}

#[test]
fn a_dropped_promise_releases_a_waiting_get() {
    check(suite::a_dropped_promise_releases_a_waiting_get);
}

#[test]
fn get_after_a_dropped_promise_returns_at_once() {
    check(suite::get_after_a_dropped_promise_returns_at_once);
}

#[test]
fn a_panicking_provider_releases_a_waiting_get() {
    check(suite::a_panicking_provider_releases_a_waiting_get);
}

#[test]
fn is_done_only_looks() {
    check(suite::is_done_only_looks);
}

#[test]
fn is_done_is_true_for_an_abandoned_future() {
    check(suite::is_done_is_true_for_an_abandoned_future);
}

#[test]
fn done_means_that_the_value_is_there() {
    check(suite::done_means_that_the_value_is_there);
}

#[test]
fn a_value_that_nobody_gets_is_dropped() {
    check(suite::a_value_that_nobody_gets_is_dropped);
}
