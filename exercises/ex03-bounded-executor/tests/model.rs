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
fn every_job_runs_once() {
    check(suite::every_job_runs_once);
}

#[test]
fn as_many_jobs_are_let_in_as_the_bound_says() {
    check(suite::as_many_jobs_are_let_in_as_the_bound_says);
}

#[test]
fn no_more_jobs_are_let_in_than_the_bound_says() {
    check(suite::no_more_jobs_are_let_in_than_the_bound_says);
}

#[test]
fn a_running_job_keeps_its_place() {
    check(suite::a_running_job_keeps_its_place);
}

#[test]
fn the_permit_comes_back_when_the_job_is_done() {
    check(suite::the_permit_comes_back_when_the_job_is_done);
}

#[test]
fn the_permit_comes_back_when_the_job_panics() {
    check(suite::the_permit_comes_back_when_the_job_panics);
}

#[test]
fn the_permit_comes_back_when_the_inner_executor_refuses() {
    check(suite::the_permit_comes_back_when_the_inner_executor_refuses);
}

#[test]
fn the_permit_comes_back_when_the_job_is_dropped_unrun() {
    check(suite::the_permit_comes_back_when_the_job_is_dropped_unrun);
}
