//! The `Range` field, which asks for a part of a file. A server may ignore the field (RFC 9110, 14.2).

use super::{Request, Validators};

/// The part of a file that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    Range {
        start: u64,
        length: u64,
    },
    /// The request asks for no byte that the file has.
    Missing,
}

impl Part {
    /// Returns the part of a file of `length` bytes that the `Range` field asks for.
    ///
    /// The field is only a wish; a server may send the whole file at any time. This server sends the whole
    /// file if the field is malformed or has several ranges. The server also sends the whole file if an
    /// `If-Range` field shows that the client's part belongs to another state of the file.
    pub(crate) fn requested_by(request: &Request<'_>, length: u64, validators: &Validators) -> Part {
        let mut ranges = request.headers("Range");
        let (Some(range), None, "GET") = (ranges.next(), ranges.next(), request.method) else {
            return Part::Whole;
        };
        // Two changes within one second have the same date, so only the tag counts.
        if request.header_count("If-Range") > 0 && request.header("If-Range") != Some(&validators.etag) {
            return Part::Whole;
        }
        parse(range, length).unwrap_or(Part::Whole)
    }
}

fn parse(range: &str, length: u64) -> Option<Part> {
    let (unit, range) = range.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (start, end) = match (first, last) {
        ("", count) => (length.saturating_sub(number(count)?), length),
        (first, "") => (number(first)?, length),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return None;
            }
            (first, last.saturating_add(1).min(length))
        }
    };
    Some(if start < length { Part::Range { start, length: end - start } } else { Part::Missing })
}

/// Parses a number. A number that is too large for any file becomes the largest number.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Conversation;
    use std::time::SystemTime;

    fn of_ten(method: &str, fields: &str) -> Part {
        let head = format!("{method} / HTTP/1.1\r\nHost: h\r\n{fields}\r\n");
        let conversation = Conversation::of(head.as_bytes());
        Part::requested_by(&conversation.request(), 10, &Validators::new(SystemTime::UNIX_EPOCH, 10))
    }

    fn range(range: &str) -> Part {
        of_ten("GET", &format!("Range: {range}\r\n"))
    }

    #[test]
    fn a_range_is_a_part() {
        let part = |start, length| Part::Range { start, length };
        assert_eq!(range("bytes=0-0"), part(0, 1));
        assert_eq!(range("Bytes=2-4"), part(2, 3));
        assert_eq!(range("bytes=2-"), part(2, 8));
        assert_eq!(range("bytes=-3"), part(7, 3));
        assert_eq!(range("bytes=-30"), part(0, 10));
        assert_eq!(range("bytes=9-99999999999999999999999"), part(9, 1));
        assert_eq!(range("bytes=0-18446744073709551615"), part(0, 10));
    }

    #[test]
    fn behind_the_end_there_is_nothing() {
        for missing in ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999999-"] {
            assert_eq!(range(missing), Part::Missing, "{missing}");
        }
    }

    #[test]
    fn a_range_that_is_none_is_ignored() {
        let ignored = "bytes bytes= bytes=- bytes=a-b bytes=4-2 bytes=+1-2 bytes=1-2,4-5 lines=1-2";
        for ignored in ignored.split(' ').chain(["", "bytes=1 - 2"]) {
            assert_eq!(range(ignored), Part::Whole, "{ignored}");
        }
        assert_eq!(of_ten("HEAD", "Range: bytes=0-0\r\n"), Part::Whole);
        assert_eq!(of_ten("GET", "Range: bytes=0-0\r\nRange: bytes=1-1\r\n"), Part::Whole);
    }

    #[test]
    fn a_part_of_another_state_is_not_sent() {
        let tag = Validators::new(SystemTime::UNIX_EPOCH, 10).etag;
        let with = |condition: &str| of_ten("GET", &format!("Range: bytes=0-0\r\nIf-Range: {condition}\r\n"));
        assert_eq!(with(&tag), Part::Range { start: 0, length: 1 });
        for other in ["\"other\"", &format!("W/{tag}"), "Thu, 01 Jan 1970 00:00:00 GMT", ""] {
            assert_eq!(with(other), Part::Whole, "{other}");
        }
    }
}
