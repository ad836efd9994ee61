//! Runs the same two tasks on a timer with one thread and on a scheduled pool: a long task, and a task that
//! panics.
//!
//! ```sh
//! cargo run --example timer_and_scheduler
//! ```
//!
//! The timer is in `timer.rs`.

mod timer;

use executor::ScheduledThreadPoolExecutor;
use std::sync::mpsc;
use std::time::Duration;
use timer::Timer;

type Job = Box<dyn FnOnce() + Send>;
type After<'a> = &'a dyn Fn(Duration, Job) -> bool;

fn main() {
    let timer = Timer::new();
    let after: After<'_> = &|delay, job| timer.after(delay, job);
    long_task("Timer", after, Duration::from_millis(500));
    panicking_task("Timer", after);

    let pool = ScheduledThreadPoolExecutor::new(2);
    let after: After<'_> = &|delay, job| pool.schedule(delay, job).is_ok();
    long_task("ScheduledThreadPoolExecutor", after, Duration::from_secs(30));
    panicking_task("ScheduledThreadPoolExecutor", after);
}

// ANCHOR: long
/// The long task runs until the short task has run, or until its own time limit.
fn long_task(who: &str, after: After<'_>, patience: Duration) {
    let (tell, told) = mpsc::channel();
    let (end, ended) = mpsc::channel();
    after(Duration::ZERO, Box::new(move || _ = end.send(told.recv_timeout(patience).is_ok())));
    after(Duration::from_millis(20), Box::new(move || _ = tell.send(())));
    let runs = if ended.recv().expect("it ends") { "runs in time" } else { "has to wait" };
    println!("{who}: while a long task runs, a short one {runs}");
}
// ANCHOR_END: long

// ANCHOR: panicking
/// One task panics. Another task was planned before the panic, and a third task is planned after the panic.
/// If a task is dropped and has not run, its sender is dropped, too.
fn panicking_task(who: &str, after: After<'_>) {
    let [(tell, second), (tell_too, third)] = [mpsc::channel(), mpsc::channel()];
    after(Duration::from_millis(200), Box::new(move || _ = tell.send(())));
    after(Duration::ZERO, Box::new(|| panic!("no such file")));
    let says = |ran| if ran { "has run" } else { "never runs" };
    let second = says(second.recv().is_ok());
    after(Duration::ZERO, Box::new(move || _ = tell_too.send(())));
    let third = says(third.recv().is_ok());
    println!("{who}: after a panic, what was planned {second}, what comes later {third}");
}
// ANCHOR_END: panicking
