//! Collects the complaints of mdBook during a build.
//!
//! If mdBook cannot make a page properly, mdBook logs an event but still reports success. This module keeps
//! the events of level warning and error, so that the build can fail with them.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Runs `work` on this thread, and returns the result of `work` together with every warning and error that
/// `work` has logged.
pub(crate) fn during<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let result = tracing::subscriber::with_default(Listener { heard: Arc::clone(&heard) }, work);
    let complaints = std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
    (result, complaints)
}

struct Listener {
    heard: Arc<Mutex<Vec<String>>>,
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(message.0);
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1) // one id for all spans: they are not used
    }
    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // The result is ignored, because writing to a string never fails.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_and_errors_are_kept_and_the_rest_is_not() {
        let (result, complaints) = during(|| {
            tracing::info!("all is well");
            tracing::warn!("this is odd");
            tracing::error!("this is {}", "wrong");
            7
        });
        assert_eq!(result, 7);
        assert_eq!(complaints, ["this is odd", "this is wrong"]);
    }
}
