//! The possible outcomes for a line.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The policy for a line that finds no room in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// The thread that logs waits until there is room, or until the service is stopped. No line is lost,
    /// but a disk that hangs delays the program. While the thread panics, it waits at most a second, because
    /// its process may be about to end.
    Block,
    /// The thread that logs waits at most for the given time; while it panics, it waits at most a second. After
    /// the time limit, the line is dropped and counted.
    BlockFor(Duration),
    /// The line is dropped and counted. The lines that were accepted earlier stay in the buffer.
    DropNewest,
    /// Lines that were accepted earlier under this policy are removed, beginning with the oldest line. The
    /// removed lines are counted as dropped. If removing such lines does not make enough room, the new line
    /// is dropped.
    DropOldest,
}

/// The reason why a line was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotLogged {
    /// There was no room, and the line was dropped because of its [`Overflow`] policy. A line in the log
    /// reports the number of missing lines.
    Full,
    /// The service has been stopped.
    Stopped,
    /// The thread that logs is the writer itself: a sink that logs would otherwise produce new lines
    /// forever.
    OwnThread,
    /// Records were nested too deeply: while the thread formatted a record, the format logged another
    /// record, and so on.
    TooDeep,
    /// This process was forked from the process that started the service. The writer's thread was
    /// not copied to the child. A line that a child logs is not counted.
    Forked,
}

impl fmt::Display for NotLogged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotLogged::Full => "the log had no room",
            NotLogged::Stopped => "the log service has been stopped",
            NotLogged::OwnThread => "the thread that writes the log cannot log",
            NotLogged::TooDeep => "records were nested too deep",
            NotLogged::Forked => "the log service belongs to the process that this one was forked from",
        })
    }
}

impl Error for NotLogged {}

/// The numbers of lines that the service has accepted, written, dropped and refused so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// The number of lines that the service accepted.
    pub accepted: u64,
    /// The number of accepted lines that the sink has taken.
    pub written: u64,
    /// The number of lines that were dropped because there was no room; under [`Overflow::DropOldest`],
    /// dropped lines had been accepted before.
    pub dropped: u64,
    /// The number of dropped lines that had been accepted before.
    pub dropped_accepted: u64,
    /// The number of refused lines: lines after the stop, lines from the writer's own thread, and records
    /// nested too deeply.
    pub refused: u64,
}

impl Counts {
    /// Returns the number of accepted lines that are neither written nor dropped yet. After a stop that gave
    /// up, these lines are lost.
    pub fn waiting(&self) -> u64 {
        self.accepted - self.written - self.dropped_accepted
    }
}
