//! Writes to standard error without making any thread wait.
//!
//! The process that reads standard error can be slow, stopped or stuck. A thread that waits for room in the
//! pipe serves no client meanwhile, and in the end all threads would wait. So a line is dropped and counted
//! if there is no room for it. The next time that there is room, a line says how many lines are missing.
//!
//! On Windows a line is written without a check for room, so writing it may wait.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A pipe that is ready for writing has room for this many bytes. POSIX guarantees this room and no more.
const PIECE: usize = 512;

static STDERR: Mutex<Stderr> = Mutex::new(Stderr { lost: 0, is_cut: false });

/// What the writer knows about the lines that came last. Only one thread at a time writes, so lines of
/// different threads do not mix.
struct Stderr {
    /// The number of lines that were dropped after the last written line.
    lost: u64,
    /// True if the last line was dropped after a part of it was written.
    is_cut: bool,
}

/// Writes a line, which must end with a line end. If there is no room, drops and counts the line.
pub(crate) fn write_line(line: &str) {
    lock().write_line(line.as_bytes());
}

/// A writer for the formatter of `tracing`; each call of `write` writes one line.
pub(crate) struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        lock().write_line(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lock() -> MutexGuard<'static, Stderr> {
    STDERR.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stderr {
    fn write_line(&mut self, line: &[u8]) {
        if !self.say_what_is_missing() || !self.write(line) {
            self.lost += 1;
        }
    }

    fn say_what_is_missing(&mut self) -> bool {
        if self.lost == 0 {
            return true;
        }
        let end_of_line = if self.is_cut { "\n" } else { "" };
        let note = format!("{end_of_line}{} lines are missing: standard error took no more\n", self.lost);
        let is_said = self.write(note.as_bytes());
        if is_said {
            (self.lost, self.is_cut) = (0, false);
        }
        is_said
    }

    /// Writes the bytes, if there is room for them. Returns whether all bytes were written.
    fn write(&mut self, bytes: &[u8]) -> bool {
        let mut pieces = bytes.chunks(PIECE);
        let is_begun = pieces.next().is_some_and(system::write_if_there_is_room);
        let is_whole = is_begun && pieces.all(system::write_if_there_is_room);
        self.is_cut |= is_begun && !is_whole;
        is_whole
    }
}

#[cfg(unix)]
mod system {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::{io, stdio};

    /// Does not use the lock of `std::io::stderr`, because another thread may hold this lock while that
    /// thread waits for room.
    pub(super) fn write_if_there_is_room(mut bytes: &[u8]) -> bool {
        let stderr = stdio::stderr();
        let mut watched = [PollFd::new(&stderr, PollFlags::OUT)];
        // A descriptor that cannot be polled is a file or a device; a write to it does not wait for a
        // reader.
        if poll(&mut watched, Some(&Timespec::default())) == Ok(0) {
            return false;
        }
        while !bytes.is_empty() {
            match io::write(stderr, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
        true
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::Write;

    pub(super) fn write_if_there_is_room(bytes: &[u8]) -> bool {
        std::io::stderr().write_all(bytes).is_ok()
    }
}
