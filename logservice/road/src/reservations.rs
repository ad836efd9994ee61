//! The count of lines that were accepted but are not written yet, and the flag that says that the log is
//! stopped. The count and the flag change together, so one lock protects both of them.
//!
//! ```text
//!   open ───stop()───▶ stopped ───the last reservation ends───▶ over
//!   reserve(): +1      reserve(): refused                       the writer ends
//! ```
//!
//! # Invariants
//!
//! 1. A reservation is made only while the log is open. So after the log is stopped, the count never
//!    increases.
//! 2. A reservation ends exactly once: when its line is written, or when the client fails to put the line.
//! 3. The log is over when it is stopped and no reservation is left. Because of rule 1, a log that is over
//!    stays over.
//! 4. The thread that ends the last reservation learns this from the return value, and wakes the writer,
//!    which may be waiting for a line that will not come.

use crate::door::sync::{Mutex, MutexGuard};

// ANCHOR: reservations
/// The number of accepted lines that are not written, and the flag that says that the log is stopped.
#[derive(Default)]
pub(super) struct Reservations(Mutex<State>);

#[derive(Default)]
struct State {
    is_stopped: bool,
    reserved: usize,
}

impl Reservations {
    /// Promises that a line will be written. Returns false, and promises nothing, if the log is stopped.
    pub(super) fn reserve(&self) -> bool {
        let mut state = self.lock();
        if !state.is_stopped {
            state.reserved += 1;
        }
        !state.is_stopped
    }

    /// Ends one reservation, because its line is written or will never come. Returns true if the ended
    /// reservation was the last one of a stopped log.
    pub(super) fn end_one(&self) -> bool {
        let mut state = self.lock();
        state.reserved -= 1;
        state.is_over()
    }

    /// Ensures that no reservation is made from now on.
    pub(super) fn stop(&self) {
        self.lock().is_stopped = true;
    }

    /// Returns true if the writer can end: the log is stopped, and no reservation is left.
    pub(super) fn are_over(&self) -> bool {
        self.lock().is_over()
    }
    // ANCHOR_END: reservations

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl State {
    fn is_over(&self) -> bool {
        self.is_stopped && self.reserved == 0
    }
}
