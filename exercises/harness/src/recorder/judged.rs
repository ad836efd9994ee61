//! Exercises whose answer is a test: the property runs the test on another program, and checks whether the
//! test fails.
//!
//! A test can fail in two ways: the test panics on the thread that runs it, or the test never returns. A
//! panic on another thread is noticed only by the thread that joins the panicked thread, as under `cargo
//! test`. A failure of the test ends the process (see [`verdict`](crate::verdict)); if the program is wrong,
//! the report says that the property holds.

use std::panic::Location;

use exercises_protocol::Failure;
use exercises_protocol::schedule::{Action, Schedule};

use super::property::expect;
use crate::diagnosis;
use crate::record::{Judged, current, here};

/// Runs a test on a correct program; the test must return. `what` is a text that names the test and the
/// program; `cause` is the likely cause if the test fails.
pub fn accepts(what: &str, cause: &str, test: impl FnOnce()) {
    judge(Some(Judged { runs: true, ..Judged::default() }));
    expect(what, cause, test);
    judge(None);
}

/// Runs a test on a wrong program, under the model; the test must fail on some schedule. If the test returns
/// on all schedules, the property fails, with `seen` and `cause` as its message.
pub fn rejects(seen: &str, cause: &str, test: impl FnOnce()) {
    let never_fails = Some((seen.to_owned(), cause.to_owned()));
    judge(Some(Judged { never_fails, runs: true, ..Judged::default() }));
    test();
    judge(None);
}

/// Records that a test begins; with `None`, records that the test has returned.
fn judge(begins: Option<Judged>) {
    let mut record = current();
    match begins {
        Some(test) => record.judged = Some(test),
        None => record.judged.iter_mut().for_each(|test| test.runs = false),
    }
}

/// Returns true if a test that must fail has not failed by the end of a run.
pub(crate) fn has_still_to_fail() -> bool {
    current().judged.as_ref().is_some_and(|test| test.never_fails.is_some())
}

/// Returns the failure of a test that must fail on some schedule, and has returned on all schedules.
pub(crate) fn never_failed() -> Option<Failure> {
    let record = current();
    let (seen, cause) = record.judged.as_ref()?.never_fails.as_ref()?;
    Some(Failure::new(&record.promise, seen, cause, Schedule::default()))
}

/// Returns true if the panic is on a thread other than the test's thread; only a thread that joins the
/// panicked thread sees the panic.
pub(crate) fn is_for_the_joiner(message: &str, at: Option<&Location<'_>>) -> bool {
    here(|record, me| {
        let thread = record.threads[me].name.clone();
        let goes_on = me > 0 && !diagnosis::is_still_to_do(message);
        let Some(test) = record.judged.as_mut().filter(|_| goes_on) else { return false };
        let line = at.map_or_else(String::new, |at| format!(", at line {}", at.line()));
        test.panicked_aside.get_or_insert_with(|| format!("{thread} panicked{line}: {message}"));
        record.add(me, Action::Step(format!("panics: {message}")), None);
        true
    })
    .unwrap_or(false)
}
