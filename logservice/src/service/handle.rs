use super::line::{Depth, give_back, is_writer, make_line, own_memory};
use crate::queue::{Flushed, LineQueue};
use crate::{Counts, Format, Level, NotLogged, Overflow, Record};
use executor::shutdown_hooks::{ShutdownBegun, ShutdownHook, ShutdownHooks};
use std::error::Error;
use std::fmt::{self, Arguments};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// How long before the process ends a hook gives up.
const MARGIN: Duration = Duration::from_millis(100);

/// What logs to a service. Clones are the same.
#[derive(Clone)]
pub struct LogHandle {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) queue: Arc<LineQueue>,
    pub(super) format: Arc<dyn Format>,
    pub(super) longest_line: usize,
    pub(super) overflow: [Overflow; 5],
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
        if is_writer() || depth.is_too_deep() {
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
