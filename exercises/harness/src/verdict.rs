//! Ends a property that does not hold, and reports its failure.

use std::panic::Location;
use std::time::Duration;

use exercises_protocol::Failure;
use exercises_protocol::schedule::{self, Action, Schedule};

use crate::diagnosis;
use crate::record::{Record, Thread, current, here};
use crate::report::report_and_exit;

/// The largest number of events in a report.
const MOST_REPORTED: usize = 1_000;

/// Ends a property that does not hold. `seen` is the observation, and `cause` is its likely cause.
pub fn fail(seen: &str, cause: &str) -> ! {
    let failure = here(|record, me| {
        record.add(me, Action::Fail(seen.to_owned()), None);
        record.failure(seen, cause, None)
    });
    report(failure)
}

impl Record {
    /// Describes the failure of this run. `decisive` is the event that decided the failure, if it is known.
    fn failure(&self, seen: &str, cause: &str, decisive: Option<usize>) -> Failure {
        let mut failure = Failure::new(&self.promise, seen, cause, self.schedule(decisive));
        failure.found = self.run - self.begun;
        failure.aside = self.aside;
        failure
    }

    /// Returns true if the test must fail for the property to hold.
    fn wants_a_failure(&self) -> bool {
        self.judged.as_ref().is_some_and(|test| test.runs && test.never_fails.is_some())
    }

    fn schedule(&self, decisive: Option<usize>) -> Schedule {
        let thread = |thread: &Thread| schedule::Thread {
            name: thread.name.clone(),
            end: diagnosis::state(self, thread),
        };
        let threads = self.threads.iter().map(thread).collect();
        let mut schedule = Schedule { threads, events: self.events.clone(), decisive, code: Vec::new() };
        schedule.shorten(MOST_REPORTED);
        schedule.quote(&self.source);
        schedule
    }
}

/// Ends the property, because the answer has failed. If the answer is a test and runs on a wrong program, the
/// property holds.
fn ended_by(failure: Option<Failure>) -> ! {
    match failure {
        Some(failure) if current().wants_a_failure() => report_and_exit(&Ok(failure.found)),
        failure => report(failure),
    }
}

fn report(failure: Option<Failure>) -> ! {
    match failure {
        Some(failure) => report_and_exit(&Err(Box::new(failure))),
        // A thread of an earlier run has failed. That earlier run has passed, so the failure of its thread
        // does not count.
        None => loop {
            std::thread::park();
        },
    }
}

/// Ends a property that will not end without help; `verdict` says how this is known.
fn fail_hung(verdict: &str) -> ! {
    ended_by(Some(hang(verdict, false)))
}

/// Ends a property in which no thread can go on.
pub(crate) fn fail_deadlocked() -> ! {
    fail_hung("nobody can go on")
}

/// Ends a property with a run that does not end: the run has more steps than any run that ends.
pub(crate) fn fail_endless() -> ! {
    fail_hung(diagnosis::RUNS_ON)
}

/// If `busy` is true, some thread has kept a processor busy all the time.
fn hang(verdict: &str, busy: bool) -> Failure {
    let record = current();
    let found = diagnosis::of_hang(&record, verdict, busy);
    record.failure(&found.seen, &found.cause, found.decisive)
}

/// Ends the property because its time is up: the property hangs on real threads, or the model has not noticed
/// the hang.
pub(crate) fn fail_out_of_time(deadline: Duration, busy: bool) -> ! {
    let mut failure = hang(&format!("it is not done after {} s", deadline.as_secs()), busy);
    failure.hung = true;
    ended_by(Some(failure))
}

/// Ends the property because a thread has panicked unintentionally.
pub(crate) fn fail_panicked(message: &str, at: Option<&Location<'_>>) -> ! {
    let failure = here(|record, me| {
        let found = diagnosis::of_panic(record, me, message, at);
        record.add(me, Action::Fail(format!("panics: {message}")), None);
        record.failure(&found.seen, &found.cause, found.decisive)
    });
    if diagnosis::is_still_to_do(message) {
        report(failure)
    }
    ended_by(failure)
}

/// Records a panic, and lets the panic continue.
pub(crate) fn panics(message: &str) {
    here(|record, me| record.add(me, Action::Fail(format!("panics: {message}")), None));
}

/// Ends the property because an intended panic of a job has passed through the learner's code into the
/// property.
pub(crate) fn fail_escaped() -> ! {
    let failure = here(|record, me| {
        let found = diagnosis::of_escape(record, me);
        record.add(me, Action::Fail(found.seen.clone()), None);
        record.failure(&found.seen, &found.cause, found.decisive)
    });
    ended_by(failure)
}
