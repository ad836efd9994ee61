//! The properties under the model: `src/exercise.rs`, compiled against locks and threads whose schedule the test decides.

// What `src/exercise.rs` calls `executor` is here the same library, compiled for the model.
extern crate executor_model as executor;

use exercises_harness::model::{self, probe, sync};

#[path = "../src/exercise.rs"]
mod exercise;
mod suite;

fn check(property: impl Fn() + Send + Sync + 'static) {
    model::check(include_str!("../src/exercise.rs"), property);
}

#[test]
fn clients_are_served_side_by_side() {
    check(suite::clients_are_served_side_by_side);
}

#[test]
fn shutdown_ends_the_accept_loop() {
    check(suite::shutdown_ends_the_accept_loop);
}

#[test]
fn shutdown_waits_for_requests_in_progress() {
    check(suite::shutdown_waits_for_requests_in_progress);
}

#[test]
fn who_was_accepted_and_not_begun_is_served() {
    check(suite::who_was_accepted_and_not_begun_is_served);
}

#[test]
fn nobody_connects_while_shutdown_waits() {
    check(suite::nobody_connects_while_shutdown_waits);
}

#[test]
fn nobody_who_was_accepted_is_hung_up_on() {
    check(suite::nobody_who_was_accepted_is_hung_up_on);
}

#[test]
fn the_wait_ends_with_the_deadline() {
    check(suite::the_wait_ends_with_the_deadline);
}

#[test]
fn requests_in_progress_are_cancelled_at_the_deadline() {
    check(suite::requests_in_progress_are_cancelled_at_the_deadline);
}

#[test]
fn who_was_not_begun_is_refused_at_the_deadline() {
    check(suite::who_was_not_begun_is_refused_at_the_deadline);
}

#[test]
fn the_outcome_tells_how_it_ended() {
    check(suite::the_outcome_tells_how_it_ended);
}

#[test]
fn a_second_shutdown_is_harmless() {
    check(suite::a_second_shutdown_is_harmless);
}

#[test]
fn shutdowns_at_the_same_time_agree() {
    check(suite::shutdowns_at_the_same_time_agree);
}
