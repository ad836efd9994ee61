//! The threads of a pool; each thread is recorded, so that a caller can check whether the threads have ended.

use executor::{ThreadFactory, Worker};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// Starts the threads of a pool and records each thread.
#[derive(Debug, Default)]
pub struct Threads {
    started: AtomicUsize,
    handles: Mutex<Vec<JoinHandle<()>>>,
}

impl Threads {
    /// Returns the number of threads that have been started and have not ended.
    pub fn alive(&self) -> usize {
        let handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        handles.iter().filter(|thread| !thread.is_finished()).count()
    }

    /// Waits until each thread has ended, and removes the thread from the record. A pool is terminated when
    /// its last worker has left it; the worker's thread ends a moment later.
    ///
    /// # Blocking
    /// Blocks as long as the pool has threads, so the caller must terminate the pool first. No token ends
    /// the wait for the threads.
    pub fn join(&self) {
        loop {
            let last = self.handles.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(thread) = last else { return };
            let _ = thread.join(); // a worker's panics stay in the pool
        }
    }
}

impl ThreadFactory for Threads {
    fn start(&self, worker: Worker) -> io::Result<()> {
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let builder = thread::Builder::new().name(format!("mail-thread-{number}"));
        let thread = builder.spawn(move || worker.run())?;
        self.handles.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }

    fn name(&self) -> Option<&str> {
        Some("mail")
    }
}
