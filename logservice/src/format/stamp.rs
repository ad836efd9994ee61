//! Formats the time of a record as text.
//!
//! A thread that logs a million times a second computes the calendar only once a second. The thread keeps
//! the text of its last second, and appends the fraction to this text.

use std::cell::Cell;
use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::short::Short;

/// The notation of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `2026-11-25T07:33:07.123456Z`, with the given number of digits after the second.
    Rfc3339 { digits: u8 },
    /// `Nov 25 07:33:07`, as syslog requires it.
    Bsd,
}

/// Writes times of one zone in one style.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    zone: TimeZone,
    utc: bool,
    style: Style,
    /// Identifies this stamp, so that a thread finds the text that it keeps for this stamp.
    number: u32,
}

/// The text of the last second that this thread has formatted.
#[derive(Clone, Copy)]
struct Second {
    of: u32,
    number: i64,
    before_fraction: Short,
    after_fraction: Short,
}

thread_local! {
    // This variable has no destructor, so it can be used until the very end of the thread.
    static LAST: Cell<Second> = const {
        Cell::new(Second { of: 0, number: 0, before_fraction: Short::EMPTY, after_fraction: Short::EMPTY })
    };
}

impl Stamp {
    pub(super) fn utc() -> Self {
        Self { utc: true, ..Self::in_zone(TimeZone::UTC) }
    }

    pub(super) fn local() -> Self {
        Self::in_zone(TimeZone::system())
    }

    pub(super) fn in_zone(zone: TimeZone) -> Self {
        Self { zone, utc: false, style: Style::Rfc3339 { digits: 6 }, number: next_number() }
    }

    pub(super) fn digits(self, digits: u8) -> Self {
        Self { style: Style::Rfc3339 { digits: digits.min(9) }, ..self }
    }

    pub(super) fn bsd(self) -> Self {
        Self { style: Style::Bsd, number: next_number(), ..self }
    }

    /// Passes the text of a time to `each`.
    pub(super) fn write(&self, time: SystemTime, each: impl FnOnce(&str)) {
        let (second, nanos) = since_the_epoch(time);
        let mut last = LAST.get();
        if last.of != self.number || last.number != second {
            last = self.second(second);
            LAST.set(last);
        }
        let mut text = [0; 64];
        let mut length = 0;
        let mut push = |bytes: &[u8]| {
            text[length..length + bytes.len()].copy_from_slice(bytes);
            length += bytes.len();
        };
        push(last.before_fraction.as_bytes());
        if let Style::Rfc3339 { digits: digits @ 1.. } = self.style {
            push(b".");
            push(&fraction(nanos)[..usize::from(digits)]);
        }
        push(last.after_fraction.as_bytes());
        each(str::from_utf8(&text[..length]).unwrap_or_default());
    }

    fn second(&self, second: i64) -> Second {
        let timestamp = Timestamp::from_second(second).unwrap_or(if second < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        });
        let offset = self.zone.to_offset(timestamp);
        let at = offset.to_datetime(timestamp);
        let (mut before, mut after) = (Short::EMPTY, Short::EMPTY);
        // A year has four digits and at most a sign, so the text has enough room.
        let _ = match self.style {
            Style::Rfc3339 { .. } => write!(before, "{:04}-{:02}-{:02}T", at.year(), at.month(), at.day()),
            Style::Bsd => write!(before, "{} {:2} ", month(at.month()), at.day()),
        };
        let _ = write!(before, "{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second());
        if self.style != Style::Bsd {
            let _ = if self.utc { after.write_str("Z") } else { write_offset(&mut after, offset.seconds()) };
        }
        Second { of: self.number, number: second, before_fraction: before, after_fraction: after }
    }
}

fn next_number() -> u32 {
    static NUMBERS: AtomicU32 = AtomicU32::new(1);
    NUMBERS.fetch_add(1, Relaxed)
}

/// Returns the seconds and nanoseconds since the epoch. For a time before the epoch, the seconds are rounded
/// down, so the nanoseconds are never negative.
fn since_the_epoch(time: SystemTime) -> (i64, u32) {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => (i64::try_from(after.as_secs()).unwrap_or(i64::MAX), after.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            let seconds = i64::try_from(before.as_secs()).map_or(i64::MIN, |seconds| -seconds);
            match before.subsec_nanos() {
                0 => (seconds, 0),
                nanos => (seconds.saturating_sub(1), 1_000_000_000 - nanos),
            }
        }
    }
}

/// Returns the fraction of a second as nine digits.
fn fraction(nanos: u32) -> [u8; 9] {
    let mut digits = [b'0'; 9];
    let mut rest = nanos;
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    digits
}

/// Writes an offset from UTC, for example `+02:00`; the offsets of historical zones also have seconds.
fn write_offset(out: &mut Short, seconds: i32) -> std::fmt::Result {
    let size = seconds.unsigned_abs();
    let sign = if seconds < 0 { '-' } else { '+' };
    write!(out, "{sign}{:02}:{:02}", size / 3600, size / 60 % 60)?;
    if !size.is_multiple_of(60) {
        write!(out, ":{:02}", size % 60)?;
    }
    Ok(())
}

fn month(number: i8) -> &'static str {
    const NAMES: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    usize::try_from(number - 1).ok().and_then(|n| NAMES.get(n).copied()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn text(stamp: &Stamp, time: SystemTime) -> String {
        let mut out = String::new();
        stamp.write(time, |text| out.push_str(text));
        out
    }

    fn at(seconds: u64, nanos: u32) -> SystemTime {
        UNIX_EPOCH + Duration::new(seconds, nanos)
    }

    #[test]
    fn the_same_instant_in_zones_and_styles() {
        let time = at(1_795_591_987, 123_456_789);
        assert_eq!(text(&Stamp::utc(), time), "2026-11-25T07:33:07.123456Z");
        assert_eq!(text(&Stamp::utc().digits(0), time), "2026-11-25T07:33:07Z");
        assert_eq!(text(&Stamp::utc().digits(99), time), "2026-11-25T07:33:07.123456789Z");
        assert_eq!(text(&Stamp::utc().bsd(), time), "Nov 25 07:33:07");
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        assert_eq!(text(&Stamp::in_zone(berlin).digits(3), time), "2026-11-25T08:33:07.123+01:00");
        let fixed = TimeZone::fixed(jiff::tz::Offset::from_seconds(-12_600).unwrap());
        assert_eq!(text(&Stamp::in_zone(fixed), time), "2026-11-25T04:03:07.123456-03:30");
    }

    #[test]
    fn the_offset_changes_with_the_season_and_the_second_with_the_time() {
        let stamp = Stamp::in_zone(TimeZone::get("Europe/Berlin").unwrap()).digits(1);
        let summer = at(1_792_889_999, 999_999_999);
        assert_eq!(text(&stamp, summer), "2026-10-25T02:59:59.9+02:00");
        assert_eq!(text(&stamp, summer + Duration::from_nanos(1)), "2026-10-25T02:00:00.0+01:00");
    }

    #[test]
    fn two_formats_on_a_thread_do_not_mix() {
        let (utc, bsd) = (Stamp::utc(), Stamp::utc().bsd());
        for second in [0, 0, 1] {
            assert_eq!(text(&utc, at(second, 5_000)), format!("1970-01-01T00:00:0{second}.000005Z"));
            assert_eq!(text(&bsd, at(second, 5_000)), format!("Jan  1 00:00:0{second}"));
        }
    }

    #[test]
    fn times_before_the_epoch_and_beyond_the_calendar() {
        let utc = Stamp::utc();
        assert_eq!(text(&utc, UNIX_EPOCH - Duration::from_millis(1)), "1969-12-31T23:59:59.999000Z");
        assert_eq!(text(&utc, UNIX_EPOCH - Duration::from_secs(1)), "1969-12-31T23:59:59.000000Z");
        let late = UNIX_EPOCH + Duration::from_secs(1 << 60);
        assert!(text(&utc, late).starts_with("9999-12-30T"), "{}", text(&utc, late));
        let early = UNIX_EPOCH - Duration::from_secs(1 << 60);
        assert!(text(&utc, early).starts_with("-9999-01-02T"), "{}", text(&utc, early));
    }
}
