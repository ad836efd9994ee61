//! Tasks that wait for each other until no thread is left: found, named, and relieved as the pool was told.

mod circles; // the circles there are, and what the report says of each
mod relief; // another thread, help, a spare thread
mod by_call; // a task that runs others while it waits, because it calls for it
mod permits; // who could give one back
mod scopes; // owners that cannot give up
mod changes; // a wait that comes to be without end while it lasts; and what is no circle
mod around; // hooks, callbacks, destructors; lines

use std::sync::Arc;

use executor::{JoinError, OnStarvation, Starvation, TaskHandle, ThreadPoolBuilder, ThreadPoolExecutor};

use crate::support::LONG;

/// A pool that its own tasks can submit to.
fn shared(builder: ThreadPoolBuilder) -> Arc<ThreadPoolExecutor> {
    Arc::new(builder.build().unwrap())
}

/// A pool of so many threads with a name.
fn named(name: &str, threads: usize) -> Arc<ThreadPoolExecutor> {
    shared(ThreadPoolExecutor::builder().name(name).threads(threads))
}

fn one_thread(what: OnStarvation) -> Arc<ThreadPoolExecutor> {
    shared(ThreadPoolExecutor::builder().name("own").on_starvation(what))
}

/// The report of a join that starves. Its task is cancelled.
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

/// The result of a task, for a thread outside.
fn outside<T: Send + 'static>(handle: TaskHandle<T>) -> T {
    handle.join_timeout(LONG).unwrap()
}
