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
fn every_task_is_counted_once() {
    check(suite::every_task_is_counted_once);
}

#[test]
fn a_panicking_task_is_counted_and_timed() {
    check(suite::a_panicking_task_is_counted_and_timed);
}

#[test]
fn whoever_has_joined_a_task_finds_it_counted() {
    check(suite::whoever_has_joined_a_task_finds_it_counted);
}

#[test]
fn a_running_task_is_not_counted() {
    check(suite::a_running_task_is_not_counted);
}

#[test]
fn the_mean_of_no_tasks_is_none() {
    check(suite::the_mean_of_no_tasks_is_none);
}

#[test]
fn the_mean_is_the_total_by_the_number() {
    check(suite::the_mean_is_the_total_by_the_number);
}

#[test]
fn a_task_is_timed_from_its_beginning_to_its_end() {
    check(suite::a_task_is_timed_from_its_beginning_to_its_end);
}

#[test]
fn the_times_of_tasks_side_by_side_add_up() {
    check(suite::the_times_of_tasks_side_by_side_add_up);
}

#[test]
fn number_and_total_belong_together() {
    check(suite::number_and_total_belong_together);
}

#[test]
fn the_log_is_called_once_after_the_last_task() {
    check(suite::the_log_is_called_once_after_the_last_task);
}

#[test]
fn the_log_may_ask_for_the_summary() {
    check(suite::the_log_may_ask_for_the_summary);
}
