//! Validators, which identify the state of a file, and the conditions of a request (`If-Match` and the like).

use super::Request;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The validators of a file: a tag, and the time of the last change.
#[derive(Debug, Clone)]
pub struct Validators {
    /// The value of the `ETag` field, with its quotes.
    pub etag: String,
    /// The value of the `Last-Modified` field, if HTTP can express the time.
    pub last_modified: Option<String>,
    modified_second: Option<SystemTime>,
}

impl Validators {
    /// Derives both validators from the file's metadata.
    pub fn new(modified: SystemTime, length: u64) -> Validators {
        let since_epoch = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        // HTTP dates are whole seconds from the years 1970 to 9999; the time of a file may lie outside this
        // range.
        let modified_second = match since_epoch.as_secs() {
            0 | 253_402_300_800.. => None,
            seconds => Some(UNIX_EPOCH + Duration::from_secs(seconds)),
        };
        Validators {
            etag: format!("\"{:x}-{length:x}\"", since_epoch.as_nanos()),
            last_modified: modified_second.map(httpdate::fmt_http_date),
            modified_second,
        }
    }

    /// Evaluates the conditions of a GET or HEAD request, in the order of RFC 9110, 13.2.2.
    ///
    /// If the client sends both a tag and a date, only the tag counts, because two changes within one
    /// second have the same date. A date that cannot be parsed is ignored. If HTTP cannot express the
    /// date of the file, every date is ignored.
    pub fn precondition(&self, request: &Request<'_>) -> Precondition {
        let sent = |name| request.header_count(name) > 0;
        let is_as_expected = if sent("If-Match") {
            self.is_among(request, "If-Match", |tag| tag)
        } else {
            self.is_unmodified_since(request, "If-Unmodified-Since").unwrap_or(true)
        };
        if !is_as_expected {
            return Precondition::Failed;
        }
        let is_known = if sent("If-None-Match") {
            self.is_among(request, "If-None-Match", |tag| tag.trim_start_matches("W/"))
        } else {
            self.is_unmodified_since(request, "If-Modified-Since").unwrap_or(false)
        };
        if is_known { Precondition::NotModified } else { Precondition::Holds }
    }

    /// Returns whether the field is `*` or lists the tag of this file. The closure `compared` returns the
    /// part of a tag that must be equal to the file's tag.
    fn is_among(&self, request: &Request<'_>, field: &str, compared: fn(&str) -> &str) -> bool {
        let tags = request.headers(field).flat_map(|value| value.split(',')).map(str::trim);
        tags.into_iter().any(|tag| tag == "*" || compared(tag) == self.etag)
    }

    fn is_unmodified_since(&self, request: &Request<'_>, field: &str) -> Option<bool> {
        let date = httpdate::parse_http_date(request.header(field)?).ok()?;
        Some(self.modified_second? <= date)
    }
}

/// The result of evaluating a request's conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition {
    /// All conditions hold, or the request has no conditions.
    Holds,
    /// The client's copy is current: the answer has status 304.
    NotModified,
    /// The file is not in the state that the client expects: the answer has status 412.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Conversation;

    fn judged(validators: &Validators, fields: &str) -> Precondition {
        let head = format!("GET / HTTP/1.1\r\nHost: h\r\n{fields}\r\n");
        let conversation = Conversation::of(head.as_bytes());
        validators.precondition(&conversation.request())
    }

    fn is_current(validators: &Validators, fields: &str) -> bool {
        judged(validators, fields) == Precondition::NotModified
    }

    #[test]
    fn a_tag_counts_more_than_a_date() {
        let file = Validators::new(UNIX_EPOCH + Duration::from_millis(1_000_000_500), 7);
        let tag = &file.etag;
        let date = file.last_modified.clone().unwrap();
        let earlier = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(999_999));
        assert!(!is_current(&file, ""));
        assert!(is_current(&file, &format!("If-None-Match: {tag}\r\n")));
        assert!(is_current(&file, &format!("If-None-Match: \"other\", W/{tag}\r\n")));
        assert!(is_current(&file, &format!("If-None-Match: \"other\"\r\nIf-None-Match: {tag}\r\n")));
        assert!(is_current(&file, "If-None-Match: *\r\n"));
        assert!(is_current(&file, &format!("If-Modified-Since: {date}\r\n")));
        assert!(!is_current(&file, &format!("If-Modified-Since: {earlier}\r\n")));
        assert!(!is_current(&file, &format!("If-None-Match: \"other\"\r\nIf-Modified-Since: {date}\r\n")));
        assert!(!is_current(&file, "If-Modified-Since: yesterday\r\n"));
    }

    #[test]
    fn the_client_may_ask_for_one_state_only() {
        let file = Validators::new(UNIX_EPOCH + Duration::from_millis(1_000_000_500), 7);
        let (tag, date) = (&file.etag, file.last_modified.as_ref().unwrap());
        let earlier = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(999_999));
        for holds in [
            format!("If-Match: {tag}\r\n"),
            "If-Match: *\r\n".to_owned(),
            format!("If-Match: \"other\", {tag}\r\n"),
            format!("If-Match: \"other\"\r\nIf-Match: {tag}\r\n"),
            format!("If-Unmodified-Since: {date}\r\n"),
            "If-Unmodified-Since: yesterday\r\n".to_owned(),
            // The tag counts, and the date is ignored.
            format!("If-Match: {tag}\r\nIf-Unmodified-Since: {earlier}\r\n"),
            format!("If-Match: {tag}\r\nIf-None-Match: \"other\"\r\n"),
        ] {
            assert_eq!(judged(&file, &holds), Precondition::Holds, "{holds}");
        }
        for failed in [
            "If-Match: \"other\"\r\n".to_owned(),
            "If-Match:\r\n".to_owned(),
            format!("If-Match: W/{tag}\r\n"),
            format!("If-Unmodified-Since: {earlier}\r\n"),
            format!("If-Match: \"other\"\r\nIf-Unmodified-Since: {date}\r\n"),
            // This condition is checked before the condition that asks whether the client's copy is current.
            format!("If-Match: \"other\"\r\nIf-None-Match: {tag}\r\n"),
            format!("If-Unmodified-Since: {earlier}\r\nIf-Modified-Since: {date}\r\n"),
        ] {
            assert_eq!(judged(&file, &failed), Precondition::Failed, "{failed}");
        }
        assert!(is_current(&file, &format!("If-Match: {tag}\r\nIf-None-Match: {tag}\r\n")));
        let undated = Validators::new(UNIX_EPOCH, 7);
        assert_eq!(judged(&undated, &format!("If-Unmodified-Since: {earlier}\r\n")), Precondition::Holds);
    }

    #[test]
    fn times_that_http_cannot_express_are_left_out() {
        let before = UNIX_EPOCH - Duration::from_secs(1);
        let after = UNIX_EPOCH + Duration::from_hours(24 * 366 * 9_000);
        for time in [before, UNIX_EPOCH, after] {
            assert_eq!(Validators::new(time, 1).last_modified, None);
        }
    }
}
