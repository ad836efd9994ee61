//! Lines of text for machines to read. This package escapes the strings by itself; the tests parse the lines
//! with `serde_json`. A line may be cut in the middle of a value that is formatted piece by piece, and must
//! still be a valid object. Line breaks that only some readers recognise (U+0085, U+2028) are also escaped.

use std::fmt::Arguments;
use std::ops::Range;

use jiff::tz::TimeZone;
use smallvec::SmallVec;

use super::escape::Escapes;
use super::line::Line;
use super::stamp::Stamp;
use crate::record::Causes;
use crate::{Fields, Format, Record, Value};

/// JSON lines: one JSON object for each record.
///
/// ```text
/// {"time":"2026-11-25T07:33:07.123456Z","level":"INFO","target":"shop::db","thread":"worker-3","message":"connected",
///  "fields":{"host":"db1","rows":3},"spans":[{"name":"request","fields":{"id":7}},{"name":"query"}]}
/// ```
///
/// * `fields` and `spans` (the outermost span first) are missing if they are empty. A program's own keys are
///   nested, so that they do not collide with the keys of the format. The second of two equal keys gets a
///   number, for example `key#2`.
/// * Values keep their types. Numbers that JSON does not support are written as strings, for example
///   `"NaN"`, `"inf"`, and integers that need more than 64 bits. A value that has only `Debug` or `Display`
///   is a string; an error is also a string, with its causes.
/// * A line that would be too long is still an object. A line that was cut has a member `cut`, which is the
///   number of missing bytes. A text that was cut ends with `…`; a member for which there is no room is left out.
#[derive(Debug, Clone)]
pub struct Json {
    stamp: Stamp,
    places: bool,
}

impl Json {
    /// Returns a format with times in UTC.
    pub fn utc() -> Self {
        Self { stamp: Stamp::utc(), places: false }
    }

    /// Returns a format with times in the present time zone of the system.
    pub fn local() -> Self {
        Self { stamp: Stamp::local(), places: false }
    }

    /// Returns a format with times in the given zone.
    pub fn in_zone(zone: TimeZone) -> Self {
        Self { stamp: Stamp::in_zone(zone), places: false }
    }

    /// Sets the number of digits in the fraction of a second: 6 by default, 9 at most.
    pub fn digits(self, digits: u8) -> Self {
        Self { stamp: self.stamp.digits(digits), ..self }
    }

    /// Sets whether a line contains the source location, as `"file":"src/db.rs","line":12` after the
    /// target. By default, a line contains no source location.
    pub fn places(self, said: bool) -> Self {
        Self { places: said, ..self }
    }
}

/// The maximum number of bytes that are needed to close a full line: the worst case is a cut in the innermost
/// text of a span.
const ROOM: usize = r#"…"}}],"cut":}"#.len() + 20;

impl Format for Json {
    fn line(&self, record: &Record<'_>, longest: usize, out: &mut String) {
        let mut line = Line::new(out, longest.saturating_sub(ROOM));
        let line = &mut line;
        line.close("{");
        let first = line.place();
        self.stamp.write(record.time, |time| {
            member(line, first, "time", |line| string(line, |line| line.whole(time)));
        });
        member(line, first, "level", |line| string(line, |line| line.whole(record.level.name())));
        member(line, first, "target", |line| text(line, record.target));
        if let Some(file) = record.file.filter(|_| self.places) {
            member(line, first, "file", |line| text(line, file));
        }
        if let Some(number) = record.line.filter(|_| self.places) {
            member(line, first, "line", |line| whole(line, itoa::Buffer::new().format(number)));
        }
        record.thread(|name| member(line, first, "thread", |line| text(line, name)));
        member(line, first, "message", |line| shown(line, record.message));
        if has_any(record.fields) {
            member(line, first, "fields", |line| object(line, record.fields));
        }
        if !record.spans.is_empty() {
            member(line, first, "spans", |line| spans(line, record.spans));
        }
        let missing = line.missing();
        if missing > 0 {
            line.close(if line.place() > first { r#","cut":"# } else { r#""cut":"# });
            line.close(itoa::Buffer::new().format(missing));
        }
        line.close("}");
    }
}

/// Appends a key and its value, or appends nothing if there is not enough room. `value` returns true if
/// there was room, at least for the beginning of the value; `first` is the start position of the
/// object.
fn member(line: &mut Line<'_>, first: usize, key: &str, value: impl FnOnce(&mut Line<'_>) -> bool) {
    let place = line.place();
    comma(line, first);
    line.whole("\"");
    line.whole(key);
    line.whole("\":");
    if !value(line) {
        line.take_back(place);
    }
}

fn comma(line: &mut Line<'_>, first: usize) {
    if line.place() > first {
        line.whole(",");
    }
}

fn string(line: &mut Line<'_>, contents: impl FnOnce(&mut Line<'_>)) -> bool {
    line.whole("\"");
    let begun = !line.is_full();
    contents(line);
    if begun {
        line.close(if line.is_full() { "…\"" } else { "\"" });
    }
    begun
}

fn text(line: &mut Line<'_>, text: &str) -> bool {
    string(line, |line| line.escaped(Escapes::Json, text))
}

fn shown(line: &mut Line<'_>, what: Arguments<'_>) -> bool {
    string(line, |line| line.show(Escapes::Json, what))
}

/// Appends a text that is useless if it is cut. Returns true if there was enough room for the text.
fn whole(line: &mut Line<'_>, text: &str) -> bool {
    line.whole(text);
    !line.is_full()
}

fn value(line: &mut Line<'_>, value: Value<'_>) -> bool {
    match value {
        Value::Null => whole(line, "null"),
        Value::Bool(value) => whole(line, if value { "true" } else { "false" }),
        Value::Signed(value) => number(line, itoa::Buffer::new().format(value), i64::try_from(value).is_ok()),
        Value::Unsigned(value) => {
            number(line, itoa::Buffer::new().format(value), u64::try_from(value).is_ok())
        }
        Value::Float(value) if value.is_finite() => {
            line.show(Escapes::Json, format_args!("{value:?}"));
            !line.is_full()
        }
        Value::Float(value) => shown(line, format_args!("{value}")),
        Value::Text(value) => text(line, value),
        Value::Display(value) => shown(line, format_args!("{value}")),
        Value::Debug(value) => shown(line, format_args!("{value:?}")),
        Value::Error(value) => shown(line, format_args!("{}", Causes(value))),
    }
}

/// Appends a number; a number that needs more than 64 bits becomes a string, because readers would parse it
/// as a float and lose digits.
fn number(line: &mut Line<'_>, digits: &str, fits: bool) -> bool {
    if fits { whole(line, digits) } else { text(line, digits) }
}

fn has_any(fields: &dyn Fields) -> bool {
    let mut any = false;
    fields.visit(&mut |_, _| any = true);
    any
}

fn object(line: &mut Line<'_>, fields: &dyn Fields) -> bool {
    if !whole(line, "{") {
        // The fields are visited only to count the bytes that are left out.
        fields.visit(&mut |_, v| _ = value(line, v));
        return false;
    }
    let first = line.place();
    let mut keys = Keys::default();
    fields.visit(&mut |key, v| {
        let place = line.place();
        comma(line, first);
        line.whole("\"");
        keys.write(line, key);
        line.whole("\":");
        if !value(line, v) {
            line.take_back(place);
        }
    });
    line.close("}");
    true
}

fn spans(line: &mut Line<'_>, spans: &[(&str, &dyn Fields)]) -> bool {
    if !whole(line, "[") {
        return false;
    }
    let first = line.place();
    for (name, fields) in spans {
        let place = line.place();
        comma(line, first);
        if !span(line, name, *fields) {
            line.take_back(place);
        }
    }
    line.close("]");
    true
}

fn span(line: &mut Line<'_>, name: &str, fields: &dyn Fields) -> bool {
    let begun = whole(line, "{");
    let first = line.place();
    member(line, first, "name", |line| text(line, name));
    if has_any(fields) {
        member(line, first, "fields", |line| object(line, fields));
    }
    if begun {
        line.close("}");
    }
    begun
}

/// The keys that an object already has: the position of each key in the line, and its length without the
/// number.
#[derive(Default)]
struct Keys(SmallVec<[(Range<usize>, usize); 8]>);

impl Keys {
    fn write(&mut self, line: &mut Line<'_>, key: &str) {
        let place = line.place();
        line.escaped(Escapes::Json, key);
        let length = line.place() - place;
        if line.is_full() {
            return;
        }
        let same =
            |(at, length): &&(Range<usize>, usize)| line.at(at.start..at.start + length) == line.since(place);
        let mut number = 1 + self.0.iter().filter(same).count();
        while !line.is_full() && self.0.iter().any(|(at, _)| line.at(at.clone()) == line.since(place)) {
            line.forget(place + length);
            line.whole("#");
            line.whole(itoa::Buffer::new().format(number.max(2)));
            number += 1;
        }
        self.0.push((place..line.place(), length));
    }
}
