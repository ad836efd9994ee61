//! What can become of a line.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// What becomes of a line when the buffer has no room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overflow {
    /// The thread that logs waits until there is room, or until the service is stopped. No line is lost, but
    /// a disk that hangs holds up the program. A thread that panics waits for a second at most: its process
    /// may be about to end.
    Block,
    /// The thread that logs waits for this long at most, and for a second at most while it panics. Then the
    /// line is dropped and counted.
    BlockFor(Duration),
    /// The line is dropped and counted. What was accepted stays.
    DropNewest,
    /// Lines that were accepted earlier under this policy make room, the oldest first. They are dropped and
    /// counted. If they are not enough, the line itself is dropped.
    DropOldest,
}

/// Why a line was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotLogged {
    /// There was no room, and the line was dropped as its [`Overflow`] says. A line in the log says how many
    /// are missing.
    Full,
    /// The service has been stopped.
    Stopped,
    /// The thread that logs is the writer itself: a sink that logs would feed itself for ever.
    OwnThread,
    /// Records were nested too deeply: the thread was formatting a record whose format logs another one, and
    /// so on.
    TooDeep,
    /// This process is a child, by `fork`, of the one that started the service. The thread that writes was
    /// not copied with it. Such a line is counted nowhere.
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

/// How many lines the service accepted, wrote, dropped and refused so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Lines that the service accepted.
    pub accepted: u64,
    /// The accepted lines that the sink has taken.
    pub written: u64,
    /// Lines that were dropped because there was no room; under [`Overflow::DropOldest`] they had been
    /// accepted before.
    pub dropped: u64,
    /// The dropped lines that had been accepted before.
    pub dropped_accepted: u64,
    /// Lines that came after the stop, from the writer's own thread, or from records nested too deeply.
    pub refused: u64,
}

impl Counts {
    /// Lines that were accepted and are neither written nor dropped yet. After a stop that gave up, these
    /// lines are lost.
    pub fn waiting(&self) -> u64 {
        self.accepted - self.written - self.dropped_accepted
    }
}
