//! Decides what the server reports to the operator, and where it writes the reports.
//!
//! The library reports everything through the `tracing` facade. The program that uses the library
//! installs a subscriber, which decides what to do with each event:
//!
//! | target | level | event |
//! |---|---|---|
//! | [`ACCESS`] | info | an answer; the page of [`AccessLog`] names the fields |
//! | [`REPORTS`] | warn | an error that does not stop the server; also what a stage that is stopping waits for |
//! | [`REPORTS`] | error | a panic |
//!
//! The stages install the subscriber of [`show_diagnostics`]. The subscriber writes to stderr without making
//! any thread wait (see `stderr.rs`). An answer becomes one line, as in the logs of other web servers, and a
//! report becomes a line with only its text.

use crate::access_log::{ACCESS, AccessLog};
use crate::stderr::{Lines, write_line};
use std::backtrace::{Backtrace, BacktraceStatus};
use std::env;
use std::fmt::{Debug, Display, Write};
use std::panic::{self, PanicHookInfo};
use std::thread;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber, dispatcher, error, warn};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

/// The `tracing` target of the events for reports and panics.
pub const REPORTS: &str = "servers";

/// Reports an error that does not stop the server: an event of level warn and target [`REPORTS`].
///
/// If there is no subscriber, the report becomes a line on stderr, so that the report is not lost. Unlike
/// `eprintln!`, this function survives a closed stderr, and does not wait for the process that reads stderr.
/// If there is no room for a line, the function drops the line and counts it.
pub fn report(what: impl Display) {
    if dispatcher::has_been_set() {
        warn!(target: REPORTS, "{what}");
    } else {
        write_line(&format!("{what}\n"));
    }
}

/// Installs the subscriber of the stages, which consists of the layer [`on_stderr`] alone. From now on,
/// panics are reported in the same way as errors.
///
/// A process can install only one subscriber: if one is installed already, it stays.
pub fn show_diagnostics() {
    tell_of_panics();
    let _ = tracing_subscriber::registry().with(on_stderr(AccessLog::Events)).try_init();
}

/// From now on, a panic becomes an event of level error and target [`REPORTS`], or a line on stderr if there
/// is no subscriber. The standard library's own hook would wait for room on stderr instead.
pub fn tell_of_panics() {
    panic::set_hook(Box::new(tell_of_panic));
}

/// Returns the layer that writes reports to stderr, and also writes answers if `answers` is true.
///
/// The layer also shows the diagnostic events that the variable `RUST_LOG` asks for. With
/// `RUST_LOG=executor=debug` the diagnostic events report every thread that a pool starts. If the value
/// of `RUST_LOG` cannot be parsed, this is reported, and no diagnostic events are shown.
pub fn on_stderr<S>(answers: AccessLog) -> impl Layer<S> + Send + Sync + 'static
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let of_answers = if answers == AccessLog::Quiet { LevelFilter::OFF } else { LevelFilter::INFO };
    let ours = Targets::new().with_target(REPORTS, LevelFilter::INFO).with_target(ACCESS, of_answers);
    // `and_then` would report the second layer's maximum level for both layers (tracing-subscriber 0.3.23),
    // so the layers are in a list.
    let mut layers = vec![Plain.with_filter(ours).boxed()];
    if let Some(wanted) = asked_for() {
        // The layer does not print its own errors, because a print to stderr panics if stderr is closed.
        let lines = fmt::layer().with_writer(|| Lines).with_ansi(false).log_internal_errors(false);
        layers.push(lines.with_filter(wanted).boxed());
    }
    layers
}

/// Returns the filter that `RUST_LOG` asks for, without the events that are shown anyway.
fn asked_for() -> Option<Targets> {
    let wanted = env::var("RUST_LOG").unwrap_or_default();
    if wanted.is_empty() {
        return None;
    }
    match wanted.parse::<Targets>() {
        Ok(wanted) => {
            Some(wanted.with_target(REPORTS, LevelFilter::OFF).with_target(ACCESS, LevelFilter::OFF))
        }
        Err(error) => {
            report(format_args!("RUST_LOG={wanted} is ignored ({error}); try for instance executor=debug"));
            None
        }
    }
}

/// Writes answers and reports as plain lines.
struct Plain;

impl<S: Subscriber> Layer<S> for Plain {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = String::with_capacity(256);
        if event.metadata().target() == ACCESS {
            event.record(&mut AnswerLine(&mut line));
        } else {
            event.record(&mut Message(&mut line));
        }
        line.push('\n');
        write_line(&line);
    }
}

/// The line that is written for an answer. The fields of the line have the order of the event's
/// fields.
struct AnswerLine<'a>(&'a mut String);

impl AnswerLine<'_> {
    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        let _ = self.0.write_fmt(text); // writing to a `String` cannot fail
    }
}

impl Visit for AnswerLine<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "client" {
            self.push(format_args!("{value:?}"));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "time" => self.push(format_args!(" [{value}]")),
            "request" => self.push(format_args!(" \"{value}\"")),
            _ => self.push(format_args!(" {value}")),
        }
    }

    fn record_u64(&mut self, _: &Field, value: u64) {
        self.push(format_args!(" {value}"));
    }

    fn record_f64(&mut self, _: &Field, value: f64) {
        self.push(format_args!(" {value:.1}ms"));
    }

    fn record_bool(&mut self, _: &Field, is_cut: bool) {
        self.0.push_str(if is_cut { " cut off" } else { "" });
    }
}

/// The text of one report.
struct Message<'a>(&'a mut String);

impl Visit for Message<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            let _ = write!(self.0, "{value:?}"); // writing to a `String` cannot fail
        }
    }
}

/// Reports a panic with the same facts as the standard library's hook does.
fn tell_of_panic(info: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let name = thread.name().unwrap_or("<unnamed>");
    let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let message = info.payload_as_str().unwrap_or("something that is no text");
    let backtrace = Backtrace::capture();
    let mut text = format!("thread '{name}' panicked{place}:\n{message}");
    if backtrace.status() == BacktraceStatus::Captured {
        text = format!("{text}\n{backtrace}");
    }
    if dispatcher::has_been_set() {
        error!(target: REPORTS, "{text}");
    } else {
        write_line(&format!("{text}\n"));
    }
}
