//! Tests the life of whole pools under shuttle, in some thousands of schedules, which are the same in each
//! run.
//!
//! The library catches a panic of a task, even if the panic is a failed assertion. So the model's main thread
//! asserts how the tasks ended. A schedule ends only when all its threads have ended. So each test also
//! checks that no worker remains: shuttle reports a worker that remains as a deadlock. Tasks that must panic
//! use `resume_unwind`, because shuttle's panic hook treats each `panic!` as the end of the test.
#![cfg(feature = "shuttle")]

mod cancel;
mod channel;
mod completion;
mod composed;
mod composite;
mod deadlines;
mod dice;
mod fork_join;
mod growth;
mod inbox;
mod invoke;
mod lives;
mod queue;
mod rising;
mod room;
mod run;
mod scheduled;
mod shutdown;
mod starvation;
mod starved;
mod stopping;
mod striped;
mod submission;

use std::io;
use std::sync::Arc;

use shuttle::current;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

/// Runs `body` under schedules of two kinds. Schedules of the first kind switch threads at any step.
/// Schedules of the second kind let one thread run for a long time, and switch threads only at a few
/// unfavourable points. `MODEL_SCHEDULES` asks for more schedules, and `MODEL_SEED` asks for other schedules.
fn check(body: impl Fn() + Send + Sync + 'static) {
    check_often(1, body);
}

/// Runs `body` as [`check`] does, but under `times` as many schedules, to find a mistake that few schedules
/// show.
fn check_often(times: usize, body: impl Fn() + Send + Sync + 'static) {
    let seed = number("MODEL_SEED").unwrap_or(0x5EED);
    let schedules =
        usize::try_from(number("MODEL_SCHEDULES").unwrap_or(1_000)).expect("a number of schedules");
    let body: Body = Arc::new(body);
    run(RandomScheduler::new_from_seed(seed, times * schedules), &body);
    run(PctScheduler::new_from_seed(seed, 3, times * schedules), &body);
}

/// Calls `f`. During the call, the calling thread cannot start other threads: see `primitives/shuttle.rs`.
fn without_new_threads<R>(f: impl FnOnce() -> R) -> R {
    current::set_label_for_task(current::me(), io::ErrorKind::WouldBlock);
    let result = f();
    current::remove_label_for_task::<io::ErrorKind>(current::me());
    result
}

/// All bodies have the same type. If each body had its own type, the compiler would compile all of shuttle's
/// runner again for each type.
type Body = Arc<dyn Fn() + Send + Sync>;

fn run(scheduler: impl Scheduler + 'static, body: &Body) {
    let body = Arc::clone(body);
    Runner::new(scheduler, Config::new()).run(move || body());
}

/// Shuttle's threads. Each body is in a box. Without the box, the compiler would compile all of shuttle's
/// `spawn` again for each type of body.
mod thread {
    pub(crate) use shuttle::thread::{JoinHandle, yield_now};

    pub(crate) fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        let body: Box<dyn FnOnce() -> T + Send> = Box::new(body);
        shuttle::thread::spawn(body)
    }
}

fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not {value:?}")))
}
