//! Front ends, through which a program's records reach the service.
//!
//! Programs and libraries log through the `log` or the `tracing` crate and need no knowledge of this crate.
//! [`install`] sends the whole process's records from both crates to a service:
//!
//! ```
//! # struct Nowhere;
//! # impl logservice::Sink for Nowhere {
//! #     fn write(&mut self, lines: &[u8]) -> std::io::Result<usize> { Ok(lines.len()) }
//! #     fn name(&self) -> String { "nowhere".into() }
//! # }
//! # let sink = Nowhere;
//! use logservice::{Levels, LogService, facade};
//!
//! let service = LogService::builder().start(sink)?;
//! let levels = Levels::from_env("info")?;
//! facade::install(&service, &levels)?;
//! facade::log_panics(service.handle());
//!
//! log::info!(rows = 3; "read");
//! let request = tracing::info_span!("request", id = 7).entered();
//! tracing::warn!(host = "db1", "slow");
//! levels.set("info,shop::db=trace")?; // at any time
//! # drop(request);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A program with its own subscriber adds a [`LogLayer`] to this subscriber.
//!
//! # Several outputs
//!
//! A program can have several outputs, such as a file for all records and standard error for the warnings.
//! Each output is a service with its own sink, format, levels, policies, buffer and counts. So each output by
//! itself keeps the promises of a service, and an output that hangs does not make other outputs lose lines. An output
//! that hangs delays a thread only for the time that this output's [`Overflow`](crate::Overflow) policy allows.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use logservice::format::Human;
//! use logservice::sink::{FileSink, StderrSink};
//! use logservice::{Levels, LogService, Overflow, facade};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("app.log");
//! let file = LogService::builder().start(FileSink::builder(&path).open()?)?;
//! let console = LogService::builder()
//!     .format(Human::local().digits(0).threads(false))
//!     .overflow_of_all(Overflow::DropNewest) // a terminal that is not read holds up nothing
//!     .start(StderrSink::new())?;
//! facade::install_all((&file, &Levels::from_env("info")?), &[(&console, &Levels::parse("warn")?)])?;
//! # Ok(())
//! # }
//! ```
//!
//! If a value logs while it is formatted for a record, the log contains two records: first the inner record, then
//! the outer record. An inner event is lost only if the thread has its own subscriber (`with_default`) instead
//! of the process's subscriber: then `tracing` itself drops the event.

mod level;

mod log;
pub use log::Logger;

mod spans;

mod tracing;
pub use tracing::LogLayer;

mod panics;
pub use panics::log_panics;

use std::error::Error;
use std::fmt;

use crate::{Levels, LogHandle};

/// The reason why [`install`] failed: the process already has another logger or subscriber. If the error names
/// only one facade, the other facade has been installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallError {
    /// The logger of the `log` crate.
    Log,
    /// The subscriber of the `tracing` crate.
    Tracing,
    /// Both the logger and the subscriber.
    Both,
}

/// Sends the records of the `log` crate and the events of the `tracing` crate to the service, in the whole
/// process.
///
/// # Errors
/// A process has one logger and one subscriber; neither of the two can be replaced. If the process already
/// has a logger or a subscriber, [`InstallError`] names it, but the call installs the other facade.
pub fn install(handle: &LogHandle, levels: &Levels) -> Result<(), InstallError> {
    install_all((handle, levels), &[])
}

/// Sends records and events to several services, each with its own levels. For each record, the services are
/// called in the given order.
///
/// # Errors
/// Fails in the same cases as [`install`].
pub fn install_all(
    first: (&LogHandle, &Levels),
    others: &[(&LogHandle, &Levels)],
) -> Result<(), InstallError> {
    let outputs: Vec<_> =
        [first].iter().chain(others).map(|&(handle, levels)| (handle.clone(), levels.clone())).collect();
    let subscriber = tracing::install(outputs.clone());
    let logger = Logger::new(first.0.clone(), first.1.clone());
    let logger = outputs
        .into_iter()
        .skip(1)
        .fold(logger, |logger, (handle, levels)| logger.and(handle, levels))
        .install();
    match (logger, subscriber) {
        (Ok(()), Ok(())) => Ok(()),
        (Err(_), Ok(())) => Err(InstallError::Log),
        (Ok(()), Err(_)) => Err(InstallError::Tracing),
        (Err(_), Err(_)) => Err(InstallError::Both),
    }
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Log => "the process has another logger of the `log` crate already; `tracing` is logged by this service",
            Self::Tracing => "the process has another `tracing` subscriber already; `log` is logged by this service",
            Self::Both => "the process has another logger of the `log` crate and another `tracing` subscriber already",
        })
    }
}

impl Error for InstallError {}
