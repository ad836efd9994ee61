//! Front ends: how what a program says comes to the service.
//!
//! Programs and libraries log through the `log` or the `tracing` crate and know nothing of this one. [`install`] makes a
//! service the place where both end, for the whole process:
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
//! A program with a subscriber of its own adds a [`LogLayer`] to it.
//!
//! What is logged while a record is logged, by a value that is shown for instance, is a record of its own and comes first. Only
//! `tracing` itself drops such an event, and that only if its subscriber is not the process's but a thread's
//! (`with_default`).

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

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry;

use crate::{Levels, LogHandle};

/// What was not to be had for [`install`], since the process has another one. The other facade is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallError {
    /// The logger of the `log` crate.
    Log,
    /// The subscriber of the `tracing` crate.
    Tracing,
    /// Neither.
    Both,
}

/// Makes the service the place where records of the `log` crate and events of the `tracing` crate end, in the whole process.
///
/// # Errors
/// A process has one logger and one subscriber, which cannot be replaced. [`InstallError`] says which there was already; the
/// other facade is installed all the same.
pub fn install(handle: &LogHandle, levels: &Levels) -> Result<(), InstallError> {
    let subscriber = registry().with(LogLayer::filtered(handle.clone(), levels.clone()));
    let subscriber = ::tracing::subscriber::set_global_default(subscriber);
    let logger = Logger::new(handle.clone(), levels.clone()).install();
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
