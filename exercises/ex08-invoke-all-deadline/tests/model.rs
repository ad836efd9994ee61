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
fn outcomes_are_in_the_order_of_the_jobs() {
    check(suite::outcomes_are_in_the_order_of_the_jobs);
}

#[test]
fn the_jobs_run_side_by_side() {
    check(suite::the_jobs_run_side_by_side);
}

#[test]
fn a_failing_job_does_not_fail_the_others() {
    check(suite::a_failing_job_does_not_fail_the_others);
}

#[test]
fn there_is_one_deadline_for_all() {
    check(suite::there_is_one_deadline_for_all);
}

#[test]
fn what_has_ended_in_time_keeps_its_result() {
    check(suite::what_has_ended_in_time_keeps_its_result);
}

#[test]
fn what_has_not_ended_in_time_is_cancelled() {
    check(suite::what_has_not_ended_in_time_is_cancelled);
}

#[test]
fn a_running_job_is_told_to_give_up() {
    check(suite::a_running_job_is_told_to_give_up);
}

#[test]
fn the_time_of_submitting_counts() {
    check(suite::the_time_of_submitting_counts);
}

#[test]
fn nothing_is_submitted_after_the_deadline() {
    check(suite::nothing_is_submitted_after_the_deadline);
}

#[test]
fn a_refusal_leaves_nothing_behind() {
    check(suite::a_refusal_leaves_nothing_behind);
}

#[test]
fn a_timeout_may_be_as_long_as_it_likes() {
    check(suite::a_timeout_may_be_as_long_as_it_likes);
}
