use jiff::tz::TimeZone;

use super::escape::Escapes;
use super::line::Line;
use super::stamp::Stamp;
use crate::record::Causes;
use crate::{Fields, Format, Level, Record, Value};

/// Lines of text for people to read.
///
/// ```text
/// 2026-11-25T07:33:07.123456Z  INFO shop::db [worker-3] request{id=7}:query: connected host=db1 "rows read"=3
/// ```
///
/// A line contains the time with its zone, the level, the target, the thread, the spans from the outermost
/// to the innermost, the message and the fields.
///
/// A text from outside cannot forge a line or control the reader's terminal. All control characters (`\n`,
/// `\u{1b}`) are escaped, and also characters that change the direction of writing and invisible characters.
/// A value that could be mistaken for two values is put in quotation marks; the message is never put in
/// quotation marks. If a machine reads the log, use [`Json`](super::Json).
///
/// A line that would be too long ends with `… 1234 bytes cut`.
#[derive(Debug, Clone)]
pub struct Human {
    stamp: Stamp,
    says: Says,
}

/// The parts of a line that can be switched off.
#[derive(Debug, Clone, Copy)]
pub(super) struct Says {
    pub(super) threads: bool,
    pub(super) places: bool,
}

impl Says {
    pub(super) const USUAL: Self = Self { threads: true, places: false };
}

impl Human {
    /// Returns a format with times in UTC.
    pub fn utc() -> Self {
        Self { stamp: Stamp::utc(), says: Says::USUAL }
    }

    /// Returns a format with times in the present time zone of the system.
    pub fn local() -> Self {
        Self { stamp: Stamp::local(), says: Says::USUAL }
    }

    /// Returns a format with times in the given zone.
    pub fn in_zone(zone: TimeZone) -> Self {
        Self { stamp: Stamp::in_zone(zone), says: Says::USUAL }
    }

    /// Sets the number of digits in the fraction of a second: 6 by default, 9 at most.
    pub fn digits(self, digits: u8) -> Self {
        Self { stamp: self.stamp.digits(digits), ..self }
    }

    /// Sets whether a line contains the name of the thread. By default, a line contains the name of the
    /// thread.
    pub fn threads(self, said: bool) -> Self {
        Self { says: Says { threads: said, ..self.says }, ..self }
    }

    /// Sets whether a line contains the source location, after the target, for example `shop::db
    /// src/db.rs:12`. By default, a line contains no source location.
    pub fn places(self, said: bool) -> Self {
        Self { says: Says { places: said, ..self.says }, ..self }
    }
}

impl Format for Human {
    fn line(&self, record: &Record<'_>, longest: usize, out: &mut String) {
        let mut line = Line::new(out, longest);
        self.stamp.write(record.time, |text| line.text(text));
        line.text(match record.level {
            Level::Error => " ERROR ",
            Level::Warn => "  WARN ",
            Level::Info => "  INFO ",
            Level::Debug => " DEBUG ",
            Level::Trace => " TRACE ",
        });
        body(&mut line, record, self.says);
        line.end_with_mark();
    }
}

/// Appends all parts of the line after the level.
pub(super) fn body(line: &mut Line<'_>, record: &Record<'_>, says: Says) {
    line.escaped(Escapes::Shown, record.target);
    if says.places {
        place(line, record);
    }
    if says.threads {
        record.thread(|name| {
            line.text(" [");
            line.escaped(Escapes::Shown, name);
            line.text("]");
        });
    }
    for (n, (name, fields)) in record.spans.iter().enumerate() {
        line.text(if n == 0 { " " } else { ":" });
        span(line, name, *fields);
    }
    line.text(": ");
    line.show(Escapes::Shown, record.message);
    record.fields.visit(&mut |key, value| field(line, " ", key, value));
}

fn place(line: &mut Line<'_>, record: &Record<'_>) {
    let Some(file) = record.file else { return };
    line.text(" ");
    line.escaped(Escapes::Shown, file);
    if let Some(number) = record.line {
        line.text(":");
        line.text(itoa::Buffer::new().format(number));
    }
}

fn span(line: &mut Line<'_>, name: &str, fields: &dyn Fields) {
    line.escaped(Escapes::Shown, name);
    let mut before = "{";
    fields.visit(&mut |key, value| {
        field(line, before, key, value);
        before = " ";
    });
    if before == " " {
        line.text("}");
    }
}

fn field(line: &mut Line<'_>, before: &str, key: &str, value: Value<'_>) {
    line.text(before);
    text(line, key);
    line.text("=");
    match value {
        Value::Null => line.text("null"),
        Value::Bool(value) => line.text(if value { "true" } else { "false" }),
        Value::Signed(value) => line.text(itoa::Buffer::new().format(value)),
        Value::Unsigned(value) => line.text(itoa::Buffer::new().format(value)),
        Value::Float(value) => line.show(Escapes::Shown, format_args!("{value:?}")),
        Value::Text(value) => text(line, value),
        Value::Display(value) => shown(line, format_args!("{value}")),
        Value::Debug(value) => shown(line, format_args!("{value:?}")),
        Value::Error(value) => shown(line, format_args!("{}", Causes(value))),
    }
}

/// Appends a key or a value, in quotation marks if it would otherwise not be recognised as a single text.
fn text(line: &mut Line<'_>, text: &str) {
    if text.is_empty() || text.bytes().any(|byte| matches!(byte, b' ' | b'=' | b'"')) {
        line.text("\"");
        line.escaped(Escapes::Quoted, text);
        line.text("\"");
    } else {
        line.escaped(Escapes::Shown, text);
    }
}

/// Formats a value to learn its text, and appends the text in the same way as [`text`]. A text that is
/// already quoted is not changed.
fn shown(line: &mut Line<'_>, what: std::fmt::Arguments<'_>) {
    let place = line.place();
    line.show(Escapes::Shown, what);
    if !line.is_full() && !is_one(line.since(place)) {
        line.quote(place);
    }
}

fn is_one(value: &str) -> bool {
    match value.strip_prefix('"') {
        Some(quoted) => end_of_quoted(quoted) == Some(quoted.len()),
        None => !value.is_empty() && !value.bytes().any(|byte| matches!(byte, b' ' | b'=')),
    }
}

/// Returns the position after the closing quotation mark, which is the first mark without a backslash
/// before it.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}
