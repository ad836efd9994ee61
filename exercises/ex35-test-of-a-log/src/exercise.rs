//! A test of a log that must not lose a line. The test passes with each correct log, and fails with a log
//! that accepts a line and does not write that line.
//!
//! This file is the only file to edit. `cargo test -p ex35-test-of-a-log` checks it.
#![allow(unused)]

use crate::sync::{Arc, thread};

/// The log of exercise 24: clients hand in lines, one thread writes the lines, and the log can be stopped at
/// any time.
pub trait Log: Send + Sync {
    /// Hands in a line. Returns true if the line is accepted and will be written, and false if the log is
    /// stopped. Waits while the queue to the writer is full.
    fn log(&self, line: &str) -> bool;

    /// Gives each accepted line to `write`. The thread of the writer calls `run` once. Returns when the log
    /// is stopped and every accepted line is written.
    fn run(&self, write: &mut dyn FnMut(String));

    /// Stops the log, which then accepts no more lines. Does not wait for any other thread.
    fn stop(&self);
}

/// Tests the logs that `new` makes. Each call of `new` makes an open log of the same kind. If the logs keep
/// all their promises, this function returns. If a log breaks a promise, this function panics or never
/// returns on at least one schedule.
pub fn accepted_means_written(new: fn() -> Arc<dyn Log>) {
    todo!("start a writer and clients, stop the log, join them, and compare what was accepted and written")
}
