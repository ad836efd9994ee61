//! The spans that are current on a thread, as the layer stores them.
//!
//! A span's values can be borrowed only while the span is created, so the layer copies the values at that
//! time; the layer formats values that have only `Debug` or `Display`. The values are kept in a node with a
//! link to the parent span's node, so an event finds all its spans, up to the root, with one look-up in the
//! registry. No lock is held while a value is formatted.

use std::error::Error;
use std::fmt::{self, Debug, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tracing::field::{Field, Visit};

use crate::record::Causes;
use crate::{Fields, Value};

/// The maximum length of the text that is kept for a span's value. The layer keeps the text as long as the span
/// exists, so the length of the text is limited.
const LONGEST: usize = 4096;

/// The layer's data about a span.
pub(super) struct Node {
    pub(super) name: &'static str,
    pub(super) parent: Option<Arc<Node>>,
    created: Values,
    /// Values that were recorded after the creation of the span. Most spans have no such values, and need
    /// no lock.
    recorded: OnceLock<Mutex<Arc<Values>>>,
}

/// Values with the names of their fields.
#[derive(Default, Clone)]
pub(super) struct Values(Vec<(&'static str, Kept)>);

#[derive(Clone)]
enum Kept {
    Bool(bool),
    Signed(i128),
    Unsigned(u128),
    Float(f64),
    Text(Box<str>),
    Shown(Verbatim),
}

/// The text of a formatted value; `Debug` also shows the text unchanged.
#[derive(Clone)]
struct Verbatim(Box<str>);

impl Debug for Verbatim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Node {
    pub(super) fn new(name: &'static str, parent: Option<Arc<Node>>, created: Values) -> Self {
        Self { name, parent, created, recorded: OnceLock::new() }
    }

    /// Adds values. A new value of a field replaces the old value, so a field that changes often needs no
    /// more memory.
    pub(super) fn record(&self, values: Values) {
        let recorded = self.recorded.get_or_init(Mutex::default);
        let mut recorded = recorded.lock().unwrap_or_else(PoisonError::into_inner);
        // An event that is being formatted keeps the values that it has already read.
        let recorded = Arc::make_mut(&mut *recorded);
        for (name, value) in values.0 {
            match recorded.0.iter_mut().find(|(known, _)| *known == name) {
                Some((_, old)) => *old = value,
                None => recorded.0.push((name, value)),
            }
        }
    }

    fn recorded(&self) -> Option<Arc<Values>> {
        let recorded = self.recorded.get()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&recorded))
    }
}

impl Fields for Node {
    fn visit(&self, each: &mut dyn FnMut(&str, Value<'_>)) {
        let recorded = self.recorded();
        let later = recorded.as_ref().map_or(&[][..], |values| &values.0);
        let created = self.created.0.iter().filter(|(name, _)| !later.iter().any(|(again, _)| again == name));
        for (name, value) in created.chain(later) {
            each(name, value.value());
        }
    }
}

impl Kept {
    fn value(&self) -> Value<'_> {
        match self {
            Self::Bool(value) => Value::Bool(*value),
            Self::Signed(value) => Value::Signed(*value),
            Self::Unsigned(value) => Value::Unsigned(*value),
            Self::Float(value) => Value::Float(*value),
            Self::Text(text) => Value::Text(text),
            Self::Shown(text) => Value::Debug(text),
        }
    }
}

/// Copies the values of a span, in the order of its fields.
impl Visit for Values {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.push((field.name(), Kept::Float(value)));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.push((field.name(), Kept::Signed(value.into())));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.push((field.name(), Kept::Unsigned(value.into())));
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.0.push((field.name(), Kept::Signed(value)));
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.0.push((field.name(), Kept::Unsigned(value)));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.0.push((field.name(), Kept::Bool(value)));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), Kept::Text(value.into())));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.0.push((field.name(), Kept::Shown(show(format_args!("{}", Causes(value))))));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push((field.name(), Kept::Shown(show(format_args!("{value:?}")))));
    }
}

/// Formats a value as text. A value that panics during formatting must not end the task that created the
/// span.
fn show(what: fmt::Arguments<'_>) -> Verbatim {
    let mut shown = Shown(String::new());
    let result = catch_unwind(AssertUnwindSafe(|| shown.write_fmt(what)));
    if let Err(payload) = result {
        // The payload is forgotten, because its destructor might panic.
        std::mem::forget(payload);
        shown.0.push_str("(panicked)");
    }
    Verbatim(shown.0.into())
}

/// A text that refuses to grow beyond [`LONGEST`] bytes.
struct Shown(String);

impl Write for Shown {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = LONGEST.saturating_sub(self.0.len());
        if text.len() <= room {
            self.0.push_str(text);
            return Ok(());
        }
        self.0.push_str(&text[..text.floor_char_boundary(room)]);
        self.0.push('…');
        Err(fmt::Error)
    }
}
