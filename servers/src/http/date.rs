use std::cell::RefCell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Gives `f` the time now, as HTTP writes it: `Sat, 21 Nov 2026 09:30:00 GMT`.
///
/// Formatting costs more than the rest of a small response's head, so each thread keeps the text of the
/// current second. A cache per thread needs no lock.
pub(crate) fn with_now<R>(f: impl FnOnce(&str) -> R) -> R {
    thread_local! {
        static FORMATTED: RefCell<(u64, String)> = const { RefCell::new((u64::MAX, String::new())) };
    }
    let now = SystemTime::now();
    // A clock set before 1970 reads as 1970; the formatter would panic.
    let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    FORMATTED.with_borrow_mut(|(formatted_second, text)| {
        if *formatted_second != second {
            *text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
            *formatted_second = second;
        }
        f(text)
    })
}
