//! The classic listing of a bounded executor: the submitter takes a permit for the task. The task is wrapped
//! in a closure that gives the permit back.

use crate::trials::Bounded;
use executor::{CutShort, Executor, ManualExecutor, Semaphore, prelude::*};
use std::sync::Arc;

pub struct Classic<E> {
    executor: E,
    permits: Arc<Semaphore>,
}

impl<E: Executor> Classic<E> {
    pub fn new(executor: E, bound: usize) -> Self {
        Self { executor, permits: Arc::new(Semaphore::new(bound)) }
    }

    // ANCHOR: submit_task
    pub fn submit_task(&self, task: impl FnOnce() + Send + 'static) -> Result<(), CutShort> {
        self.permits.acquire()?.forget();
        let permits = Arc::clone(&self.permits);
        let wrapped = move || {
            let _finally = GiveBack(permits); // even if the task panics
            task();
        };
        if self.executor.execute(wrapped).is_err() {
            self.permits.release(1);
        }
        Ok(())
    }
    // ANCHOR_END: submit_task
}

struct GiveBack(Arc<Semaphore>);

impl Drop for GiveBack {
    fn drop(&mut self) {
        self.0.release(1);
    }
}

impl Bounded for Classic<ManualExecutor> {
    fn submit(&self) -> Result<(), String> {
        self.submit_task(|| ()).map_err(|why| why.to_string())
    }
    fn below(&self) -> &ManualExecutor {
        &self.executor
    }
    fn free(&self) -> usize {
        self.permits.available_permits()
    }
}
