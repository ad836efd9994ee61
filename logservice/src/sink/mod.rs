//! Destinations of lines.

mod contract;
pub use contract::Sink;

#[cfg(unix)]
mod room;

mod torn;

pub mod file;
pub use file::{Every, FileBuilder, FileSink};

pub mod stream;
pub(crate) use stream::say_on_stderr;
pub use stream::{StderrSink, StdoutSink};

#[cfg(unix)]
pub mod syslog;
#[cfg(unix)]
pub use syslog::SyslogSink;

mod memory;
pub use memory::{MemoryLines, MemorySink};
