//! Decides when a log is rotated, and renames its files.
//!
//! ```text
//!   app.log ──▶ app.log.1 ──▶ app.log.2 ──▶ … ──▶ app.log.n ──▶ removed
//! ```
//!
//! The files are renamed one after the other: first the file just below the first free number, and last the log
//! itself. Each step is one `rename`. If a process is killed between two steps, every file is complete and one
//! number is free; the next rotation uses this number.
//!
//! Rotated files with dates in their names are not renamed: the oldest files are removed, and then the log gets
//! its new name.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::names::{Dated, dated, numbered};

/// The period of one file, if the log is rotated by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Every {
    /// A new file begins with each hour of local time.
    Hour,
    /// A new file begins with each day of the calendar.
    Day,
}

/// The rotation settings of a sink.
#[derive(Debug, Clone)]
pub(super) struct Rotation {
    pub(super) at_bytes: Option<u64>,
    pub(super) every: Option<(Every, TimeZone)>,
    /// The time zone of the dates in names, or `None` if the names have numbers.
    pub(super) dates: Option<TimeZone>,
    pub(super) keep: usize,
}

impl Rotation {
    pub(super) fn is_on(&self) -> bool {
        self.at_bytes.is_some() || self.every.is_some()
    }

    /// Returns the hour or day that contains this time, as the period of one file.
    pub(super) fn period(&self, time: SystemTime) -> Option<Range<SystemTime>> {
        let (every, zone) = self.every.as_ref()?;
        every.period(time, zone)
    }

    /// Returns the newest rotated files, but at most `files` files.
    pub(super) fn newest(&self, log: &Path, files: usize) -> io::Result<Vec<PathBuf>> {
        if self.dates.is_none() || files == 0 {
            return Ok((1..=files.min(self.keep)).map(|number| numbered(log, number)).collect());
        }
        let newest = dated(log)?.into_iter().rev().filter(|file| !file.is_compressed).take(files);
        Ok(newest.map(|file| file.path(log)).collect())
    }

    /// Gives the log the name of a rotated file, after the other files have been renamed or removed.
    pub(super) fn shift(&self, log: &Path) -> io::Result<()> {
        match &self.dates {
            Some(zone) => self.shift_dated(log, zone),
            None => self.shift_numbered(log),
        }
    }

    fn shift_dated(&self, log: &Path, zone: &TimeZone) -> io::Result<()> {
        let mut files = dated(log)?;
        let precision = match (&self.every, self.at_bytes) {
            (Some((Every::Day, _)), None) => "%Y-%m-%d",
            (Some((Every::Hour, _)), None) => "%Y-%m-%dT%H",
            _ => "%Y-%m-%dT%H-%M-%S",
        };
        let name = Dated::next(files.last(), fs::metadata(log)?.modified()?, zone, precision)?;
        files.reverse();
        let mut kept = 0;
        for (n, file) in files.iter().enumerate() {
            // A file that is being compressed exists under two names.
            kept += usize::from(n == 0 || !file.is(&files[n - 1]));
            if kept >= self.keep {
                remove(&file.path(log))?;
            }
        }
        rename(log, &name.path(log))
    }

    fn shift_numbered(&self, log: &Path) -> io::Result<()> {
        let free = (1..=self.keep).find(|&number| !is_there(&numbered(log, number)));
        for number in (1..free.unwrap_or(self.keep)).rev() {
            rename(&numbered(log, number), &numbered(log, number + 1))?;
        }
        rename(log, &numbered(log, 1))
    }
}

/// Returns true if the name exists. A dangling link counts as existing.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Removes a file; a missing file counts as removed.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(io::Error::new(error.kind(), format!("cannot remove {}: {error}", path.display()))),
        Ok(()) => Ok(()),
    }
}

fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot rename {} to {}: {error}", from.display(), to.display()))
    })
}

impl Every {
    /// Returns the hour or day that contains a time. Returns `None` for a time beyond the calendar's range.
    fn period(self, time: SystemTime, zone: &TimeZone) -> Option<Range<SystemTime>> {
        let now = Timestamp::try_from(time).ok()?;
        let (start, end) = match self {
            // In zones whose offset from UTC has half an hour, the hours do not begin at the same time as in UTC.
            Every::Hour => {
                let local = now.as_second() + i64::from(zone.to_offset(now).seconds());
                let start = Timestamp::from_second(now.as_second() - local.rem_euclid(3600)).ok()?;
                (start, start.checked_add(SignedDuration::from_hours(1)).ok()?)
            }
            // A day lasts from midnight to midnight, which is 23 or 25 hours when the clock is changed.
            Every::Day => {
                let start = now.to_zoned_datetime(zone.clone()).start_of_day().ok()?;
                (start.timestamp(), start.tomorrow().ok()?.start_of_day().ok()?.timestamp())
            }
        };
        Some(start.try_into().ok()?..end.try_into().ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> SystemTime {
        text.parse::<Timestamp>().unwrap().try_into().unwrap()
    }

    fn period(every: Every, zone: &str, at: &str) -> (String, String) {
        let zone = TimeZone::posix(zone).unwrap(); // a rule instead of a zone's name needs no database
        let Range { start, end } = every.period(time(at), &zone).unwrap();
        let text = |time| Timestamp::try_from(time).unwrap().to_string();
        (text(start), text(end))
    }

    fn pair(start: &str, end: &str) -> (String, String) {
        (start.to_owned(), end.to_owned())
    }

    const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

    #[test]
    fn a_day_is_that_of_the_time_zone() {
        let day = pair("2026-11-24T23:00:00Z", "2026-11-25T23:00:00Z");
        assert_eq!(period(Every::Day, BERLIN, "2026-11-24T23:00:00Z"), day);
        assert_eq!(period(Every::Day, BERLIN, "2026-11-25T22:59:59.999Z"), day);
    }

    #[test]
    fn a_day_on_which_the_clock_is_changed_is_longer_or_shorter() {
        let long = pair("2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z");
        assert_eq!(period(Every::Day, BERLIN, "2026-10-25T12:00:00Z"), long);
        let short = pair("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
        assert_eq!(period(Every::Day, BERLIN, "2026-03-29T12:00:00Z"), short);
    }

    #[test]
    fn an_hour_begins_when_the_clock_on_the_wall_says_so() {
        let hour = pair("2026-11-25T08:30:00Z", "2026-11-25T09:30:00Z");
        assert_eq!(period(Every::Hour, "IST-5:30", "2026-11-25T08:30:00Z"), hour);
        assert_eq!(period(Every::Hour, "IST-5:30", "2026-11-25T09:29:59Z"), hour);
        let before_1970 = pair("1969-12-31T23:00:00Z", "1970-01-01T00:00:00Z");
        assert_eq!(period(Every::Hour, "UTC0", "1969-12-31T23:59:59Z"), before_1970);
    }
}
