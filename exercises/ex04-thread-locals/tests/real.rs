//! The same properties on real threads.

use exercises_harness::real::{self, probe, sync};

#[path = "../src/exercise.rs"]
mod exercise;
mod suite;

fn check(property: impl Fn() + Send + Sync + 'static) {
    real::check(include_str!("../src/exercise.rs"), property);
}

#[test]
fn every_job_runs_once_on_the_inner_executor() {
    check(suite::every_job_runs_once_on_the_inner_executor);
}

#[test]
fn a_refused_job_is_given_back() {
    check(suite::a_refused_job_is_given_back);
}

#[test]
fn a_job_finds_nobody_signed_in() {
    check(suite::a_job_finds_nobody_signed_in);
}

#[test]
fn what_a_job_leaves_ends_with_it() {
    check(suite::what_a_job_leaves_ends_with_it);
}

#[test]
fn what_a_panicking_job_leaves_ends_with_it() {
    check(suite::what_a_panicking_job_leaves_ends_with_it);
}

#[test]
fn a_panic_still_reaches_the_inner_executor() {
    check(suite::a_panic_still_reaches_the_inner_executor);
}

#[test]
fn a_job_on_its_callers_thread_finds_nobody_signed_in() {
    check(suite::a_job_on_its_callers_thread_finds_nobody_signed_in);
}

#[test]
fn the_callers_session_is_there_again_afterwards() {
    check(suite::the_callers_session_is_there_again_afterwards);
}

#[test]
fn jobs_within_jobs_each_have_their_own_session() {
    check(suite::jobs_within_jobs_each_have_their_own_session);
}

#[test]
fn submitting_leaves_the_submitters_session_alone() {
    check(suite::submitting_leaves_the_submitters_session_alone);
}

#[test]
fn a_session_may_look_around_when_it_ends() {
    check(suite::a_session_may_look_around_when_it_ends);
}
