//! Tasks that wait for each other until no thread is left. The library finds and reports such cycles of
//! waits; the settings of the pool decide whether and how the pool helps.

mod circles; // the kinds of circles, and what the report says of each
mod relief; // another thread, help, a spare thread
mod by_call; // a task that asks for other tasks to run while it waits
mod permits; // which threads could give a permit back
mod scopes; // owners that cannot give up
mod changes; // waits that become endless after they have begun, and waits that form no circle
mod around; // hooks, callbacks, destructors; lines

use std::sync::Arc;

use executor::{JoinError, OnStarvation, Starvation, TaskHandle, ThreadPoolBuilder, ThreadPoolExecutor};

use crate::support::LONG;

/// Makes a pool that the pool's own tasks can share, so that the tasks can submit to the pool.
fn shared(builder: ThreadPoolBuilder) -> Arc<ThreadPoolExecutor> {
    Arc::new(builder.build().unwrap())
}

/// Makes a named pool of `threads` threads.
fn named(name: &str, threads: usize) -> Arc<ThreadPoolExecutor> {
    shared(ThreadPoolExecutor::builder().name(name).threads(threads))
}

fn one_thread(what: OnStarvation) -> Arc<ThreadPoolExecutor> {
    shared(ThreadPoolExecutor::builder().name("own").on_starvation(what))
}

/// Returns the report of a join that starves, and cancels the task for which the join waited.
fn starves<T: Send + 'static>(handle: TaskHandle<T>) -> Starvation {
    match handle.join() {
        Err(JoinError::Starved(handle, starvation)) => {
            handle.cancel();
            starvation
        }
        Err(other) => panic!("it ends otherwise: {other:?}"),
        Ok(_) => panic!("the task has run"),
    }
}

/// Joins a task on a thread outside the pool, and returns the task's result.
fn outside<T: Send + 'static>(handle: TaskHandle<T>) -> T {
    handle.join_timeout(LONG).unwrap()
}
