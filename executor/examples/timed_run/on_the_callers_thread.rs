//! Timed run 1: the task runs on the caller's thread, and a timer will cancel the caller.

use executor::CancelToken;
use std::thread;
use std::time::Duration;

// ANCHOR: late
/// Runs a task on the calling thread, and cancels the caller when the time is up. Wrong: the caller is
/// cancelled even if the task has already ended.
pub fn late_cancel<T>(limit: Duration, task: impl FnOnce() -> T) -> T {
    let caller = CancelToken::current();
    thread::spawn(move || {
        thread::sleep(limit);
        caller.cancel_because("the weather takes too long");
    });
    task()
}
// ANCHOR_END: late

// ANCHOR: taken_back
/// Removes the planned cancellation when the task has ended. Still wrong, because the caller can be cancelled
/// just before the removal.
pub fn taken_back<T>(limit: Duration, task: impl FnOnce() -> T) -> T {
    let caller = CancelToken::current();
    let alarm = CancelToken::new().with_timeout(limit);
    let _until_the_end = alarm.on_cancel(move || {
        caller.cancel_because("the weather takes too long");
    });
    task()
}
// ANCHOR_END: taken_back

// ANCHOR: child
/// Runs a task on the calling thread with a token of the task's own, and cancels that token when the time is
/// up. No other code uses the token of the task.
pub fn timed_run<T>(limit: Duration, task: impl FnOnce() -> T) -> T {
    CancelToken::current().with_timeout(limit).attach(task)
}
// ANCHOR_END: child
