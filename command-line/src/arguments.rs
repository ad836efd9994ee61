//! Parses times and numbers as a user writes them. Each function parses the value of a flag; its error
//! says what was expected.

use jiff::{Span, SpanRelativeTo};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Parses a time of any length, such as `500ms`, `1.5s`, `1h 30m` or `7d`. A day counts as 24 hours.
/// Returns `None` if the text is not a time.
pub fn time(text: &str) -> Option<Duration> {
    let time = text.parse::<Span>().ok()?.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    time.try_into().ok() // an error if the time is negative
}

/// Parses a [time](time()) from 1 ms to 24 hours. No program needs a longer time, and no deadline
/// overflows with a time in this range.
///
/// # Errors
/// Returns an error if the text is anything else; the error says what was expected.
pub fn duration(text: &str) -> Result<Duration, String> {
    let sensible = Duration::from_millis(1)..=Duration::from_hours(24);
    time(text)
        .filter(|time| sensible.contains(time))
        .ok_or_else(|| "expected a time from 1ms to 24 hours, such as 500ms, 10s or 2m".to_owned())
}

/// Parses a whole number, such as a number of bytes, from `LEAST` to `MOST`.
///
/// # Errors
/// Returns an error if the text is anything else; the error says what was expected.
pub fn count<const LEAST: usize, const MOST: usize>(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (LEAST..=MOST).contains(&number) => Ok(number),
        _ => Err(format!("expected a whole number from {LEAST} to {MOST}")),
    }
}

/// Parses a number of threads, from 1 to `MOST`.
///
/// # Errors
/// Returns an error if the text is anything else; the error says what was expected.
pub fn threads<const MOST: usize>(text: &str) -> Result<NonZeroUsize, String> {
    count::<1, MOST>(text).map(|count| NonZeroUsize::new(count).expect("at least one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, milliseconds) in [
            ("1ms", 1),
            ("500ms", 500),
            ("10s", 10_000),
            ("010s", 10_000),
            ("+10s", 10_000),
            ("1.5s", 1_500),
            ("2m", 120_000),
            ("1h 30m", 5_400_000),
            ("1d", 86_400_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        let wrong = [
            "",
            "10",
            "s",
            "0s",
            "-1s",
            "999us",
            "25h",
            "2d",
            "99999999999999999999s",
            "9999999m",
            "1 month",
        ];
        for wrong in wrong {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_of_any_length_may_be_none_or_long() {
        assert_eq!(time("0s"), Some(Duration::ZERO));
        assert_eq!(time("100us"), Some(Duration::from_micros(100)));
        assert_eq!(time("1000000d"), Some(Duration::from_hours(24_000_000)));
        for wrong in ["0", "-1s", "1s ago", "7", "1 year"] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_number_out_of_its_range_is_refused() {
        assert_eq!([count::<2, 4>("2"), count::<2, 4>("4")], [Ok(2), Ok(4)]);
        for wrong in ["1", "5", "-2", "2.0", "", "two"] {
            let expected = "expected a whole number from 2 to 4".to_owned();
            assert_eq!(count::<2, 4>(wrong), Err(expected), "{wrong}");
        }
        assert_eq!(threads::<4>("4"), Ok(NonZeroUsize::new(4).unwrap()));
        assert!(threads::<4>("0").is_err());
    }
}
