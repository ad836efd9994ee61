//! The properties under the model: `src/exercise.rs`, compiled against locks and threads whose schedule the test decides.

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
fn one_worker_runs_the_jobs_in_their_order() {
    check(suite::one_worker_runs_the_jobs_in_their_order);
}

#[test]
fn as_many_jobs_run_at_once_as_there_are_threads() {
    check(suite::as_many_jobs_run_at_once_as_there_are_threads);
}

#[test]
fn no_more_threads_run_jobs_than_the_pool_has() {
    check(suite::no_more_threads_run_jobs_than_the_pool_has);
}

#[test]
fn execute_returns_while_every_worker_is_busy() {
    check(suite::execute_returns_while_every_worker_is_busy);
}

#[test]
fn a_worker_without_a_job_sleeps_until_there_is_one() {
    check(suite::a_worker_without_a_job_sleeps_until_there_is_one);
}

#[test]
fn workers_stay_when_another_was_faster() {
    check(suite::workers_stay_when_another_was_faster);
}

#[test]
fn a_panicking_job_costs_no_worker() {
    check(suite::a_panicking_job_costs_no_worker);
}

#[test]
fn shutdown_runs_what_was_accepted() {
    check(suite::shutdown_runs_what_was_accepted);
}

#[test]
fn shutdown_wakes_every_sleeping_worker() {
    check(suite::shutdown_wakes_every_sleeping_worker);
}

#[test]
fn shutdown_reaches_a_worker_that_is_about_to_sleep() {
    check(suite::shutdown_reaches_a_worker_that_is_about_to_sleep);
}

#[test]
fn shutdown_returns_when_every_thread_has_ended() {
    check(suite::shutdown_returns_when_every_thread_has_ended);
}
