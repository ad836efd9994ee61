//! Hands events to the log service.

use logservice::{Fields, Level, LogHandle, Record, Value};
use std::fmt::Debug;
use std::time::SystemTime;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

/// The layer that makes a record of each event. What finds no room is counted by the service.
pub(super) struct ToService(pub(super) LogHandle);

impl<S: Subscriber> Layer<S> for ToService {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let mut text = Text(String::new());
        event.record(&mut text);
        let _ = self.0.log(&Record {
            time: SystemTime::now(),
            level: level(*metadata.level()),
            target: metadata.target(),
            message: format_args!("{}", text.0),
            fields: &Others(event),
            spans: &[],
        });
    }
}

fn level(level: tracing::Level) -> Level {
    match level {
        tracing::Level::ERROR => Level::Error,
        tracing::Level::WARN => Level::Warn,
        tracing::Level::INFO => Level::Info,
        tracing::Level::DEBUG => Level::Debug,
        tracing::Level::TRACE => Level::Trace,
    }
}

/// The field that facades take for the text.
const MESSAGE: &str = "message";

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == MESSAGE {
            self.0 = format!("{value:?}");
        }
    }
}

/// The fields beside the text.
struct Others<'a>(&'a Event<'a>);

impl Fields for Others<'_> {
    fn visit(&self, each: &mut dyn FnMut(&str, Value<'_>)) {
        self.0.record(&mut Each(each));
    }
}

struct Each<'a>(&'a mut dyn FnMut(&str, Value<'_>));

impl Visit for Each<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() != MESSAGE {
            (self.0)(field.name(), Value::Debug(value));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        (self.0)(field.name(), Value::Text(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        (self.0)(field.name(), Value::Unsigned(value.into()));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        (self.0)(field.name(), Value::Signed(value.into()));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        (self.0)(field.name(), Value::Float(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        (self.0)(field.name(), Value::Bool(value));
    }
}
