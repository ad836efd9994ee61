//! Tests of tasks that run later, and of tasks that run again and again, on a real clock. The library's files
//! `scheduled/schedule.rs` and `rule.rs` use a simulated clock to test at which times runs are due. The tests
//! here check that no run is early, and check the behaviour of several threads.

mod delayed; // tasks that run once: not early, in order, taken out, refused
mod elsewhere; // tasks that go to another executor when they are due
mod series; // series: their runs, what changes and ends them, what a panic does
mod limited; // tasks with a time limit
mod ending; // shutdown with its policies, closing, dropping
mod threads; // when the pool's threads start, and what happens while there is none

use std::time::Duration;

use executor::ScheduledThreadPoolExecutor;

/// A time so far in the future that no test reaches it.
const AN_HOUR: Duration = Duration::from_secs(3600);

/// Runs a test twice: with a scheduled pool of one thread, and with a scheduled pool of several threads.
fn on_one_and_on_several_threads(test: impl Fn(&ScheduledThreadPoolExecutor)) {
    for threads in [1, 4] {
        test(&ScheduledThreadPoolExecutor::new(threads));
    }
}
