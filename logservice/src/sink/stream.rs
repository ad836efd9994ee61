//! Sinks for standard error and standard output; they block the writer only for a short time.
//!
//! The reader of a stream may be slow, stopped or stuck. Both streams are shared with other processes, so
//! they cannot be made non-blocking. So the sink polls for room before it writes each piece; a piece is so small that
//! it fits into any pipe that reports room. If another process uses this room between the poll and the write, the write
//! blocks.
//!
//! The sink does not use the standard library's `stderr()`: another thread may hold its lock while that thread
//! waits for room. So output of the program itself may appear between two pieces of a long line.
//!
//! On Windows, lines are written without a poll, and the write may block.

use std::io;

use super::Sink;
use super::torn::{Torn, Written, taken};

/// Writes lines to standard error.
#[derive(Debug, Default)]
pub struct StderrSink {
    torn: Torn,
}

/// Writes lines to standard output.
#[derive(Debug, Default)]
pub struct StdoutSink {
    torn: Torn,
}

impl StderrSink {
    /// Creates a sink for the process's standard error.
    pub fn new() -> Self {
        Self::default()
    }
}

impl StdoutSink {
    /// Creates a sink for the process's standard output.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Sink for StderrSink {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        taken(self.torn.write(lines, system::to_stderr))
    }

    fn name(&self) -> String {
        "standard error".to_owned()
    }
}

impl Sink for StdoutSink {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        taken(self.torn.write(lines, system::to_stdout))
    }

    fn name(&self) -> String {
        "standard output".to_owned()
    }
}

/// Writes a message for the operator to standard error, because the message cannot go through the log. If
/// standard error has no room within the usual time, the message is dropped.
pub(crate) fn say_on_stderr(what: &str) {
    let _: Written = system::to_stderr(format!("{what}\n").as_bytes());
}

#[cfg(unix)]
mod system {
    use std::os::fd::BorrowedFd;
    use std::time::Instant;

    use rustix::{io, stdio};

    use super::super::room::{PATIENCE, wait_for_room};
    use super::super::torn::{Written, write_all};

    /// `PIPE_BUF`: a pipe that reports room has room for at least this many bytes.
    const PIECE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

    pub(super) fn to_stderr(bytes: &[u8]) -> Written {
        write(stdio::stderr(), bytes)
    }

    pub(super) fn to_stdout(bytes: &[u8]) -> Written {
        write(stdio::stdout(), bytes)
    }

    fn write(stream: BorrowedFd<'_>, bytes: &[u8]) -> Written {
        let until = Instant::now() + PATIENCE;
        write_all(bytes, |bytes| {
            wait_for_room(stream, until)?;
            let written = match io::write(stream, &bytes[..bytes.len().min(PIECE)]) {
                Err(io::Errno::AGAIN) => Err(io::Errno::INTR), // another process has made the stream non-blocking
                written => written,
            };
            Ok(written?)
        })
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::Write;

    use super::super::torn::{Written, write_all};

    pub(super) fn to_stderr(bytes: &[u8]) -> Written {
        write_all(bytes, |bytes| std::io::stderr().write(bytes))
    }

    pub(super) fn to_stdout(bytes: &[u8]) -> Written {
        let mut stdout = std::io::stdout();
        write_all(bytes, |bytes| stdout.write(bytes).and_then(|written| stdout.flush().map(|()| written)))
    }
}
