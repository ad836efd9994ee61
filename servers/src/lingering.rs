//! When a connection may be closed behind its last answer.
//!
//! Closing a socket with unread bytes makes TCP send a reset, and so do bytes that arrive later. A reset can
//! overtake the answer that was sent just before: the client sees "connection reset" in place of the answer.
//! So the server first ends its sending side. Then it reads what the client still sends, and throws that
//! away, for a bounded time. It does so only for a client that is still sending, because reading on costs a
//! blocking stage a thread:
//!
//! | the answer was | reads on | at most until the client is silent for | at most for |
//! |---|---|---|---|
//! | to a request that its client has announced as its last | no: more must not come (RFC 9112, 9.6) | | |
//! | to another request that was read whole, and nothing more has arrived | no | | |
//! | to another request that was read whole, and more has arrived | yes | 50 ms | 500 ms |
//! | 408: the client did not send in time | yes | 50 ms, or less if the time for a head is less | 500 ms |
//! | any other refusal | yes | 500 ms; 2 s if it is known to be sending | `--linger-timeout` |
//! | 503 to a connection that nobody serves | yes | 500 ms; 2 s once it has sent something | 5 s |
//!
//! Who reads on: the thread that served the client ([`client`](crate::client)), the accept loop for all whom
//! it has turned away ([`turned_away`](crate::turned_away)), and an event loop for its connections.

use crate::http::Conversation;
use std::time::{Duration, Instant};

/// How long a client that has its answer, and nothing more to expect, may be silent.
const BRIEFLY: Duration = Duration::from_millis(50);

/// How long such a client may go on sending.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// How long a client that was refused may be silent before it is taken to have sent everything; and how long
/// it may pause if it has sent something since.
const QUIET: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_secs(2);

/// How long a client that was turned away may go on sending.
pub(crate) const LONGEST: Duration = Duration::from_secs(5);

/// How long a client may take for what is left of its answer once the task that serves it is cancelled.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(500);

/// Whether a client that has its answer sends more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StillSending {
    /// It has announced that it will not.
    No,
    /// It does if something is waiting to be read.
    Perhaps,
    /// Part of it has been read.
    Yes,
}

impl StillSending {
    /// What is known of a client whose last request has been answered.
    pub(crate) fn behind(conversation: &Conversation) -> StillSending {
        match conversation.has_unread() {
            true => StillSending::Yes,
            // It has asked for the end itself, and must not send more then (RFC 9112, 9.6).
            false if conversation.is_the_clients_last() => StillSending::No,
            false => StillSending::Perhaps,
        }
    }
}

/// Until when the server reads on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lingering {
    quiet: Duration,
    /// The same, once something has come.
    pause: Duration,
    longest: Duration,
    began: Instant,
    heard: Instant,
}

impl Lingering {
    fn new(quiet: Duration, pause: Duration, longest: Duration, now: Instant) -> Lingering {
        Lingering { quiet, pause, longest, began: now, heard: now }
    }

    /// For a client that has its answer, and nothing more to expect.
    pub(crate) fn briefly(now: Instant) -> Lingering {
        Lingering::new(BRIEFLY, BRIEFLY, LAST_BYTES, now)
    }

    /// For a client whose time is up, and behind which others may stand in line for the thread: the first
    /// read that brings nothing is the last.
    pub(crate) fn for_one_read(now: Instant) -> Lingering {
        Lingering::new(Duration::ZERO, BRIEFLY, LAST_BYTES, now)
    }

    /// For a client whose request was refused, or for which there was no room. It `is_sending` if it has
    /// announced more than has arrived.
    pub(crate) fn refused(is_sending: bool, longest: Duration, now: Instant) -> Lingering {
        Lingering::new(if is_sending { PAUSE } else { QUIET }, PAUSE, longest, now)
    }

    /// The same, from now on.
    pub(crate) fn from(self, now: Instant) -> Lingering {
        Lingering { began: now, heard: now, ..self }
    }

    /// Something has come.
    pub(crate) fn heard(&mut self, now: Instant) {
        (self.heard, self.quiet) = (now, self.pause);
    }

    /// When the connection is closed, if nothing comes before. `is_cancelled`: the server has no more time.
    pub(crate) fn deadline(&self, is_cancelled: bool) -> Instant {
        let longest = if is_cancelled { self.longest.min(LAST_WORDS) } else { self.longest };
        (self.heard + self.quiet).min(self.began + longest)
    }
}
