//! What a program logs, before it is formatted: a [`Record`], with [`Fields`] of typed [`Value`]s.
//!
//! A record borrows everything: the caller copies nothing, and a value is formatted only while its line is
//! made.

use std::cell::OnceCell;
use std::error::Error;
use std::fmt::{self, Arguments, Debug, Display};
use std::thread::{self, Thread};
use std::time::SystemTime;

use crate::short::Short;

/// How much a record matters, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Something failed.
    Error,
    /// Something is not as it should be, and the program goes on.
    Warn,
    /// For the operator.
    Info,
    /// For the developer.
    Debug,
    /// Every step.
    Trace,
}

impl Level {
    /// The level's name, in capital letters.
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
    /// When the record was logged.
    pub time: SystemTime,
    /// How much it matters.
    pub level: Level,
    /// The part of the program that logged it; by default a module's path.
    pub target: &'a str,
    /// The text.
    pub message: Arguments<'a>,
    /// Key-value pairs beside the text.
    pub fields: &'a dyn Fields,
    /// The spans it was logged in, the outermost first: their names, each with its fields.
    pub spans: &'a [(&'a str, &'a dyn Fields)],
    /// The source file that logged it, if that is known.
    pub file: Option<&'a str>,
    /// The line in that file.
    pub line: Option<u32>,
}

impl<'a> Record<'a> {
    /// A record of the present moment, without fields, spans and a place in the source. Other records are
    /// made from it: `Record { fields: &fields, ..Record::new(Level::Info, "shop", format_args!("sold")) }`.
    pub fn new(level: Level, target: &'a str, message: Arguments<'a>) -> Self {
        let time = SystemTime::now();
        Self { time, level, target, message, fields: &(), spans: &[], file: None, line: None }
    }

    /// Hands over the name of the thread that logs: the current one, since a format runs on the thread that
    /// logs.
    ///
    /// A thread without a name is called `ThreadId(7)`, as std does.
    pub fn thread<R>(&self, with: impl FnOnce(&str) -> R) -> R {
        thread_name(with)
    }
}

thread_local! {
    static OWN: OnceCell<Thread> = const { OnceCell::new() };
}

/// Hands over the current thread's name.
///
/// The name is looked up once; after the thread locals are gone, it is looked up each time. Nothing is
/// allocated here, since the caller may be an allocator that logs.
pub(crate) fn thread_name<R>(with: impl FnOnce(&str) -> R) -> R {
    let mut with = Some(with);
    let known = OWN.try_with(|own| Some(name_of(own.get()?, with.take()?)));
    match (known, with) {
        (Ok(Some(result)), _) => result,
        (_, Some(with)) => {
            let thread = thread::current();
            // If this thread has logged meanwhile, the name is there already.
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
    /// Calls `each` for every pair, in their order.
    ///
    /// It may be called more than once for one line.
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

/// Pairs that the caller has put together.
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
    /// No value, where there could have been one.
    Null,
    /// A truth value.
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
    /// An error. Formats show the error's causes, too.
    Error(&'a (dyn Error + 'static)),
}

/// An error with its causes, as one text: `first: its cause: the cause of that`.
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
