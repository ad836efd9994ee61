use std::process;

use super::human::{self, Says};
use super::line::Line;
use super::stamp::Stamp;
use crate::{Format, Level, Record};

/// Lines for the system's log, in the form that the C library writes to `/dev/log` (RFC 3164):
///
/// ```text
/// <30>Nov 25 07:33:07 shop[4711]: INFO shop::db [worker-3] request{id=7}:query: connected host=db1
/// ```
///
/// The number at the beginning of a line combines the [facility](Facility) and the level: error, warning,
/// informational or debug. Many programs that read the lines drop the number, so the level is also written
/// as text. The time is in the time zone that the system has when the format is created. The rest of the
/// line has the form of [`Human`](super::Human).
#[derive(Debug, Clone)]
pub struct Syslog {
    stamp: Stamp,
    facility: Facility,
    /// The name of the program and the process ID, for example ` shop[4711]: `.
    tag: String,
    says: Says,
}

/// The kind of program that writes a line to the system's log. Administrators sort log lines by the
/// facility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are RFC 3164's")]
pub enum Facility {
    User = 1,
    Mail = 2,
    Daemon = 3,
    Auth = 4,
    News = 7,
    Cron = 9,
    AuthPriv = 10,
    Ftp = 11,
    Local0 = 16,
    Local1 = 17,
    Local2 = 18,
    Local3 = 19,
    Local4 = 20,
    Local5 = 21,
    Local6 = 22,
    Local7 = 23,
}

impl Syslog {
    /// Creates a format for a program with the name `tag`; only the first 32 characters of `tag` are used.
    /// Characters other than letters, digits, `-`, `_`, `.` and `/` become `_`.
    pub fn new(facility: Facility, tag: &str) -> Self {
        let may_stand = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        let tag: String = tag.chars().take(32).map(|c| if may_stand(c) { c } else { '_' }).collect();
        let tag = format!(" {tag}[{}]: ", process::id());
        Self { stamp: Stamp::local().bsd(), facility, tag, says: Says::USUAL }
    }

    /// Sets whether a line contains the name of the thread. By default, a line contains the name of the
    /// thread.
    pub fn threads(self, said: bool) -> Self {
        Self { says: Says { threads: said, ..self.says }, ..self }
    }

    /// Sets whether a line contains the source location, after the target. By default, a line contains no
    /// source location.
    pub fn places(self, said: bool) -> Self {
        Self { says: Says { places: said, ..self.says }, ..self }
    }
}

impl Format for Syslog {
    fn line(&self, record: &Record<'_>, longest: usize, out: &mut String) {
        let mut line = Line::new(out, longest);
        line.text("<");
        line.text(itoa::Buffer::new().format(self.facility as u8 * 8 + severity(record.level)));
        line.text(">");
        self.stamp.write(record.time, |text| line.text(text));
        line.text(&self.tag);
        line.text(record.level.name());
        line.text(" ");
        human::body(&mut line, record, self.says);
        line.end_with_mark();
    }
}

fn severity(level: Level) -> u8 {
    match level {
        Level::Error => 3,
        Level::Warn => 4,
        Level::Info => 6,
        Level::Debug | Level::Trace => 7,
    }
}
