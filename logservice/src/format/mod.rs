//! How a record becomes a line.

use crate::Record;

/// Makes lines of records.
///
/// It runs on the thread that logs, before any lock of the service is taken. It may log itself, and it may panic: the service
/// then writes a line that says so.
pub trait Format: Send + Sync {
    /// Appends one line to `out`, without the line feed at its end, of `longest` bytes at most.
    ///
    /// The service cuts a line that is longer, which no format that has a syntax should leave to it.
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

/// Lines for people.
#[derive(Debug)]
pub struct Human;

impl Human {
    /// With times in UTC.
    pub fn utc() -> Human {
        Human
    }
}

impl Format for Human {
    fn line(&self, record: &Record<'_>, _: usize, out: &mut String) {
        let _ = std::fmt::Write::write_fmt(
            out,
            format_args!("{:?} {}: {}", record.level, record.target, record.message),
        );
    }
}
