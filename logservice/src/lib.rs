#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

/// What the modules on the way to a model checker have of std; the package in `logservice/model` has another one.
mod door {
    pub(crate) use std::{sync, thread, time};
}

pub mod road;

mod record;
pub use record::{Fields, Level, Record, Value};

pub mod format;
pub use format::Format;

pub mod sink;
pub use sink::Sink;

mod queue;

mod writer;

mod service;
pub use service::{Builder, LogHandle, LogService};
