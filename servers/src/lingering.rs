//! Decides when the server may close a connection after the last answer.
//!
//! TCP sends a reset if a socket is closed while it has unread bytes, and also if more bytes arrive after the
//! close. A reset can overtake the answer that was sent before the reset: the client then sees "connection
//! reset" instead of the answer. So the server first ends its sending side. Then, for a bounded time, the
//! server reads and drops the bytes that the client still sends. In a blocking stage, reading on takes a
//! thread, so the server reads on only for a client that is still sending:
//!
//! | the answer was | the server reads on | until the client is silent for | but at most for |
//! |---|---|---|---|
//! | to a request that its client has announced as its last | no: the client must not send more (RFC 9112, 9.6) | | |
//! | to another request, which was read whole, and nothing more has arrived | no | | |
//! | to another request, which was read whole, and more bytes have arrived | yes | 50 ms | 500 ms |
//! | 408: the client did not send in time | yes | 50 ms, or less if the time for a head is less | 500 ms |
//! | any other refusal | yes | 500 ms; 2 s if the server knows that the client is sending | `--linger-timeout` |
//! | 503 to a connection that is not served | yes | 500 ms; 2 s once the client has sent something | 5 s |
//!
//! In a blocking stage, a thread continues to read from the client that it served
//! ([`client`](crate::client)), and the accept loop continues to read from all clients that it has turned
//! away ([`turned_away`](crate::turned_away)). An event loop continues to read from its own connections.

use crate::http::Conversation;
use std::time::{Duration, Instant};

/// How long a client may be silent, after it has received its last answer, before the server closes the
/// connection.
const BRIEFLY: Duration = Duration::from_millis(50);

/// How long a client may go on sending after it has received its last answer.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// The time that a refused client may be silent before the server assumes that the client has sent
/// everything. If the server knows that the client is sending, this time is [`PAUSE`].
const QUIET: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_secs(2);

/// How long a client may go on sending after it was turned away.
pub(crate) const LONGEST: Duration = Duration::from_secs(5);

/// How long a client may take to receive the rest of its answer after the client's task was cancelled.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(500);

/// Whether a client continues to send after it has received its last answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StillSending {
    /// The client has announced that it will send no more bytes.
    No,
    /// The client is sending if there are bytes to read.
    Perhaps,
    /// The server has already read a part of what the client sends.
    Yes,
}

impl StillSending {
    /// Returns whether a client sends more after the answer to its last request.
    pub(crate) fn behind(conversation: &Conversation) -> StillSending {
        match conversation.has_unread() {
            true => StillSending::Yes,
            // The client has announced its last request, and must not send more (RFC 9112, 9.6).
            false if conversation.is_the_clients_last() => StillSending::No,
            false => StillSending::Perhaps,
        }
    }
}

/// Decides how long the server continues to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lingering {
    quiet: Duration,
    /// How long the client may pause after it has sent something.
    pause: Duration,
    longest: Duration,
    began: Instant,
    heard: Instant,
}

impl Lingering {
    fn new(quiet: Duration, pause: Duration, longest: Duration, now: Instant) -> Lingering {
        Lingering { quiet, pause, longest, began: now, heard: now }
    }

    /// Lingers for a client that has received its last answer.
    pub(crate) fn briefly(now: Instant) -> Lingering {
        Lingering::new(BRIEFLY, BRIEFLY, LAST_BYTES, now)
    }

    /// Lingers for a client whose time is over. Other clients may be waiting for the thread, so the server
    /// stops as soon as a read returns no bytes.
    pub(crate) fn for_one_read(now: Instant) -> Lingering {
        Lingering::new(Duration::ZERO, BRIEFLY, LAST_BYTES, now)
    }

    /// Lingers for a client whose request was refused, or for which there was no room. `is_sending` means
    /// that the client has announced more bytes than have arrived.
    pub(crate) fn refused(is_sending: bool, longest: Duration, now: Instant) -> Lingering {
        Lingering::new(if is_sending { PAUSE } else { QUIET }, PAUSE, longest, now)
    }

    /// Restarts the time at `now`.
    pub(crate) fn from(self, now: Instant) -> Lingering {
        Lingering { began: now, heard: now, ..self }
    }

    /// Records that bytes have arrived.
    pub(crate) fn heard(&mut self, now: Instant) {
        (self.heard, self.quiet) = (now, self.pause);
    }

    /// Returns the time at which the connection is closed if no more bytes arrive before that time.
    /// `is_cancelled` means that the server has no more time for this client.
    pub(crate) fn deadline(&self, is_cancelled: bool) -> Instant {
        let longest = if is_cancelled { self.longest.min(LAST_WORDS) } else { self.longest };
        (self.heard + self.quiet).min(self.began + longest)
    }
}
