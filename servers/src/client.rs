//! One client that is being served: waits that end, and a close that does not take the answer back.
//!
//! # Waiting
//!
//! No wait for a client is without an end: reads come back every [50 ms](SLICE), so whoever loops over them checks its
//! own deadline, and writes keep a [pace](crate::writer). The token of the task that serves the client reaches its
//! waits, too. A read whose task is cancelled comes back within a slice, and its reader asks
//! [`is_cancelled`](Client::is_cancelled); a write ends soon after.
//!
//! # Closing
//!
//! Closing a socket with unread bytes makes TCP send a reset, and so do bytes that arrive later. A reset can overtake
//! the answer that was sent just before: the client sees "connection reset" in place of the answer. So the sending
//! side is ended first, and what the client still sends is read and thrown away, for a bounded time. That costs a
//! thread, so it is done only for a client that is still sending:
//!
//! | the answer was | reads on | at most until the client is silent for | at most for |
//! |---|---|---|---|
//! | to a request that was read whole, and nothing more has arrived | no | | |
//! | to a request that was read whole, and more has arrived | yes | 50 ms | 500 ms |
//! | 408: the client did not send in time | yes | 50 ms, or less if the time for a head is less | 500 ms |
//! | any other refusal | yes | 500 ms; 2 s if it is known to be sending | `--linger-timeout` |

use crate::http::Presence;
use crate::limits::Limits;
use crate::writer::Writer;
use executor::CancelToken;
use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long a read or a write waits before it looks up: whether its deadline has passed, whether its task was
/// cancelled, and whether the server would rather have its thread back.
const SLICE: Duration = Duration::from_millis(50);

/// How long a client that was refused may be silent before it is taken to have sent everything; and how long it may
/// pause if it has sent something since.
pub(crate) const QUIET: Duration = Duration::from_millis(500);
pub(crate) const PAUSE: Duration = Duration::from_secs(2);

/// How long a client that has its answer, and nothing more to expect, may go on sending.
const LAST_BYTES: Duration = Duration::from_millis(500);

/// How long a client may take for what is left of its answer once the task that serves it is cancelled.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(500);

/// A connection that is being served.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    peer: SocketAddr,
    /// The token of the task that serves it.
    task: CancelToken,
}

/// What one read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// This many bytes, at least one.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// The client has finished sending.
    End,
}

impl Client {
    pub(crate) fn new(stream: TcpStream, peer: SocketAddr, limits: &Limits) -> io::Result<Client> {
        // Responses leave in as few writes as they can, so waiting to merge small ones only delays them.
        stream.set_nodelay(true)?;
        // Once per connection: a time-out set before each read would cost a system call each.
        stream.set_read_timeout(Some(SLICE.min(limits.header_timeout)))?;
        // On Windows nobody knows how much a write sent that timed out, so it cannot be carried on with there.
        let write_slice = if cfg!(windows) { limits.write_timeout } else { SLICE.min(limits.write_timeout) };
        stream.set_write_timeout(Some(write_slice))?;
        Ok(Client { stream, peer, task: CancelToken::current() })
    }

    /// The client's address.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Whether the task that serves this client was told to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.task.is_cancelled()
    }

    /// Reads once into `bytes`, which must not be empty.
    pub(crate) fn receive(&self, bytes: &mut [u8]) -> io::Result<Received> {
        match (&self.stream).read(bytes) {
            Ok(0) => Ok(Received::End),
            Ok(count) => Ok(Received::Bytes(count)),
            Err(error) if is_nothing_yet(&error) => Ok(Received::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Writes one answer, at the pace that `limits` ask for.
    pub(crate) fn writer(&self, limits: &Limits) -> Writer<'_> {
        Writer::new(self, limits)
    }

    /// Closes after the last answer to a client whose requests were read whole. Waits only if the client has gone on
    /// sending: `is_sending` says that the server has read part of it.
    pub(crate) fn finish(self, is_sending: bool) {
        if is_sending || self.has_unread() {
            self.drain(SLICE, SLICE, LAST_BYTES);
        }
    }

    /// Closes after the client was told that its time is up. Most of them send nothing more, and many of them may stand
    /// in line for this thread, so the first read that brings nothing is the last.
    pub(crate) fn finish_late(self) {
        self.drain(Duration::ZERO, SLICE, LAST_BYTES);
    }

    /// Closes after a request was refused that the client may still be sending. Without this it would, as often as
    /// not, find the connection reset, and never see why.
    ///
    /// `is_sending` says that the client has announced more than has arrived.
    pub(crate) fn linger(self, is_sending: bool, longest: Duration) {
        self.drain(if is_sending { PAUSE } else { QUIET }, PAUSE, longest);
    }

    fn has_unread(&self) -> bool {
        // Not blocking for this one look; the portable way to say so.
        self.stream.set_nonblocking(true).is_ok()
            && matches!(self.stream.peek(&mut [0]), Ok(1))
            && self.stream.set_nonblocking(false).is_ok()
    }

    /// Ends the sending side, then throws away what arrives, until the client ends its side or is silent for `quiet`;
    /// for `pause`, once something has arrived; and until `longest` is over.
    fn drain(&self, mut quiet: Duration, pause: Duration, longest: Duration) {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let began = Instant::now();
        let mut heard = began;
        let mut discarded = [0; 16 * 1024];
        loop {
            let received = self.receive(&mut discarded);
            let now = Instant::now();
            match received {
                Ok(Received::Bytes(_)) => (heard, quiet) = (now, pause),
                Ok(Received::Nothing) if now - heard < quiet => {}
                _ => return,
            }
            let longest = if self.is_cancelled() { longest.min(LAST_WORDS) } else { longest };
            if now - began >= longest {
                return;
            }
        }
    }
}

impl Presence for Client {
    fn has_left(&self) -> bool {
        let look = || {
            self.stream.set_nonblocking(true)?;
            let seen = self.stream.peek(&mut [0]);
            self.stream.set_nonblocking(false).and(seen)
        };
        match look() {
            Ok(count) => count == 0,
            Err(error) => !is_nothing_yet(&error),
        }
    }
}

/// Whether a read or a write has only run out of time, or was interrupted.
pub(crate) fn is_nothing_yet(error: &io::Error) -> bool {
    // Which of the first two an expired time-out gives depends on the platform.
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn small_answers_are_not_held_back() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, peer) = listener.accept().unwrap();
        assert!(!stream.nodelay().unwrap(), "what the system does unless told otherwise");
        let client = Client::new(stream, peer, &Limits::default()).unwrap();
        assert!(client.stream.nodelay().unwrap());
    }
}
