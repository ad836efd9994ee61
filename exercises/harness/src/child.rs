//! The process in which a property runs. A failure ends this process with a report.

use std::panic;
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use exercises_protocol::schedule::Schedule;
use exercises_protocol::{Failure, Source, WHY};

use crate::{recorder, report, verdict, watch};

/// Runs the property once. The panic hook reports every panic that is not intended. An intended panic must
/// not escape from the property.
pub(crate) fn run_once(property: fn()) {
    if panic::catch_unwind(property).is_err() {
        verdict::fail_escaped();
    }
}

/// A function that gets the text of a panic, and ends the property if a model reports a failed run with this
/// text (for example "deadlock"). A panic with any other text is ignored here.
type Recognises = fn(&str);

/// The function that recognises the panics of the model. If the property runs on real threads, the function
/// does nothing.
static RECOGNISES: Mutex<Recognises> = Mutex::new(|_| ());

/// Prepares this process to run one property of the file whose text is `source`: from here on, every failure
/// ends the process with a report. A file that must not be run is reported before any of its code runs.
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

/// Returns a failure if a file uses a forbidden name. A learner's file with a forbidden name does not even
/// compile, because a macro rejects the file. But the proof compiles answers without that macro.
fn refusal(source: &str) -> Option<Failure> {
    /// The last text that was accepted. The text is remembered because the proof runs the properties of one
    /// answer one after the other.
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

/// Installs a panic hook that ends the property at the place of the panic.
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
