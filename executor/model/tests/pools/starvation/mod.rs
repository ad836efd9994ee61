//! If threads wait only for each other, exactly one thread gets the report, no matter what happens at the
//! same time, and no report is false.
//!
//! Each model checks both rules. A waiter that gets a false report fails an assertion. If a waiter should get
//! a report but gets none, this waiter never wakes, and shuttle reports a deadlock.

mod others; // a second waiter, a cancel, help
mod sources; // other sources than one task: several tasks, and permits
mod room; // a submission that waits for room
mod scopes; // lent closures
mod threads; // an end elsewhere, growth, `set_threads`

use std::sync::Arc;

use executor_model::{JoinError, TaskHandle, ThreadPoolBuilder, ThreadPoolExecutor, prelude::*};

fn shared(builder: ThreadPoolBuilder) -> Arc<ThreadPoolExecutor> {
    Arc::new(builder.build().unwrap())
}

fn fixed(threads: usize) -> Arc<ThreadPoolExecutor> {
    shared(ThreadPoolExecutor::builder().threads(threads))
}

/// Joins a task. Returns `None` if the join starves; in that case the function cancels the task, which has
/// not ended.
fn join<T: Send + 'static>(handle: TaskHandle<T>) -> Option<T> {
    match handle.join() {
        Ok(value) => Some(value),
        Err(JoinError::Starved(handle, report)) => {
            assert!(!report.chain().is_empty());
            handle.cancel();
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Submits a task that waits for another task of the same pool. The result of the first task shows whether
/// the other task has run.
fn page(pool: &Arc<ThreadPoolExecutor>) -> TaskHandle<bool> {
    let own = Arc::clone(pool);
    pool.submit(move || join(own.submit(|| ()).unwrap()).is_some()).unwrap()
}
