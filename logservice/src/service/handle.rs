use super::line::{Depth, give_back, is_writer, make_line, own_memory};
use crate::process::Home;
use crate::queue::{Flushed, LineQueue};
use crate::{Counts, Format, Level, NotLogged, Overflow, Record};
use executor::shutdown_hooks::{ShutdownBegun, ShutdownHook, ShutdownHooks};
use std::error::Error;
use std::fmt::{self, Arguments};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// The hook gives up this long before the end of the process.
const MARGIN: Duration = Duration::from_millis(100);

/// The longest time that a panicking thread waits.
pub(crate) const PANICKING_AT_MOST: Duration = Duration::from_secs(1);

/// Logs to a service. All clones of a handle log to the same service.
#[derive(Clone)]
pub struct LogHandle {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) queue: Arc<LineQueue>,
    pub(super) format: Arc<dyn Format>,
    pub(super) longest_line: usize,
    pub(super) overflow: [Overflow; 5],
    pub(super) home: Home,
    /// The number of the installed layer that passes events to this service, or 0 if no such layer is installed.
    pub(super) layer: AtomicU32,
}

/// The reason why [`LogHandle::flush`] failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlushError {
    /// The time limit was reached. The lines are not lost: the service continues to write.
    TimedOut,
    /// The service ended before all lines were written.
    Stopped,
    /// The system could not put the lines on the disk. A message on standard error gives the reason for the
    /// failure.
    SyncFailed,
    /// The writer's own thread cannot wait for itself.
    OwnThread,
    /// This process was forked from the process that started the service.
    Forked,
}

/// The level of durability that a flush waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The lines have been passed to the system: they survive any end of the process.
    System,
    /// The lines are on the disk: they survive a power failure. This includes lines in rotated files; for files
    /// that other programs move away, see [`sink::file`](crate::sink::file).
    Disk,
}

impl LogHandle {
    /// Logs a text with this level and target. The record's source location is the location of the call.
    ///
    /// # Errors
    /// Fails for the same reasons as [`log`](Self::log).
    #[track_caller]
    pub fn say(&self, level: Level, target: &str, message: Arguments<'_>) -> Result<(), NotLogged> {
        let place = Location::caller();
        let (file, line) = (Some(place.file()), Some(place.line()));
        self.log(&Record { file, line, ..Record::new(level, target, message) })
    }

    // ANCHOR: log
    /// Formats the record as a line and passes the line to the service.
    ///
    /// # Blocking
    /// If there is no room, the [`Overflow`] policy of the record's level decides how long this call waits.
    /// While the thread panics, the call waits at most a second; on the writer's own thread, it never waits. The
    /// call is not a cancellation point, so a cancelled task can log its cancellation.
    ///
    /// # Errors
    /// Returns [`NotLogged`] with the reason if the line was not accepted. A line that was not accepted is
    /// counted, except in a forked child.
    pub fn log(&self, record: &Record<'_>) -> Result<(), NotLogged> {
        if self.shared.home.is_left() {
            return Err(NotLogged::Forked);
        }
        let depth = Depth::enter();
        if is_writer() || depth.is_too_deep() {
            self.shared.queue.refuse();
            return Err(if is_writer() { NotLogged::OwnThread } else { NotLogged::TooDeep });
        }
        let mut line = own_memory();
        make_line(&*self.shared.format, record, self.shared.longest_line, &mut line);
        let accepted = self.shared.queue.put(line.as_bytes(), self.overflow(record.level));
        give_back(line);
        accepted
    }
    // ANCHOR_END: log

    /// Returns a level's policy. While the thread panics, the policy has a short time limit: a disk that hangs
    /// must delay neither the panic's message nor the drop that stops the service.
    fn overflow(&self, level: Level) -> Overflow {
        match self.shared.overflow[level as usize] {
            Overflow::Block if thread::panicking() => Overflow::BlockFor(PANICKING_AT_MOST),
            Overflow::BlockFor(time) if thread::panicking() => {
                Overflow::BlockFor(time.min(PANICKING_AT_MOST))
            }
            overflow => overflow,
        }
    }

    /// Waits until all earlier accepted lines have been passed to the system, or are on the disk.
    ///
    /// # Errors
    /// Returns the reason, a [`FlushError`], if the lines are not passed to the system or are not on the
    /// disk.
    pub fn flush(&self, durability: Durability, at_most: Duration) -> Result<(), FlushError> {
        if self.shared.home.is_left() {
            return Err(FlushError::Forked);
        }
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

    pub(crate) fn has_layer(&self, number: u32) {
        self.shared.layer.store(number, Relaxed);
    }

    pub(crate) fn layer(&self) -> u32 {
        self.shared.layer.load(Relaxed)
    }

    /// Returns the counts of lines so far. In a child that was forked from the service's process, all counts are zero.
    pub fn counts(&self) -> Counts {
        if self.shared.home.is_left() { Counts::default() } else { self.shared.queue.counts() }
    }

    /// Makes the writer reopen the sink, for a program that rotates logs by moving them. The call does not
    /// wait until the sink is reopened.
    pub fn reopen(&self) {
        if !self.shared.home.is_left() {
            self.shared.queue.reopen();
        }
    }

    /// Stops the service: it refuses lines from now on, ends the waits of threads that wait for room, and
    /// writes all accepted lines. At the deadline, the writer gives up. Any thread can call this method, and
    /// may call it several times. After the writer has been told to give up, no stop waits for the writer,
    /// and dropping the [`LogService`](crate::LogService) does not wait either.
    ///
    /// In the returned counts, [`Counts::waiting`] is the number of lost lines. If lines are lost, one
    /// message on standard error reports the loss.
    ///
    /// # Blocking
    /// Waits until all lines are written, or at most for `at_most`. On the writer's own thread, and in a forked
    /// child of the service's process, the call does not wait.
    pub fn stop(&self, at_most: Duration) -> Counts {
        if self.shared.home.is_left() {
            return Counts::default();
        }
        if is_writer() {
            self.shared.queue.begin_to_stop();
        } else if let Some(lost) = self.shared.queue.stop(Instant::now().checked_add(at_most)) {
            let lines = if lost == 1 { "line" } else { "lines" };
            crate::sink::say_on_stderr(&format!("log: stopped with {lost} accepted {lines} unwritten"));
        }
        self.counts()
    }

    /// Registers a hook that stops the service. Register this hook before the hooks that log: hooks run in the
    /// reverse order, so this hook then runs last.
    ///
    /// # Errors
    /// Returns [`ShutdownBegun`] if the hooks are running or have run.
    pub fn stop_at_shutdown(&self, hooks: &ShutdownHooks) -> Result<ShutdownHook, ShutdownBegun> {
        let handle = self.clone();
        hooks.add("log", move |shutdown| {
            handle.stop(shutdown.left().saturating_sub(MARGIN));
        })
    }
}

impl fmt::Display for FlushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FlushError::TimedOut => "the log was not written in time",
            FlushError::Stopped => "the log service ended before all was written",
            FlushError::SyncFailed => "the log could not be put on the disk",
            FlushError::OwnThread => "the thread that writes the log cannot wait for itself",
            FlushError::Forked => "the log service belongs to the process that this one was forked from",
        })
    }
}

impl Error for FlushError {}

impl fmt::Debug for LogHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogHandle").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
