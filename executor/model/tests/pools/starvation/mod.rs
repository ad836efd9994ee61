//! Waits that only each other could end: one of them is told, whatever happens meanwhile, and nobody is told without need.
//!
//! Each model says both. Who is told wrongly fails an assertion; who ought to be told and is not sleeps for ever, which
//! shuttle reports as a deadlock.

mod others; // a second one that waits, a cancel, relief
mod sources; // what is not one task: several tasks, and permits
mod room; // a submission that waits for room
mod scopes; // closures that are lent
mod threads; // an end elsewhere, growth, `set_threads`

use std::sync::Arc;

use executor_model::{JoinError, TaskHandle, ThreadPoolBuilder, ThreadPoolExecutor, prelude::*};

fn shared(builder: ThreadPoolBuilder) -> Arc<ThreadPoolExecutor> {
    Arc::new(builder.build().unwrap())
}

fn fixed(threads: usize) -> Arc<ThreadPoolExecutor> {
    shared(ThreadPoolExecutor::builder().threads(threads))
}

/// Joins a task. `None` if that starves: then the task has not ended, and is cancelled.
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

/// A task of the pool that waits for another task of the same pool. Its result is whether that has run.
fn page(pool: &Arc<ThreadPoolExecutor>) -> TaskHandle<bool> {
    let own = Arc::clone(pool);
    pool.submit(move || join(own.submit(|| ()).unwrap()).is_some()).unwrap()
}
