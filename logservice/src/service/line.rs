//! Turns a record into a line, on the thread that logs.
//!
//! Each thread keeps memory for its lines in a thread-local variable. While the thread formats a record, the
//! thread takes the memory out of the variable. So a nested record (from a formatted value, a destructor, or
//! the panic hook) finds no memory in the variable, and uses other memory. At the end of a thread, its
//! thread-local variables are gone, but the thread can still create lines.

use crate::{Format, Record};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The maximum depth of nested records: a format logs a record while it formats a record, and so on.
const DEEPEST: u8 = 4;

/// The amount of memory that a thread keeps for its next line.
const KEPT: usize = 16 * 1024;

thread_local! {
    /// The memory of this thread's next line.
    static LINE: RefCell<String> = const { RefCell::new(String::new()) };
    static DEPTH: Cell<u8> = const { Cell::new(0) };
    static IS_WRITER: Cell<bool> = const { Cell::new(false) };
}

/// Appends the line of a record, with its line feed. If a record or a format panics, the line reports the
/// panic. (The formats of this package write the report in place of the value that has panicked.)
pub(super) fn make_line(format: &dyn Format, record: &Record<'_>, longest: usize, line: &mut String) {
    let is_made = append(format, record, longest - 1, line) || {
        let message = format_args!("a record of {} panicked while it was formatted", record.target);
        line.clear();
        append(format, &Record { message, fields: &(), spans: &[], ..*record }, longest - 1, line)
    };
    if !is_made {
        line.clear();
        line.push_str("a format panicked");
    }
    if line.len() >= longest {
        line.truncate(line.floor_char_boundary(longest - 1));
    }
    line.push('\n');
}

fn append(format: &dyn Format, record: &Record<'_>, longest: usize, line: &mut String) -> bool {
    let made = catch_unwind(AssertUnwindSafe(|| format.line(record, longest, line)));
    // The payload is forgotten, because its destructor might panic.
    made.map_err(std::mem::forget).is_ok()
}

/// The number of records that this thread is formatting.
pub(super) struct Depth(u8);

impl Depth {
    pub(super) fn enter() -> Depth {
        // At the end of a thread, the counter no longer exists.
        Depth(
            DEPTH
                .try_with(|depth| {
                    depth.set(depth.get().saturating_add(1));
                    depth.get()
                })
                .unwrap_or(1),
        )
    }

    pub(super) fn is_too_deep(&self) -> bool {
        self.0 > DEEPEST
    }
}

/// Returns true if this thread is formatting a record.
pub(crate) fn is_formatting() -> bool {
    DEPTH.try_with(|depth| depth.get() > 0).unwrap_or(false)
}

impl Drop for Depth {
    fn drop(&mut self) {
        let _ = DEPTH.try_with(|depth| depth.set(depth.get().saturating_sub(1)));
    }
}

/// Marks this thread as the writer of a service.
pub(super) fn becomes_writer() {
    IS_WRITER.set(true);
}

pub(super) fn is_writer() -> bool {
    IS_WRITER.try_with(Cell::get).unwrap_or(false)
}

/// Returns an empty string; this string reuses the memory of the last line, unless this thread is already
/// formatting a record.
pub(super) fn own_memory() -> String {
    let mut line = LINE.try_with(RefCell::take).unwrap_or_default();
    line.clear();
    line
}

pub(super) fn give_back(line: String) {
    if line.capacity() <= KEPT {
        let _ = LINE.try_with(|kept| drop(kept.replace(line)));
    }
}
