//! Turns a record into a line.
//!
//! [`Human`] is a format for people, [`Json`] is a format for machines, and [`Syslog`] is a format for the
//! system's log. A closure is also a format:
//!
//! ```
//! use logservice::{Format, Record};
//!
//! let short = |record: &Record<'_>, longest: usize, out: &mut String| {
//!     let line = format!("{} {}", record.level, record.message);
//!     out.push_str(&line[..line.floor_char_boundary(longest)]);
//! };
//! let format: Box<dyn Format> = Box::new(short);
//! # let record = Record::new(logservice::Level::Info, "t", format_args!("hello"));
//! # let mut out = String::new();
//! # format.line(&record, 8, &mut out);
//! # assert_eq!(out, "INFO hel");
//! ```

mod escape;

mod line;

mod stamp;

mod human;
pub use human::Human;

mod json;
pub use json::Json;

mod syslog;
pub use syslog::{Facility, Syslog};

use crate::Record;

/// Turns records into lines.
///
/// A format runs on the thread that logs, before any lock of the service is taken. A format may also log
/// records itself. If a format panics, the service writes a line that reports the panic.
pub trait Format: Send + Sync {
    /// Appends one line of at most `longest` bytes to `out`, without the line feed at its end.
    ///
    /// The service cuts a longer line. A format with a syntax should keep to `longest` by itself, because the
    /// service may cut the line in the middle of the syntax.
    fn line(&self, record: &Record<'_>, longest: usize, out: &mut String);
}

impl<F> Format for F
where
    F: Fn(&Record<'_>, usize, &mut String) + Send + Sync,
{
    fn line(&self, record: &Record<'_>, longest: usize, out: &mut String) {
        self(record, longest, out);
    }
}
