//! A pool's inbox: submitters put jobs into it, workers take jobs out of it, and a submitter notifies a
//! worker only if a worker sleeps.
//!
//! This is the only file to edit. `cargo test -p ex10-sleeping-workers` checks your answer.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::{Condvar, Mutex};

/// The inbox: submitters put jobs into it, and workers take jobs out of it.
pub struct Inbox<T> {
    // What must put() know about the workers? The type `T` must be used somewhere:
    jobs: std::marker::PhantomData<T>,
}

impl<T> Inbox<T> {
    /// Makes an empty inbox.
    pub fn new() -> Self {
        todo!("make an inbox without a job")
    }

    /// Puts a job into the inbox. If workers sleep, wakes one of them; otherwise notifies no thread.
    pub fn put(&self, job: T) {
        todo!("leave the job, and notify if a worker sleeps")
    }

    /// Takes the oldest job. The call sleeps while there is no job.
    pub fn take(&self) -> T {
        todo!("take the oldest job, or note that you sleep, and sleep")
    }
}
