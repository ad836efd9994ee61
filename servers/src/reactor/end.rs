//! How a connection of an event loop ends. What a blocking stage does in the same places is told in `client.rs`.

use super::Stop;
use crate::client::{LAST_BYTES, LAST_WORDS, SLICE, StillSending};
use crate::http::Conversation;
use crate::server::still_sending;
use std::time::{Duration, Instant};

/// How a connection ends when everything is sent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Manner {
    /// Nothing more can come, or nobody is there.
    AtOnce,
    /// At once, unless something has arrived.
    Unless(Lingering),
    Linger(Lingering),
}

impl Manner {
    /// The end behind an answer to a request that was read whole.
    pub(super) fn after_an_answer(conversation: &Conversation, now: Instant) -> Manner {
        let briefly = Lingering::briefly(now);
        match still_sending(conversation) {
            StillSending::No => Manner::AtOnce,
            StillSending::Perhaps => Manner::Unless(briefly),
            StillSending::Yes => Manner::Linger(briefly),
        }
    }
}

/// The sending side is ended; what comes is thrown away, until the client has been silent for long enough.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lingering {
    quiet: Duration,
    /// The same, once something has come.
    pause: Duration,
    longest: Duration,
    began: Instant,
    heard: Instant,
}

impl Lingering {
    pub(super) fn new(quiet: Duration, pause: Duration, longest: Duration, now: Instant) -> Lingering {
        Lingering { quiet, pause, longest, began: now, heard: now }
    }

    /// For a client that has its answer, and nothing more to expect.
    pub(super) fn briefly(now: Instant) -> Lingering {
        Lingering::new(SLICE, SLICE, LAST_BYTES, now)
    }

    /// It begins only now.
    pub(super) fn from(self, now: Instant) -> Lingering {
        Lingering { began: now, heard: now, ..self }
    }

    /// Something has come.
    pub(super) fn heard(&mut self, now: Instant) {
        (self.heard, self.quiet) = (now, self.pause);
    }

    pub(super) fn deadline(&self, stop: Stop) -> Instant {
        let longest = if stop == Stop::Cancelled { self.longest.min(LAST_WORDS) } else { self.longest };
        (self.heard + self.quiet).min(self.began + longest)
    }
}
