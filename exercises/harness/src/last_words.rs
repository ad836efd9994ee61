//! Prints, as the last line of a test program, which of several failures the learner should read first.
//!
//! Cargo shows the failures in alphabetical order. The failure that says most about the mistake may be
//! anywhere in that order, but the learner reads the end of the output first. The test runner calls none of
//! our code after its last test. So the line is printed when the process ends.
//!
//! This module has unsafe code: it declares a function of the C library. The standard library has no way to
//! call a function when the process ends. The invariant is that the declaration agrees with the C library.
#![expect(unsafe_code, reason = "the end of the process is told by the C library alone")]

use std::ffi::c_int;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};

use exercises_protocol::schedule::Schedule;
use exercises_protocol::{Exercise, Failure, Terminal};

// SAFETY: C11 7.22.4.2 declares `int atexit(void (*func)(void));`. Any thread may call `atexit`.
unsafe extern "C" {
    safe fn atexit(function: extern "C" fn()) -> c_int;
}

/// The properties that have failed in this process.
static FAILED: Mutex<Vec<(String, Failure)>> = Mutex::new(Vec::new());

/// Records that the message about this property's failure has been shown.
pub(crate) fn has_failed(property: &str, failure: &Failure) {
    static FIRST: Once = Once::new();
    let seen = failure.seen.lines().next().unwrap_or_default();
    let mut kept = Failure::new("", seen, "", Schedule::default());
    (kept.found, kept.aside) = (failure.found, failure.aside);
    FAILED.lock().unwrap_or_else(PoisonError::into_inner).push((property.to_owned(), kept));
    FIRST.call_once(|| {
        let _ = atexit(at_the_end); // if the C library has no room, the last line is missing
    });
}

extern "C" fn at_the_end() {
    let failed = std::mem::take(&mut *FAILED.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(text) = begin_with(&failed) {
        let _ = std::io::stdout().write_all(text.as_bytes()); // there is no one left to tell
    }
}

/// Returns the text of the last line, or `None` if fewer than two properties have failed.
fn begin_with(failed: &[(String, Failure)]) -> Option<String> {
    if failed.len() < 2 {
        return None;
    }
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from)?; // Cargo sets it for a test
    let exercise = Exercise::read(folder).ok()?;
    let (property, failure) = failed.iter().min_by_key(|(name, failure)| exercise.place(name, failure))?;
    let terminal = Terminal::of_stdout();
    let text = format!("{property}: {}\nMending it often mends others. Its message alone:", failure.seen);
    let text = terminal.paragraph("begin with", &text);
    // The command stays on one line, because a command that is broken into two lines cannot be copied.
    let command = format!("cargo test -p {} {property}", exercise.name);
    Some(terminal.show(&format!("{text}{:12}{command}\n\n", "")).into_owned())
}
