//! The data that a program logs, before it is formatted: a [`Record`], with [`Fields`] of typed [`Value`]s.
//!
//! A record borrows all its data: the caller copies nothing, and a value is formatted only while its line
//! is created.

use std::cell::OnceCell;
use std::error::Error;
use std::fmt::{self, Arguments, Debug, Display};
use std::thread::{self, Thread};
use std::time::SystemTime;

use crate::short::Short;

/// The importance of a record; the first level is the most important.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Something failed.
    Error,
    /// There is a problem, but the program continues.
    Warn,
    /// Information for the operator.
    Info,
    /// Information for the developer.
    Debug,
    /// Every step.
    Trace,
}

impl Level {
    /// Returns the level's name in capital letters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::Warn => "WARN",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
            Self::Trace => "TRACE",
        }
    }
}

impl Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One message of a program, with its data. A [format](crate::Format) turns a record into a line.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    /// The time at which the record was logged.
    pub time: SystemTime,
    /// The importance of the record.
    pub level: Level,
    /// The part of the program that logged the record; by default a module's path.
    pub target: &'a str,
    /// The text.
    pub message: Arguments<'a>,
    /// Key-value pairs in addition to the message.
    pub fields: &'a dyn Fields,
    /// The names and fields of the spans that the record was logged in; the outermost span comes first.
    pub spans: &'a [(&'a str, &'a dyn Fields)],
    /// The source file that logged the record, if the file is known.
    pub file: Option<&'a str>,
    /// The line number in the source file.
    pub line: Option<u32>,
}

impl<'a> Record<'a> {
    /// Creates a record with the present time, without fields, spans or source location. Struct update syntax
    /// sets the other members, for example `Record { fields: &fields, ..Record::new(Level::Info, "shop",
    /// format_args!("sold")) }`.
    pub fn new(level: Level, target: &'a str, message: Arguments<'a>) -> Self {
        let time = SystemTime::now();
        Self { time, level, target, message, fields: &(), spans: &[], file: None, line: None }
    }

    /// Passes to the closure the name of the thread that logs; this is the current thread, because a format
    /// runs on the thread that logs.
    ///
    /// A thread without a name is called `ThreadId(7)`, as in the standard library.
    pub fn thread<R>(&self, with: impl FnOnce(&str) -> R) -> R {
        thread_name(with)
    }
}

thread_local! {
    static OWN: OnceCell<Thread> = const { OnceCell::new() };
}

/// Passes the current thread's name to the closure.
///
/// The name is looked up only once per thread; but at the end of a thread, after its thread-local variables are
/// gone, every call looks it up. This function allocates nothing, because the caller may be an allocator that logs.
pub(crate) fn thread_name<R>(with: impl FnOnce(&str) -> R) -> R {
    let mut with = Some(with);
    let known = OWN.try_with(|own| Some(name_of(own.get()?, with.take()?)));
    match (known, with) {
        (Ok(Some(result)), _) => result,
        (_, Some(with)) => {
            let thread = thread::current();
            // If this thread has logged during the look-up, the name is already stored.
            let _ = OWN.try_with(|own| own.set(thread.clone()));
            name_of(&thread, with)
        }
        (_, None) => unreachable!("who takes it has a result"),
    }
}

fn name_of<R>(thread: &Thread, with: impl FnOnce(&str) -> R) -> R {
    match thread.name() {
        Some(name) => with(name),
        None => with(Short::of(format_args!("{:?}", thread.id())).as_str()),
    }
}

/// Key-value pairs.
pub trait Fields {
    /// Calls `each` for every pair, in order.
    ///
    /// This method may be called more than once for one line.
    fn visit(&self, each: &mut dyn FnMut(&str, Value<'_>));
}

/// No fields.
impl Fields for () {
    fn visit(&self, _: &mut dyn FnMut(&str, Value<'_>)) {}
}

impl<F: Fields + ?Sized> Fields for &F {
    fn visit(&self, each: &mut dyn FnMut(&str, Value<'_>)) {
        (**self).visit(each);
    }
}

/// Pairs that the caller has collected.
impl Fields for [(&str, Value<'_>)] {
    fn visit(&self, each: &mut dyn FnMut(&str, Value<'_>)) {
        for (key, value) in self {
            each(key, *value);
        }
    }
}

impl<const N: usize> Fields for [(&str, Value<'_>); N] {
    fn visit(&self, each: &mut dyn FnMut(&str, Value<'_>)) {
        self.as_slice().visit(each);
    }
}

/// The value of a field.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Value<'a> {
    /// A missing value.
    Null,
    /// A Boolean value.
    Bool(bool),
    /// A signed integer.
    Signed(i128),
    /// An unsigned integer.
    Unsigned(u128),
    /// A floating-point number.
    Float(f64),
    /// A text.
    Text(&'a str),
    /// A value that is formatted by `Display`.
    Display(&'a dyn Display),
    /// A value that is formatted by `Debug`.
    Debug(&'a dyn Debug),
    /// An error. An error; formats also show its causes.
    Error(&'a (dyn Error + 'static)),
}

/// An error with its causes, as one text, in the form `first: its cause: the cause of that`.
pub(crate) struct Causes<'a>(pub(crate) &'a (dyn Error + 'static));

impl Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self.0, f)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
