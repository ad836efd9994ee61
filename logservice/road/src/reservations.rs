//! The count of lines that were accepted and are not written yet, and whether the log is stopped: two facts
//! that change together, so both are behind one lock.
//!
//! ```text
//!   open ───stop()───▶ stopped ───the last reservation ends───▶ over
//!   reserve(): +1      reserve(): refused                       the writer ends
//! ```
//!
//! # Invariants
//!
//! 1. A reservation is made only while the log is open. So when it is stopped, the count only falls.
//! 2. A reservation ends exactly once: when its line is written, or when the client could not put the line.
//! 3. The log is over when it is stopped and no reservation is left. By 1, it then stays over.
//! 4. The thread that ends the last reservation is told so, and wakes the writer: the writer may be asleep,
//!    waiting for a line that will not come.

use crate::door::sync::{Mutex, MutexGuard};

// ANCHOR: reservations
/// How many lines the writer still owes, and whether there will be more.
#[derive(Default)]
pub(super) struct Reservations(Mutex<State>);

#[derive(Default)]
struct State {
    is_stopped: bool,
    reserved: usize,
}

impl Reservations {
    /// Promises a line to be written. False: the log is stopped, and nothing was promised.
    pub(super) fn reserve(&self) -> bool {
        let mut state = self.lock();
        if !state.is_stopped {
            state.reserved += 1;
        }
        !state.is_stopped
    }

    /// Ends one reservation: its line is written, or will never come. True: that was the last one of a
    /// stopped log.
    pub(super) fn end_one(&self) -> bool {
        let mut state = self.lock();
        state.reserved -= 1;
        state.is_over()
    }

    /// From now on nothing more is promised.
    pub(super) fn stop(&self) {
        self.lock().is_stopped = true;
    }

    /// Whether the writer can end: no line is owed, and none will be.
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
