//! The log service: what a program starts, logs to and stops.
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
//! The thread that logs makes the line, in a buffer of its own, and puts it into the [queue](crate::queue).
//! The [writer](crate::writer) hands lines to the [sink](crate::Sink). Formats, and the values that they
//! show, are code of the program, so they run before any lock is taken. They may log, too: the inner line
//! comes before the outer one.
//!
//! # The end
//!
//! A service that is stopped writes what it has accepted. [`LogService`] stops it when it is dropped, and so
//! does a hook that [`stop_at_shutdown`](LogHandle::stop_at_shutdown) registers; a process that ends in
//! another way (`exit`, `abort`, a signal that is not caught) loses the lines that wait: those of a
//! millisecond, unless the sink is slow.
//!
//! A sink that takes nothing any more (a full disk, a pipe without a reader, a system call that never
//! returns) does not hold up the end for longer than its limits: a stop and a drop have a time limit, and a
//! thread that panics waits for a second at most.
//!
//! # `fork`
//!
//! A child process has a copy of the service's memory, and not its writer: only the thread that forks is
//! copied. So the service belongs to the process that started it. In a child each call returns at once, with
//! [`NotLogged::Forked`](crate::NotLogged) or [`FlushError::Forked`], and nothing is written twice. A daemon
//! starts its service after it has forked. A child that must log starts a service of its own, on another
//! file: the lock of the parent's file is held by both processes. (`posix_spawn` and `std::process::Command`
//! start another program, so this does not concern them. A system call that forks past the C library, as
//! `clone` does, is not noticed.)

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
use std::fmt;
use std::io;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use voice::OwnVoice;

/// A line takes at least this much of the buffer, on average.
const SHORT_LINE: usize = 32;

/// A running log service. Dropping it stops it. Keep it in a variable of `main`, and give clones of its
/// [handle](LogHandle) to the code that logs.
#[must_use = "dropping it stops the service"]
pub struct LogService {
    handle: LogHandle,
    writer: Option<JoinHandle<()>>,
    stop_within: Duration,
}

/// Settings of a [`LogService`].
#[must_use]
pub struct Builder {
    format: Arc<dyn Format>,
    capacity: usize,
    longest_line: usize,
    overflow: [Overflow; 5],
    stop_within: Duration,
}

impl LogService {
    /// Begins with the format [`Human`](crate::format::Human) in UTC, a buffer of 1 MiB, lines of 8 KiB at
    /// most, and [`Overflow::Block`] for each level.
    pub fn builder() -> Builder {
        Builder {
            format: Arc::new(crate::format::Human::utc()),
            capacity: 1 << 20,
            longest_line: 8 << 10,
            overflow: [Overflow::Block; 5],
            stop_within: Duration::from_secs(10),
        }
    }

    /// A handle, through which other threads log.
    pub fn handle(&self) -> LogHandle {
        self.handle.clone()
    }
}

impl Builder {
    /// How records become lines.
    pub fn format(mut self, format: impl Format + 'static) -> Self {
        self.format = Arc::new(format);
        self
    }

    /// How many bytes of lines may wait while others are being written. There are two buffers, each with
    /// twice as much address space and an index. The first MiB of a buffer is memory from the beginning; the
    /// rest takes memory only as it is used.
    pub fn capacity(mut self, bytes: usize) -> Self {
        self.capacity = bytes;
        self
    }

    /// How many bytes a line may have, its line feed included. A longer one is cut.
    pub fn longest_line(mut self, bytes: usize) -> Self {
        self.longest_line = bytes;
        self
    }

    /// What becomes of lines of this level when there is no room.
    pub fn overflow(mut self, level: Level, overflow: Overflow) -> Self {
        self.overflow[level as usize] = overflow;
        self
    }

    /// What becomes of lines of any level when there is no room.
    pub fn overflow_of_all(mut self, overflow: Overflow) -> Self {
        self.overflow = [overflow; 5];
        self
    }

    /// How long the [`LogService`] may write on when it is dropped.
    pub fn stop_within(mut self, at_most: Duration) -> Self {
        self.stop_within = at_most;
        self
    }

    /// Starts the thread that writes to `sink`.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if the longest line has less than 64 bytes, or does not
    /// fit into the buffer, or the buffer has more than 1 GiB. The system's error if it gives no thread.
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
        let writer = thread::Builder::new().name("log writer".into()).spawn(move || {
            line::becomes_writer();
            // A sink's destructor may panic, with a payload whose own destructor panics.
            let _ = catch_unwind(AssertUnwindSafe(|| writer.run(second))).map_err(std::mem::forget);
        })?;
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
            std::mem::forget(writer); // after a fork: this process has no such thread
        } else if writer.is_finished() {
            let _ = writer.join(); // otherwise it may hang in the system
        }
    }
}

impl fmt::Debug for LogService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogService").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
