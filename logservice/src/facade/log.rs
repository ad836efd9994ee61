//! The front end for programs and libraries that log through the `log` crate.

use std::fmt;
use std::time::{Duration, SystemTime};

use log::kv::{self, Source, VisitSource, VisitValue};
use log::{Log, Metadata, SetLoggerError};

use super::tracing::with_current_spans;
use crate::{Durability, Fields, Levels, LogHandle, Record, Value};

/// The longest time that [`flush`](Log::flush) waits. `flush` has no way to report a failure.
const FLUSH_AT_MOST: Duration = Duration::from_secs(1);

/// A logger for the `log` crate that passes all its records to a service.
///
/// Key-value pairs keep their types, as in `log::info!(rows = 3; "read")`. The service counts the records
/// that it refuses, because the macros cannot report a refusal.
///
/// A record contains the thread's current `tracing` spans if both facades were [installed](super::install)
/// together. A program with its own subscriber should use `tracing_log::LogTracer` in place of this logger.
/// `LogTracer` turns records into events, and the [`LogLayer`](crate::LogLayer) logs the events with their
/// spans.
#[derive(Debug, Clone)]
pub struct Logger {
    first: Output,
    others: Vec<Output>,
}

#[derive(Debug, Clone)]
struct Output {
    handle: LogHandle,
    levels: Levels,
}

impl Logger {
    /// Creates a logger that logs the records that `levels` enables.
    pub fn new(handle: LogHandle, levels: Levels) -> Self {
        Self { first: Output { handle, levels }, others: Vec::new() }
    }

    /// Adds another service, with its own levels. The new service gets each record after the services that were
    /// added earlier.
    pub fn and(mut self, handle: LogHandle, levels: Levels) -> Self {
        self.others.push(Output { handle, levels });
        self
    }

    /// Makes this logger the process's logger; from now on, this logger's levels set the process's maximum
    /// level.
    ///
    /// # Errors
    /// Fails if the process already has a logger. After an error, the existing logger and its maximum level
    /// stay unchanged.
    pub fn install(self) -> Result<(), SetLoggerError> {
        let levels = self.outputs().map(|output| output.levels.clone()).collect();
        log::set_boxed_logger(Box::new(self))?;
        Levels::govern_log(levels);
        Ok(())
    }

    fn outputs(&self) -> impl Iterator<Item = &Output> {
        [&self.first].into_iter().chain(&self.others)
    }
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.outputs().any(|output| output.takes(metadata))
    }

    fn log(&self, record: &log::Record<'_>) {
        self.first.log(record);
        for output in &self.others {
            output.log(record);
        }
    }

    /// Waits until all earlier records have been passed to the system; waits for one service after the other,
    /// at most a second for each.
    fn flush(&self) {
        for output in self.outputs() {
            let _ = output.handle.flush(Durability::System, FLUSH_AT_MOST);
        }
    }
}

impl Output {
    fn takes(&self, metadata: &Metadata<'_>) -> bool {
        self.levels.enables(metadata.target(), metadata.level().into())
    }

    fn log(&self, record: &log::Record<'_>) {
        if !self.takes(record.metadata()) {
            return;
        }
        with_current_spans(&self.handle, |spans| {
            // The service itself counts refused records, so the error is ignored.
            let _ = self.handle.log(&Record {
                time: SystemTime::now(),
                level: record.level().into(),
                target: record.target(),
                message: *record.args(),
                fields: &Pairs(record.key_values()),
                spans,
                file: record.file(),
                line: record.line(),
            });
        });
    }
}

struct Pairs<'a>(&'a dyn Source);

impl Fields for Pairs<'_> {
    fn visit(&self, each: &mut dyn FnMut(&str, Value<'_>)) {
        // The visitors of this package never fail.
        let _ = self.0.visit(&mut Each(each));
    }
}

struct Each<'e>(&'e mut dyn FnMut(&str, Value<'_>));

impl<'kvs> VisitSource<'kvs> for Each<'_> {
    fn visit_pair(&mut self, key: kv::Key<'kvs>, value: kv::Value<'kvs>) -> Result<(), kv::Error> {
        value.visit(Pair { key: key.as_str(), each: self.0 })
    }
}

struct Pair<'k, 'e> {
    key: &'k str,
    each: &'e mut dyn FnMut(&str, Value<'_>),
}

impl Pair<'_, '_> {
    #[expect(clippy::unnecessary_wraps, reason = "what the visitor's methods return")]
    fn is(&mut self, value: Value<'_>) -> Result<(), kv::Error> {
        (self.each)(self.key, value);
        Ok(())
    }
}

impl VisitValue<'_> for Pair<'_, '_> {
    fn visit_any(&mut self, value: kv::Value<'_>) -> Result<(), kv::Error> {
        self.is(Value::Debug(&Shown(value)))
    }

    fn visit_null(&mut self) -> Result<(), kv::Error> {
        self.is(Value::Null)
    }

    fn visit_u64(&mut self, value: u64) -> Result<(), kv::Error> {
        self.is(Value::Unsigned(value.into()))
    }

    fn visit_i64(&mut self, value: i64) -> Result<(), kv::Error> {
        self.is(Value::Signed(value.into()))
    }

    fn visit_u128(&mut self, value: u128) -> Result<(), kv::Error> {
        self.is(Value::Unsigned(value))
    }

    fn visit_i128(&mut self, value: i128) -> Result<(), kv::Error> {
        self.is(Value::Signed(value))
    }

    fn visit_f64(&mut self, value: f64) -> Result<(), kv::Error> {
        self.is(Value::Float(value))
    }

    fn visit_bool(&mut self, value: bool) -> Result<(), kv::Error> {
        self.is(Value::Bool(value))
    }

    fn visit_str(&mut self, value: &str) -> Result<(), kv::Error> {
        self.is(Value::Text(value))
    }
}

/// Formats a value by `Debug` or by `Display`, depending on how the value was captured.
struct Shown<'v>(kv::Value<'v>);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
