#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

/// What the modules on the way to a model checker have of std; the package in `logservice/model` has another one.
mod door {
    pub(crate) use std::{sync, thread, time};
}

mod short;

mod record;
pub use record::{Fields, Level, Record, Value};

pub mod format;
pub use format::Format;

mod identity;

mod process;

pub mod sink;
pub use sink::Sink;

mod queue;
pub use queue::{Counts, NotLogged, Overflow};

mod writer;

pub mod service;
pub use service::{Builder, Durability, FlushError, LogHandle, LogService};

mod levels;
pub use levels::{BadDirective, Levels};

pub mod facade;
pub use facade::{LogLayer, Logger};

#[cfg(unix)]
mod hangup;

pub mod follow;
pub use follow::Follow;

pub mod road;
