//! A barrier, at which threads wait for each other.

use std::panic::Location;

use super::super::backend;
use crate::recorder;

pub use super::super::backend::BarrierWaitResult;

/// As [`std::sync::Barrier`].
#[derive(Debug)]
pub struct Barrier {
    inner: backend::Barrier,
}

impl Barrier {
    /// Makes a barrier that blocks each thread until `threads` threads wait at the barrier.
    pub fn new(threads: usize) -> Self {
        Self { inner: backend::Barrier::new(threads) }
    }

    /// Waits until the number of threads at the barrier is the number that `new` was given. The result tells
    /// one of these threads that it is the leader.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let at = Location::caller();
        recorder::sleeping("the others at a barrier", at);
        let result = self.inner.wait();
        recorder::did("passes the barrier", Some(at));
        result
    }
}
