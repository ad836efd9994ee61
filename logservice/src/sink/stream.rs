//! Standard error and standard output, for which the writer does not wait long.
//!
//! What reads them may be slow, stopped or stuck. Both are shared with other processes, so they cannot be told not to block: the
//! sink asks for room before each piece, and a piece is no larger than what finds room in any pipe that has room at all. If
//! another process takes that room between the question and the answer, the write does wait.
//!
//! It goes past std's `stderr()`, whose lock another thread may hold while it waits for room. So what the program prints by
//! itself can stand between two pieces of a long line.
//!
//! On Windows lines are written without asking for room, and may wait.

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
    /// Opens nothing: there is one standard error.
    pub fn new() -> Self {
        Self::default()
    }
}

impl StdoutSink {
    /// Opens nothing: there is one standard output.
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

/// Says something to an operator that cannot go through the log, if there is room for it within the usual time.
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

    /// `PIPE_BUF`: a pipe that is said to have room has room for as much.
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
                Err(io::Errno::AGAIN) => Err(io::Errno::INTR), // somebody has made it not block, and has taken the room
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
