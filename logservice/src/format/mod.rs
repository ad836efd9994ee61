//! How a record becomes a line.
//!
//! [`Human`] is for people, [`Json`] for machines, [`Syslog`] for the system's log. A closure is a format,
//! too:
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

/// Makes lines from records.
///
/// A format runs on the thread that logs, before any lock of the service is taken. The format may log, too.
/// If it panics, the service writes a line that says so.
pub trait Format: Send + Sync {
    /// Appends one line to `out`, without the line feed at its end, of `longest` bytes at most.
    ///
    /// The service cuts a longer line. A format that has a syntax should not leave that to the service.
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
