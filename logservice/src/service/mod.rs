//! The log service: a program starts it, logs to it, and stops it.
//!
//! ```
//! use logservice::{Level, LogService, sink::Sink};
//! # use std::{io, time::Duration};
//! # struct Nowhere;
//! # impl Sink for Nowhere {
//! #     fn write(&mut self, lines: &[u8]) -> io::Result<usize> { Ok(lines.len()) }
//! #     fn name(&self) -> String { "nowhere".into() }
//! # }
//! # let sink = Nowhere;
//! let service = LogService::builder().start(sink)?;
//! service.say(Level::Info, "shop", format_args!("{} sold", 3))?;
//! let counts = service.stop(Duration::from_secs(10));
//! assert_eq!((counts.accepted, counts.written), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Who does what
//!
//! The thread that logs formats the line in its own buffer, and puts the line into the [queue](crate::queue).
//! The [writer](crate::writer) passes lines to the [sink](crate::Sink). Formats run code of the program, and
//! the values that formats show also run such code. So formats and values run without any lock of the
//! service. Formats and values may log, too: then the log contains the inner line before the outer line.
//!
//! # The end
//!
//! When a service is stopped, it writes all accepted lines. Dropping the [`LogService`] stops the service; a
//! hook that [`stop_at_shutdown`](LogHandle::stop_at_shutdown) registers also stops the service. If a process
//! ends in another way (`exit`, `abort`, a signal that is not caught), the waiting lines are lost. The
//! waiting lines are usually the lines of the last millisecond; if the sink is slow, more lines wait.
//!
//! A sink may stop accepting lines, for example because of a full disk, a pipe without a reader, or a system
//! call that never returns. Such a sink delays the end of the process only for a limited time. A
//! stop and a drop have a time limit, and a panicking thread waits at most a second.
//!
//! # `fork`
//!
//! A forked child process has a copy of the service's memory, but has no writer, because `fork` copies only the
//! thread that calls it. So the service belongs to the process that started it. In a child, each call returns at
//! once, with [`NotLogged::Forked`](crate::NotLogged) or [`FlushError::Forked`], and no line is written
//! twice. A daemon should start its service after it has forked. If a child must log, it should start its own
//! service, on another file, because both processes hold the lock of the parent's file. (`posix_spawn` and
//! `std::process::Command` start another program and have no such problem. A system call such as `clone`,
//! which forks without the C library, is not noticed.)

mod line;
pub(crate) use line::is_formatting;

mod voice;

mod handle;
pub(crate) use handle::PANICKING_AT_MOST;
pub use handle::{Durability, FlushError, LogHandle};

use crate::process::Home;
use crate::queue::{Batch, LineQueue, Room};
use crate::writer::Writer;
use crate::{Format, Level, Overflow, Sink};
use handle::Shared;
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use voice::OwnVoice;

/// The buffer has room for one line for each `SHORT_LINE` bytes of its size.
const SHORT_LINE: usize = 32;

/// A running log service. Keep the service in a variable of `main`, and give clones of its
/// [handle](LogHandle) to the code that logs.
#[must_use = "dropping it stops the service"]
pub struct LogService {
    handle: LogHandle,
    writer: Option<JoinHandle<()>>,
    stop_within: Duration,
}

/// The settings of a [`LogService`].
#[must_use]
pub struct Builder {
    format: Arc<dyn Format>,
    capacity: usize,
    longest_line: usize,
    overflow: [Overflow; 5],
    stop_within: Duration,
}

impl LogService {
    /// Returns a builder with the format [`Human`](crate::format::Human) in UTC, a buffer of 1 MiB, lines
    /// of at most 8 KiB, and [`Overflow::Block`] for each level.
    pub fn builder() -> Builder {
        Builder {
            format: Arc::new(crate::format::Human::utc()),
            capacity: 1 << 20,
            longest_line: 8 << 10,
            overflow: [Overflow::Block; 5],
            stop_within: Duration::from_secs(10),
        }
    }

    /// Returns a handle that other threads can use to log.
    pub fn handle(&self) -> LogHandle {
        self.handle.clone()
    }
}

impl Builder {
    /// Sets the format that turns records into lines.
    pub fn format(mut self, format: impl Format + 'static) -> Self {
        self.format = Arc::new(format);
        self
    }

    /// Sets how many bytes of lines may wait while other lines are being written. There are two buffers; each
    /// buffer reserves address space of twice the given size, and an index. The first MiB of a buffer is mapped
    /// from the beginning; the rest uses memory only when it is needed.
    pub fn capacity(mut self, bytes: usize) -> Self {
        self.capacity = bytes;
        self
    }

    /// Sets the maximum length of a line in bytes, including its line feed. A line that is longer is cut.
    pub fn longest_line(mut self, bytes: usize) -> Self {
        self.longest_line = bytes;
        self
    }

    /// Sets the policy for lines of the given level when there is no room.
    pub fn overflow(mut self, level: Level, overflow: Overflow) -> Self {
        self.overflow[level as usize] = overflow;
        self
    }

    /// Sets the policy for lines of all levels when there is no room.
    pub fn overflow_of_all(mut self, overflow: Overflow) -> Self {
        self.overflow = [overflow; 5];
        self
    }

    /// Sets how long the [`LogService`] may continue to write when it is dropped.
    pub fn stop_within(mut self, at_most: Duration) -> Self {
        self.stop_within = at_most;
        self
    }

    /// Starts the thread that writes to `sink`.
    ///
    /// # Errors
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if the longest line has less than 64 bytes or
    /// does not fit into the buffer, or if the buffer has more than 1 GiB. Returns the system's error if
    /// the system cannot start a thread.
    pub fn start(self, sink: impl Sink + 'static) -> io::Result<LogService> {
        let Builder { format, capacity, longest_line, overflow, stop_within } = self;
        let invalid = |what| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        if longest_line < 64 {
            return invalid(format!(
                "a longest line of {longest_line} bytes leaves no room for a message; give 64 or more"
            ));
        }
        if longest_line > capacity || capacity > 1 << 30 {
            return invalid(format!(
                "a buffer of {capacity} bytes does not fit: it has to hold the longest line, {longest_line} bytes, and at most 1 GiB"
            ));
        }
        let home = Home::here()?;
        let room = Room { bytes: capacity, lines: (capacity / SHORT_LINE).max(16) };
        let queue = Arc::new(LineQueue::new(room));
        let writer =
            Writer::new(Arc::clone(&queue), sink, OwnVoice { format: Arc::clone(&format), longest_line });
        let second = Batch::new(room);
        let (marked, is_marked) = mpsc::channel::<Infallible>();
        let writer = thread::Builder::new().name("log writer".into()).spawn(move || {
            line::becomes_writer();
            drop(marked);
            // If the sink's destructor panics, the payload of that panic is leaked, because the payload's own
            // destructor may panic, too.
            let _ = catch_unwind(AssertUnwindSafe(|| writer.run(second))).map_err(std::mem::forget);
        })?;
        // No thread has a handle before the writer's thread is marked. Otherwise code that runs when the
        // writer's thread begins, such as an allocator that logs, could make the writer wait for room that only
        // the writer can make.
        let Err(mpsc::RecvError) = is_marked.recv();
        let shared = Arc::new(Shared { queue, format, longest_line, overflow, home, layer: 0.into() });
        Ok(LogService { handle: LogHandle { shared }, writer: Some(writer), stop_within })
    }
}

impl Deref for LogService {
    type Target = LogHandle;

    fn deref(&self) -> &LogHandle {
        &self.handle
    }
}

impl Drop for LogService {
    fn drop(&mut self) {
        self.stop(self.stop_within);
        let Some(writer) = self.writer.take() else { return };
        if self.handle.shared.home.is_left() {
            std::mem::forget(writer); // after a fork, this process has no writer
        } else if writer.is_finished() {
            let _ = writer.join(); // otherwise the writer may hang in a system call
        }
    }
}

impl fmt::Debug for LogService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogService").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
