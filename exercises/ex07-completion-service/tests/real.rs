//! The same properties on real threads.

use exercises_harness::real::{self, probe, sync};

#[path = "../src/exercise.rs"]
mod exercise;
mod suite;

fn check(property: impl Fn() + Send + Sync + 'static) {
    real::check(include_str!("../src/exercise.rs"), property);
}

#[test]
fn every_result_comes_once() {
    check(suite::every_result_comes_once);
}

#[test]
fn results_come_in_the_order_in_which_tasks_end() {
    check(suite::results_come_in_the_order_in_which_tasks_end);
}

#[test]
fn take_waits_for_the_next_result() {
    check(suite::take_waits_for_the_next_result);
}

#[test]
fn take_waits_while_anything_is_outstanding() {
    check(suite::take_waits_while_anything_is_outstanding);
}

#[test]
fn several_takes_share_the_results() {
    check(suite::several_takes_share_the_results);
}

#[test]
fn take_returns_none_when_nothing_is_outstanding() {
    check(suite::take_returns_none_when_nothing_is_outstanding);
}

#[test]
fn who_waits_learns_that_nothing_will_come() {
    check(suite::who_waits_learns_that_nothing_will_come);
}

#[test]
fn a_refused_task_is_not_waited_for() {
    check(suite::a_refused_task_is_not_waited_for);
}

#[test]
fn a_refusal_releases_who_waits() {
    check(suite::a_refusal_releases_who_waits);
}

#[test]
fn a_panicking_task_comes_too() {
    check(suite::a_panicking_task_comes_too);
}

#[test]
fn a_cancelled_task_comes_too() {
    check(suite::a_cancelled_task_comes_too);
}

#[test]
fn a_task_that_is_dropped_unrun_comes_too() {
    check(suite::a_task_that_is_dropped_unrun_comes_too);
}

#[test]
fn the_executor_may_run_tasks_at_once() {
    check(suite::the_executor_may_run_tasks_at_once);
}

#[test]
fn try_take_takes_what_is_there() {
    check(suite::try_take_takes_what_is_there);
}
