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

/// How long before the end of the process a hook gives up.
const MARGIN: Duration = Duration::from_millis(100);

/// How long a thread that panics waits at most.
pub(crate) const PANICKING_AT_MOST: Duration = Duration::from_secs(1);

/// Logs to a service. Clones log to the same service.
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
    /// The installed layer that hands events to this service; 0 if there is none.
    pub(super) layer: AtomicU32,
}

/// Why [`LogHandle::flush`] failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FlushError {
    /// The time was up. The lines are not lost: the service goes on writing.
    TimedOut,
    /// The service ended before all was written.
    Stopped,
    /// The system could not put the lines on the disk. Standard error says why.
    SyncFailed,
    /// The writer's own thread cannot wait for itself.
    OwnThread,
    /// This process was forked from the one that started the service.
    Forked,
}

/// How far a flush goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The lines are handed to the system: they survive the end of the process, whatever ends it.
    System,
    /// The lines are on the disk: they survive a power failure. Lines in rotated files are included; the page
    /// of [`sink::file`](crate::sink::file) says what happens to files that other programs move away.
    Disk,
}

impl LogHandle {
    /// Logs a text of this level and target. Its place in the source is that of the call.
    ///
    /// # Errors
    /// Fails as [`log`](Self::log) does.
    #[track_caller]
    pub fn say(&self, level: Level, target: &str, message: Arguments<'_>) -> Result<(), NotLogged> {
        let place = Location::caller();
        let (file, line) = (Some(place.file()), Some(place.line()));
        self.log(&Record { file, line, ..Record::new(level, target, message) })
    }

    // ANCHOR: log
    /// Makes a line of the record and hands it over.
    ///
    /// # Blocking
    /// If there is no room, this call waits as the [`Overflow`] of the record's level says; for a second at
    /// most while the thread panics, and never on the writer's own thread. The call is no cancellation point,
    /// so a cancelled task can log that it was cancelled.
    ///
    /// # Errors
    /// [`NotLogged`] says why the line was not accepted. Such a line is counted.
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

    /// A level's policy; with a short time limit while the thread panics, so that a disk that hangs delays
    /// neither the panic's message nor the drop that stops the service.
    fn overflow(&self, level: Level) -> Overflow {
        match self.shared.overflow[level as usize] {
            Overflow::Block if thread::panicking() => Overflow::BlockFor(PANICKING_AT_MOST),
            Overflow::BlockFor(time) if thread::panicking() => {
                Overflow::BlockFor(time.min(PANICKING_AT_MOST))
            }
            overflow => overflow,
        }
    }

    /// Waits until all lines that were accepted before are handed to the system, or are on the disk.
    ///
    /// # Errors
    /// [`FlushError`] says why they are not.
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

    /// What has become of the lines so far. In a process that was forked from the service's, all counts are
    /// zero.
    pub fn counts(&self) -> Counts {
        if self.shared.home.is_left() { Counts::default() } else { self.shared.queue.counts() }
    }

    /// Lets the writer open the sink anew, for a program that rotates logs by moving them. Returns at once.
    pub fn reopen(&self) {
        if !self.shared.home.is_left() {
            self.shared.queue.reopen();
        }
    }

    /// Stops the service: lines are refused from now on, threads that wait for room stop waiting, and what
    /// was accepted is written. At the deadline the writer gives up. Any thread can call this, also several
    /// times. Once the writer was told to give up, no other stop waits for it, and neither does the drop of
    /// the [`LogService`](crate::LogService).
    ///
    /// [`Counts::waiting`] of the returned counts is the number of lost lines. If lines are lost, standard
    /// error says so, once.
    ///
    /// # Blocking
    /// Waits until everything is written, or for `at_most`. On the writer's own thread, and in a process that
    /// was forked from the service's, it does not wait.
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

    /// Registers a hook that stops the service. Register it before the hooks that log: hooks run in the
    /// reverse order.
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
