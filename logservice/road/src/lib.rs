//! Nine steps towards a log service that outlives its clients: each module is a step, and a later step corrects
//! the faults of an earlier step.
//!
//! Any number of clients pass lines to a log, and one writer writes these lines. A good log keeps five
//! promises; for each promise there is a function in [`properties`]:
//!
//! 1. *Accepted means written.* If `log` returned `Ok`, the line is written exactly once before `stop`
//!    returns.
//! 2. *Stop ends.* `stop` always returns, even while clients log and after clients were cancelled.
//! 3. *No call blocks forever.* Each call of `log` returns, even if the client finds the queue full.
//! 4. *Order within a thread.* The lines of one client are written in the order of the client's
//!    calls.
//! 5. *After stop a clear refusal.* After `stop`, `log` returns at once, with the reason and the line.
//!
//! | step | how the log ends | broken promises |
//! |---|---|---|
//! | [`s1_no_stop`] | it does not end: the writer is killed | 1, 3, 5 |
//! | [`s2_racing_flag`] | a flag that clients check before each `put` | 1, 3 |
//! | [`s3_wrong_lock`] | a count of reservations, under two locks | 1, 2, 3 |
//! | [`s4_kept_reservation`] | a count under one lock; an interrupted client stays counted | 2 |
//! | [`s5_reservations`] | a count under one lock; an interrupted client decreases the count | |
//! | [`s6_executor_service`] | `close` of a pool with one thread | |
//! | [`s7_cached_pool`] | a time limit for a cached pool | 1, 4 |
//! | [`s8_poison_pill`] | a pill in the queue | 1, 3 |
//! | [`s9_pill_and_gate`] | a pill, which is the last item in the queue | |
//!
//! [`table`] contains this table as data; tests and models check each cell, so a faulty step must fail.
//!
//! The program `road` shows each fault in a schedule that reveals it. The book's page *A service that
//! outlives its clients* explains the steps. The package `logservice` is a logger for real programs, and
//! shares no code with this package.

#![warn(missing_docs)]

// The model in `logservice/model` compiles these modules with its own module `door`.
use std as door;

mod paper;
pub use paper::Paper;

mod gaps;
pub use gaps::Gaps;

mod queue;
mod reservations;
mod writer_thread;

pub mod s1_no_stop;
pub mod s2_racing_flag;
pub mod s3_wrong_lock;
pub mod s4_kept_reservation;
pub mod s5_reservations;
pub mod s6_executor_service;
pub mod s7_cached_pool;
pub mod s8_poison_pill;
pub mod s9_pill_and_gate;

pub mod properties;
pub mod table;

use std::fmt;

// ANCHOR: log
/// A log: clients on any number of threads pass lines to the log, and the log writes the lines on a
/// [`Paper`].
pub trait Log: Send + Sync + Sized + 'static {
    /// Starts a log whose queue has room for `capacity` lines; the capacity is at least one. `gaps` is used
    /// only by steps that have a gap.
    fn start(capacity: usize, paper: &Paper, gaps: &Gaps) -> Self;

    /// Accepts a line. This call waits while the queue is full.
    fn log(&self, line: String) -> Result<(), Refused>;

    /// Ends the log, and returns after the log has ended.
    fn stop(&self);
}

/// A line that was not accepted, with the reason.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// The line.
    pub line: String,
    /// Why.
    pub reason: Reason,
}

/// The reason why a line was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The log is stopped.
    Stopped,
    /// The client's task was cancelled.
    Interrupted,
}
// ANCHOR_END: log

impl Refused {
    fn stopped(line: String) -> Self {
        Self { line, reason: Reason::Stopped }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reason {
            Reason::Stopped => "the log is stopped",
            Reason::Interrupted => "the task was cancelled while it waited for room in the log",
        })
    }
}

impl std::error::Error for Refused {}
