//! What a program says, before it is a line: a [`Record`], with [`Fields`] of typed [`Value`]s.
//!
//! A record borrows everything: whoever logs copies nothing, and a value is shown only while its line is written.

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
    /// What an operator wants to know.
    Info,
    /// What a developer wants to know.
    Debug,
    /// Every step.
    Trace,
}

impl Level {
    /// Its name, in capital letters.
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
    /// The file of the source that it was said in, if that is known.
    pub file: Option<&'a str>,
    /// The line of that file.
    pub line: Option<u32>,
}

impl<'a> Record<'a> {
    /// What is said now, without fields, spans and a place in the source. Others are made of it:
    /// `Record { fields: &fields, ..Record::new(Level::Info, "shop", format_args!("sold")) }`.
    pub fn new(level: Level, target: &'a str, message: Arguments<'a>) -> Self {
        let time = SystemTime::now();
        Self { time, level, target, message, fields: &(), spans: &[], file: None, line: None }
    }

    /// Hands over the name of the thread that said it: the current one, since a format runs on the thread that logs.
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
/// The thread is looked up once, or each time when its thread locals are gone. Nothing is allocated for it here: an allocator
/// may be what logs.
pub(crate) fn thread_name<R>(with: impl FnOnce(&str) -> R) -> R {
    let mut with = Some(with);
    let known = OWN.try_with(|own| Some(name_of(own.get()?, with.take()?)));
    match (known, with) {
        (Ok(Some(result)), _) => result,
        (_, Some(with)) => {
            let thread = thread::current();
            // If this thread has logged meanwhile, it is there already.
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
    /// Nothing: a value that could have been there and is not.
    Null,
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
    /// An error. Formats show its causes, too.
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
