//! A task is cancelled before a thread has begun the task, and then a thread runs the cancelled task.

use executor::FutureTask;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

pub fn run() -> String {
    let has_run = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&has_run);
    let FutureTask { task, handle } = FutureTask::new(move || {
        noted.store(true, SeqCst);
        7
    });

    handle.cancel();
    let outcome = task.run();
    format!("run(): {outcome:?}; the body has run: {}; join(): {:?}", has_run.load(SeqCst), handle.join())
}
