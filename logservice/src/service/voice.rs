use super::line::make_line;
use crate::writer::Voice;
use crate::{Fields, Format, Level, Record, Value};
use std::sync::Arc;

/// Creates the texts of the writer's own messages.
pub(super) struct OwnVoice {
    pub(super) format: Arc<dyn Format>,
    pub(super) longest_line: usize,
}

impl Voice for OwnVoice {
    fn say(&self, what: &str) {
        crate::sink::say_on_stderr(what);
    }

    fn missing(&self, count: u64, out: &mut Vec<u8>) {
        let lines = if count == 1 { "line" } else { "lines" };
        let message = format_args!("{count} {lines} dropped here: the log's buffer was full");
        let fields = &Dropped(count);
        let record = Record { fields, ..Record::new(Level::Warn, "logservice", message) };
        let mut line = String::new();
        make_line(&*self.format, &record, self.longest_line, &mut line);
        out.extend_from_slice(line.as_bytes());
    }
}

struct Dropped(u64);

impl Fields for Dropped {
    fn visit(&self, each: &mut dyn FnMut(&str, Value<'_>)) {
        each("dropped", Value::Unsigned(self.0.into()));
    }
}
