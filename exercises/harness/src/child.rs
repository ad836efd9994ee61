//! The process in which a property runs: whatever goes wrong in it ends in a report.

use std::panic;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use exercises_protocol::schedule::Schedule;
use exercises_protocol::{Failure, Source, WHY};

use crate::{recorder, report, verdict, watch};

/// Runs the property once. The hook has reported every panic but those on purpose, and these must not come
/// out here.
pub(crate) fn run_once(property: fn()) {
    if panic::catch_unwind(property).is_err() {
        verdict::fail_escaped();
    }
}

/// Ends the property if the text of a panic is what a model says of a run: "deadlock". Other texts are left
/// alone.
type Recognises = fn(&str);

/// The function of the model that runs the property. On real threads there is none.
static RECOGNISES: Mutex<Recognises> = Mutex::new(|_| ());

/// Prepares this process to run one property of the file whose text is `source`: whatever goes wrong from
/// here on ends in a report. A file that must not be run is reported at once.
pub(crate) fn begin(source: &str, deadline: Duration, recognises: Recognises) {
    static HOOK: Once = Once::new();
    report::begin();
    if let Some(refusal) = refusal(source) {
        report::report_and_exit(&Err(Box::new(refusal)));
    }
    *RECOGNISES.lock().unwrap_or_else(PoisonError::into_inner) = recognises;
    HOOK.call_once(install_hook); // once: loom's coroutines put theirs in front of it, which keeps their own panics from it
    watch::begin(deadline, verdict::fail_out_of_time);
}

/// Refuses a file that names what an answer must not. A learner's file of that kind does not even compile (a
/// macro sees to that); the proof compiles answers without it.
fn refusal(source: &str) -> Option<Failure> {
    /// The last text that was not refused. The proof runs one property of an answer after the other.
    static LAST: Mutex<String> = Mutex::new(String::new());
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if *last == source {
        return None;
    }
    let refused = Source::of(source).refused();
    if refused.is_empty() {
        source.clone_into(&mut last);
        return None;
    }
    let seen: Vec<String> = refused.iter().map(ToString::to_string).collect();
    let promise = "The answer takes its locks and threads from crate::sync.";
    Some(Failure::new(promise, &seen.join("\n"), WHY, Schedule::default()))
}

/// Installs the hook by which a panic ends the property where it happens.
pub(crate) fn install_hook() {
    panic::set_hook(Box::new(|info| {
        let message = info.payload_as_str().unwrap_or("(a panic whose payload is not text)");
        let recognises = *RECOGNISES.lock().unwrap_or_else(PoisonError::into_inner);
        recognises(message);
        if !recorder::is_for_the_joiner(message, info.location()) {
            verdict::fail_panicked(message, info.location());
        }
    }));
}
