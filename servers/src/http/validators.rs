use super::Request;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What tells one state of a file from another: a tag, and the time of the last change.
#[derive(Debug, Clone)]
pub struct Validators {
    /// The value of the `ETag` field, with its quotes.
    pub etag: String,
    /// The value of the `Last-Modified` field, if HTTP can express the time.
    pub last_modified: Option<String>,
    modified_second: Option<SystemTime>,
}

impl Validators {
    /// Derives both from what the file system knows.
    pub fn new(modified: SystemTime, length: u64) -> Validators {
        let since_epoch = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        // HTTP dates go from 1970 to 9999 and have whole seconds; files need not keep to that.
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

    /// Whether the request is conditional and the client's copy is still good: the answer is then 304.
    ///
    /// `If-None-Match` counts where both fields are sent: a date cannot tell two changes in one second apart.
    pub fn client_is_current(&self, request: &Request<'_>) -> bool {
        let mut tags = request.headers("If-None-Match").flat_map(|value| value.split(',')).peekable();
        if tags.peek().is_some() {
            return tags.map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == self.etag);
        }
        let since = request.header("If-Modified-Since").and_then(|date| httpdate::parse_http_date(date).ok());
        matches!((self.modified_second, since), (Some(modified), Some(since)) if modified <= since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn is_current(validators: &Validators, fields: &str) -> bool {
        let head = format!("GET / HTTP/1.1\r\nHost: h\r\n{fields}\r\n");
        let (request, _) = Request::parse(head.as_bytes(), &Limits::default()).unwrap().unwrap();
        validators.client_is_current(&request)
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
    fn times_that_http_cannot_express_are_left_out() {
        let before = UNIX_EPOCH - Duration::from_secs(1);
        let after = UNIX_EPOCH + Duration::from_hours(24 * 366 * 9_000);
        for time in [before, UNIX_EPOCH, after] {
            assert_eq!(Validators::new(time, 1).last_modified, None);
        }
    }
}
