//! Tasks that run later, and tasks that run again and again, on a real clock. What runs when is tested on a made-up clock,
//! beside the library's `scheduled/schedule.rs` and `rule.rs`; here it is asked that nothing is early, and what happens between
//! threads.

mod delayed; // tasks that run once: not early, in order, taken out, refused
mod series; // series: their runs, what changes and ends them, what follows a panic
mod limited; // tasks with a time limit
mod ending; // shutdown and its policies, closing, dropping
mod threads; // when its threads come, and what happens while there is none

use std::time::Duration;

use executor::ScheduledThreadPoolExecutor;

/// A time that does not come in a test.
const AN_HOUR: Duration = Duration::from_hours(1);

/// Does the same with a scheduled pool of one thread and with one of several.
fn on_one_and_on_several_threads(test: impl Fn(&ScheduledThreadPoolExecutor)) {
    for threads in [1, 4] {
        test(&ScheduledThreadPoolExecutor::new(threads));
    }
}
