//! The names of rotated files: a name has either a number, which increases at each rotation, or a date, which
//! does not change.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

/// Returns the name with a number: `app.log.3`.
pub(crate) fn numbered(log: &Path, number: usize) -> PathBuf {
    with_end(log, &number.to_string())
}

fn with_end(log: &Path, end: &str) -> PathBuf {
    let mut path = log.as_os_str().to_owned();
    path.push(".");
    path.push(end);
    path.into()
}

/// The end of a rotated file's name, for example `2026-11-25`, `2026-11-25T07` or `2026-11-25T07-33-07`.
/// If the previous file has the same date, the end also contains a number, from 2 on; if the file is
/// compressed, the end also contains `gz`. The values are sorted in the order of the rotations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dated {
    date: String,
    number: u32,
    pub(crate) is_compressed: bool,
}

impl Dated {
    /// Parses the end of a rotated file's name. Returns `None` if the text has another form.
    fn parse(end: &str) -> Option<Self> {
        let (end, is_compressed) = end.strip_suffix(".gz").map_or((end, false), |end| (end, true));
        let (date, number) = match end.split_once('.') {
            Some((date, number)) => (date, number.parse().ok().filter(|&number| number > 1)?),
            None => (end, 1),
        };
        is_date(date).then(|| Self { date: date.to_owned(), number, is_compressed })
    }

    /// Returns the new name for the log that is being rotated; the date is the time of the log's last line.
    /// The date of a rotated file is never earlier than the date of the previously rotated file, even if the
    /// clock was set back.
    pub(super) fn next(
        last: Option<&Self>,
        time: SystemTime,
        zone: &TimeZone,
        precision: &str,
    ) -> io::Result<Self> {
        let time = Timestamp::try_from(time).map_err(io::Error::other)?;
        let date =
            strtime::format(precision, &time.to_zoned_datetime(zone.clone())).map_err(io::Error::other)?;
        let last = last.filter(|last| last.date >= date);
        let (date, number) = last.map_or((date, 1), |last| (last.date.clone(), last.number + 1));
        Ok(Self { date, number, is_compressed: false })
    }

    pub(crate) fn path(&self, log: &Path) -> PathBuf {
        let number = if self.number > 1 { format!(".{}", self.number) } else { String::new() };
        with_end(log, &format!("{}{number}{}", self.date, if self.is_compressed { ".gz" } else { "" }))
    }

    /// Returns true if both values name the same file; one of the two may be its compressed form.
    pub(crate) fn is(&self, other: &Self) -> bool {
        (&self.date, self.number) == (&other.date, other.number)
    }
}

fn is_date(text: &str) -> bool {
    let fits =
        |(byte, pattern): (u8, u8)| if pattern == b'0' { byte.is_ascii_digit() } else { byte == pattern };
    matches!(text.len(), 10 | 13 | 19) && text.bytes().zip(*b"0000-00-00T00-00-00").all(fits)
}

/// Returns the rotated files of a log that have dates, the oldest file first.
pub(crate) fn dated(log: &Path) -> io::Result<Vec<Dated>> {
    let mut found = beside(log, Dated::parse)?;
    found.sort_unstable();
    Ok(found)
}

/// Finds the names in the log's folder that begin with the log's name and a dot, and returns the results of
/// `read` for the ends of these names.
pub(crate) fn beside<T>(log: &Path, read: impl Fn(&str) -> Option<T>) -> io::Result<Vec<T>> {
    let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let end =
            log.file_name().and_then(|log| name.to_str()?.strip_prefix(log.to_str()?)?.strip_prefix('.'));
        found.extend(end.and_then(&read));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_rotated_files_are_taken_for_such() {
        let log = Path::new("/var/log/app.log");
        let all =
            ["2026-11-25", "2026-11-25.2", "2026-11-25.10.gz", "2026-11-25T07", "2026-11-25T07-33-07.gz"];
        let parsed = all.map(|end| Dated::parse(end).unwrap());
        assert!(parsed.is_sorted());
        assert_eq!(parsed.map(|dated| dated.path(log)), all.map(|end| with_end(log, end)));
        for no in [
            "1",
            "gz",
            "2026-11-25.1",
            "2026-11-2",
            "2026-11-25 ",
            "2026-11-25.gz.part",
            "2026-11-25T7",
            "lock",
            "",
        ] {
            assert_eq!(Dated::parse(no), None, "{no}");
        }
    }

    #[test]
    fn a_date_is_never_before_that_of_the_file_before() {
        let next = |last: Option<&str>, time: &str| {
            let time: SystemTime = time.parse::<Timestamp>().unwrap().try_into().unwrap();
            let last = last.map(|last| Dated::parse(last).unwrap());
            let zone = TimeZone::posix("CET-1").unwrap();
            let next = Dated::next(last.as_ref(), time, &zone, "%Y-%m-%d").unwrap();
            next.path(Path::new("a")).to_str().unwrap().to_owned()
        };
        assert_eq!(next(None, "2026-11-24T23:00:00Z"), "a.2026-11-25");
        assert_eq!(next(Some("2026-11-24.7.gz"), "2026-11-25T07:00:00Z"), "a.2026-11-25");
        assert_eq!(next(Some("2026-11-25.gz"), "2026-11-25T07:00:00Z"), "a.2026-11-25.2");
        assert_eq!(next(Some("2026-11-25.9"), "2026-11-24T07:00:00Z"), "a.2026-11-25.10");
    }
}
