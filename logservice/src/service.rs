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
//! The thread that logs makes the line, in a buffer of its own, and puts it into the [queue](crate::queue). The
//! [writer](crate::writer) hands lines to the [sink](crate::Sink). Formats, and the values that they show, are code of the
//! program, so they run before any lock is taken. They may log themselves: the inner line comes before the outer one.
//!
//! # The end
//!
//! A service that is stopped writes what it has accepted. [`LogService`] stops it when it is dropped, and so does a hook that
//! [`stop_at_shutdown`](LogService::stop_at_shutdown) registers; a process that ends in another way (`exit`, `abort`, a signal
//! that nobody catches) loses the lines that wait, a millisecond's worth unless the sink is slow.

use crate::queue::{Batch, Flushed, LineQueue, Room};
use crate::sink::Sink;
use crate::writer::{Voice, Writer};
use crate::{Counts, Format, Level, NotLogged, Overflow, Record};
use executor::shutdown_hooks::{ShutdownBegun, ShutdownHook, ShutdownHooks};
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt::{self, Arguments};
use std::io;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

/// A line takes at least this much of the buffer, on average.
const SHORT_LINE: usize = 32;

/// How deep records may nest: a format that logs, whose format logs, and so on.
const DEEPEST: u8 = 4;

/// How much memory a thread keeps for its next line.
const KEPT: usize = 16 * 1024;

/// How long before the process ends a hook gives up.
const MARGIN: Duration = Duration::from_millis(100);

/// A running log service. Dropping it stops it. Keep it in a variable of `main`, and give clones of its
/// [handle](LogHandle) to those who log.
#[must_use = "dropping it stops the service"]
pub struct LogService {
    handle: LogHandle,
    writer: Option<JoinHandle<()>>,
    stop_within: Duration,
}

/// What logs to a service. Clones are the same.
#[derive(Clone)]
pub struct LogHandle {
    shared: Arc<Shared>,
}

struct Shared {
    queue: Arc<LineQueue>,
    format: Arc<dyn Format>,
    longest_line: usize,
    overflow: [Overflow; 5],
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

/// Why [`LogHandle::flush`] failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlushError {
    /// It took too long. The lines are not lost: the service goes on writing.
    TimedOut,
    /// The service ended before all was written.
    Stopped,
    /// The system could not put the lines on the disk. Standard error says why.
    SyncFailed,
    /// The writer's own thread cannot wait for itself.
    OwnThread,
}

/// How far a flush goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The lines are handed to the system: they survive the end of the process, whatever ends it.
    System,
    /// The lines are on the disk: they survive a failure of the power.
    Disk,
}

thread_local! {
    /// The memory of this thread's next line.
    static LINE: RefCell<String> = const { RefCell::new(String::new()) };
    static DEPTH: Cell<u8> = const { Cell::new(0) };
    static IS_WRITER: Cell<bool> = const { Cell::new(false) };
}

impl LogService {
    /// Begins with the format [`Human`](crate::format::Human) in UTC, a buffer of 1 MiB, lines of 8 KiB at most, and
    /// [`Overflow::Block`] for each level.
    pub fn builder() -> Builder {
        Builder {
            format: Arc::new(crate::format::Human::utc()),
            capacity: 1 << 20,
            longest_line: 8 << 10,
            overflow: [Overflow::Block; 5],
            stop_within: Duration::from_secs(10),
        }
    }

    /// What others log to.
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

    /// How many bytes of lines may wait while others are being written. There are two buffers, each with twice as much address
    /// space and an index; of this memory only what is used counts.
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
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if the longest line has less than 64 bytes, or does not fit into the
    /// buffer, or the buffer has more than 1 GiB. Whatever the system says if it gives no thread.
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
        let room = Room { bytes: capacity, lines: (capacity / SHORT_LINE).max(16) };
        let queue = Arc::new(LineQueue::new(room));
        let writer =
            Writer::new(Arc::clone(&queue), sink, OwnVoice { format: Arc::clone(&format), longest_line });
        let second = Batch::new(room);
        let writer = thread::Builder::new().name("log writer".into()).spawn(move || {
            IS_WRITER.set(true);
            writer.run(second);
        })?;
        let shared = Arc::new(Shared { queue, format, longest_line, overflow });
        Ok(LogService { handle: LogHandle { shared }, writer: Some(writer), stop_within })
    }
}

impl LogHandle {
    /// Logs a text of this level and target.
    ///
    /// # Errors
    /// As for [`log`](Self::log).
    pub fn say(&self, level: Level, target: &str, message: Arguments<'_>) -> Result<(), NotLogged> {
        self.log(&Record { time: SystemTime::now(), level, target, message, fields: &(), spans: &[] })
    }

    // ANCHOR: log
    /// Makes a line of the record and hands it over.
    ///
    /// # Blocking
    /// If there is no room, as the [`Overflow`] of its level says; not on the writer's own thread. It is no cancellation
    /// point: a task that was cancelled can say so.
    ///
    /// # Errors
    /// [`NotLogged`] says why the line was not accepted. It is counted then.
    pub fn log(&self, record: &Record<'_>) -> Result<(), NotLogged> {
        let depth = Depth::enter();
        if is_writer() || depth.0 > DEEPEST {
            self.shared.queue.refuse();
            return Err(if is_writer() { NotLogged::OwnThread } else { NotLogged::TooDeep });
        }
        let mut line = own_memory();
        make_line(&*self.shared.format, record, self.shared.longest_line, &mut line);
        let accepted = self.shared.queue.put(line.as_bytes(), self.shared.overflow[record.level as usize]);
        give_back(line);
        accepted
    }
    // ANCHOR_END: log

    /// Waits until all lines that were accepted before are handed to the system, or are on the disk.
    ///
    /// # Errors
    /// [`FlushError`] says why they are not.
    pub fn flush(&self, durability: Durability, at_most: Duration) -> Result<(), FlushError> {
        if is_writer() {
            return Err(FlushError::OwnThread);
        }
        match self.shared.queue.flush(durability == Durability::Disk, Instant::now().checked_add(at_most)) {
            Flushed::Done => Ok(()),
            Flushed::Ended => Err(FlushError::Stopped),
            Flushed::SyncFailed => Err(FlushError::SyncFailed),
            Flushed::TimedOut => Err(FlushError::TimedOut),
        }
    }

    /// What has become of the lines so far.
    pub fn counts(&self) -> Counts {
        self.shared.queue.counts()
    }

    /// Has the sink opened anew, for a program that rotates logs by moving them. Returns at once.
    pub fn reopen(&self) {
        self.shared.queue.reopen();
    }

    /// Stops the service: lines are refused from now on, threads that wait for room are let go, and what was accepted is
    /// written. At the deadline the writer gives up. Can be called several times, by anybody.
    ///
    /// [`Counts::waiting`] of what it returns says how many lines are lost; if there are any, standard error says so, too.
    ///
    /// # Blocking
    /// Until everything is written, or for `at_most`. On the writer's own thread it does not wait.
    pub fn stop(&self, at_most: Duration) -> Counts {
        let at_most = if is_writer() { Duration::ZERO } else { at_most };
        self.shared.queue.stop(Instant::now().checked_add(at_most));
        let counts = self.counts();
        if counts.waiting() > 0 {
            crate::sink::say_on_stderr(&format!(
                "log: stopped with {} accepted lines unwritten",
                counts.waiting()
            ));
        }
        counts
    }

    /// Registers a hook that stops the service. Register it before those whose code logs: hooks run in the reverse order.
    ///
    /// # Errors
    /// [`ShutdownBegun`] if the hooks run or have run.
    pub fn stop_at_shutdown(&self, hooks: &ShutdownHooks) -> Result<ShutdownHook, ShutdownBegun> {
        let handle = self.clone();
        hooks.add("log", move |shutdown| {
            handle.stop(shutdown.left().saturating_sub(MARGIN));
        })
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
        // Past the deadline it may hang in the system.
        if let Some(writer) = self.writer.take().filter(JoinHandle::is_finished) {
            let _ = writer.join();
        }
    }
}

/// Appends the line with its line feed. A record that panics while it is shown leaves a line that says so.
fn make_line(format: &dyn Format, record: &Record<'_>, longest: usize, line: &mut String) {
    let is_made = append(format, record, longest - 1, line) || {
        let message = format_args!("a record of {} panicked while it was formatted", record.target);
        line.clear();
        append(format, &Record { message, fields: &(), spans: &[], ..*record }, longest - 1, line)
    };
    if !is_made {
        line.clear();
        line.push_str("a format panicked");
    }
    if line.len() >= longest {
        line.truncate(line.floor_char_boundary(longest - 1));
    }
    line.push('\n');
}

fn append(format: &dyn Format, record: &Record<'_>, longest: usize, line: &mut String) -> bool {
    let made = catch_unwind(AssertUnwindSafe(|| format.line(record, longest, line)));
    // What it panicked with might panic in its destructor.
    made.map_err(std::mem::forget).is_ok()
}

/// How many records this thread is formatting.
struct Depth(u8);

impl Depth {
    fn enter() -> Depth {
        // At the end of a thread nothing is left to count with.
        Depth(
            DEPTH
                .try_with(|depth| {
                    depth.set(depth.get().saturating_add(1));
                    depth.get()
                })
                .unwrap_or(1),
        )
    }
}

impl Drop for Depth {
    fn drop(&mut self) {
        let _ = DEPTH.try_with(|depth| depth.set(depth.get().saturating_sub(1)));
    }
}

fn is_writer() -> bool {
    IS_WRITER.try_with(Cell::get).unwrap_or(false)
}

/// Empty, and with memory from the last time unless a record is being formatted already.
fn own_memory() -> String {
    let mut line = LINE.try_with(RefCell::take).unwrap_or_default();
    line.clear();
    line
}

fn give_back(line: String) {
    if line.capacity() <= KEPT {
        let _ = LINE.try_with(|kept| drop(kept.replace(line)));
    }
}

/// What the writer says of itself.
struct OwnVoice {
    format: Arc<dyn Format>,
    longest_line: usize,
}

impl Voice for OwnVoice {
    fn say(&self, what: &str) {
        crate::sink::say_on_stderr(what);
    }

    fn missing(&self, count: u64, out: &mut Vec<u8>) {
        let lines = if count == 1 { "line" } else { "lines" };
        let message = format_args!("{count} {lines} dropped here: the log's buffer was full");
        let (time, level, target) = (SystemTime::now(), Level::Warn, "logservice");
        let record = Record { time, level, target, message, fields: &Dropped(count), spans: &[] };
        let mut line = String::new();
        make_line(&*self.format, &record, self.longest_line, &mut line);
        out.extend_from_slice(line.as_bytes());
    }
}

struct Dropped(u64);

impl crate::Fields for Dropped {
    fn visit(&self, each: &mut dyn FnMut(&str, crate::Value<'_>)) {
        each("dropped", crate::Value::Unsigned(self.0.into()));
    }
}

impl fmt::Display for FlushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FlushError::TimedOut => "the log was not written in time",
            FlushError::Stopped => "the log service ended before all was written",
            FlushError::SyncFailed => "the log could not be put on the disk",
            FlushError::OwnThread => "the thread that writes the log cannot wait for itself",
        })
    }
}

impl Error for FlushError {}

impl fmt::Debug for LogHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogHandle").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl fmt::Debug for LogService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogService").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
