use std::fmt::{Arguments, Debug, Display};
use std::time::SystemTime;

/// How much a record matters, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Something failed.
    Error,
    /// Something is not as it should be, and the program goes on.
    Warn,
    /// What an operator wants to know.
    Info,
    /// What a developer wants to know.
    Debug,
    /// Every step.
    Trace,
}

/// What a program says at one moment. A [format](crate::Format) makes a line of it.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    /// When it was said.
    pub time: SystemTime,
    /// How much it matters.
    pub level: Level,
    /// The part of the program that said it; by default a module's path.
    pub target: &'a str,
    /// The text.
    pub message: Arguments<'a>,
    /// Key-value pairs beside the text.
    pub fields: &'a dyn Fields,
    /// The spans it was said in, the outermost first: their names, each with its fields.
    pub spans: &'a [(&'a str, &'a dyn Fields)],
}

/// Key-value pairs.
pub trait Fields {
    /// Calls `each` for every pair, in their order.
    fn visit(&self, each: &mut dyn FnMut(&str, Value<'_>));
}

/// No fields.
impl Fields for () {
    fn visit(&self, _: &mut dyn FnMut(&str, Value<'_>)) {}
}

/// The value of a field.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// A truth value.
    Bool(bool),
    /// A number with a sign.
    Signed(i128),
    /// A number without one.
    Unsigned(u128),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(&'a str),
    /// Anything that can be shown.
    Display(&'a dyn Display),
    /// Anything that can be shown to a developer.
    Debug(&'a dyn Debug),
}
