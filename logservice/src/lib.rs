#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

// The package in `logservice/model` compiles these modules for a model checker, with its own module `door`.
use std as door;

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
