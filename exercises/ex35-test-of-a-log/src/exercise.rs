//! A test of a log that must lose no line: it lets each right log pass, and none that accepts a line and does
//! not write it.
//!
//! This is the only file to edit. `cargo test -p ex35-test-of-a-log` checks it.
#![allow(unused)]

use crate::sync::{Arc, thread};

/// A log, as exercise 24 has it: clients hand in lines, one thread writes them, and it can be stopped at any
/// time.
pub trait Log: Send + Sync {
    /// Hands in a line. True: it is accepted, and will be written. False: the log is stopped. Waits while the
    /// queue to the writer is full.
    fn log(&self, line: &str) -> bool;

    /// Gives each accepted line to `write`. Called once, on the thread of the writer. Returns when the log is
    /// stopped and every accepted line is written.
    fn run(&self, write: &mut dyn FnMut(String));

    /// Stops the log: from now on it accepts nothing. Waits for no other thread.
    fn stop(&self);
}

/// The test. `new` makes an open log, each time of the same kind. The test comes back if such a log keeps its
/// promises. If not, it panics or never comes back, on one schedule or another.
pub fn accepted_means_written(new: fn() -> Arc<dyn Log>) {
    todo!("start a writer and clients, stop the log, join them, and compare what was accepted and written")
}
