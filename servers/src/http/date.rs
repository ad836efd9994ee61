//! Formats the time as HTTP does.
//!
//! Formatting the time costs more than the rest of a small response's head. So each thread keeps the text of
//! the current second. Every thread has its own copy, so no lock is needed.

use std::cell::RefCell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The text of one second.
struct Formatted {
    second: u64,
    text: String,
    /// True if the text stays valid until the thread releases it.
    is_held: bool,
}

thread_local! {
    static FORMATTED: RefCell<Formatted> =
        const { RefCell::new(Formatted { second: u64::MAX, text: String::new(), is_held: false }) };
}

/// Calls `f` with the current time in the format of HTTP, such as `Sat, 21 Nov 2026 09:30:00 GMT`.
pub(crate) fn with_now<R>(f: impl FnOnce(&str) -> R) -> R {
    FORMATTED.with_borrow_mut(|formatted| {
        if !formatted.is_held {
            formatted.look_at_the_clock();
        }
        f(&formatted.text)
    })
}

/// Fixes the time of this thread until the thread releases it: an event loop reads the clock once for many
/// answers.
pub(crate) fn hold() {
    FORMATTED.with_borrow_mut(|formatted| {
        formatted.look_at_the_clock();
        formatted.is_held = true;
    });
}

/// Releases the time of this thread; from now on the thread's time changes again.
pub(crate) fn release() {
    FORMATTED.with_borrow_mut(|formatted| formatted.is_held = false);
}

impl Formatted {
    fn look_at_the_clock(&mut self) {
        // A time before 1970 is replaced by 1970, because the formatter would panic for such a time.
        let second = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if self.second != second {
            self.text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
            self.second = second;
        }
    }
}
