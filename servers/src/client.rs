//! A client that a thread serves: every wait for the client has a limit, and an answer is a single write if
//! possible.
//!
//! Every wait for a client has a limit. A read returns at a time that the caller gives, or after [50
//! ms](SLICE), so that the caller can check for other reasons to end the wait. A write is limited by a
//! [budget](crate::write_budget). If the task that serves the client is cancelled, the task's token also ends
//! these waits. A read returns within a slice, or at once if its wait may be longer than a slice; a write
//! returns soon afterwards. After a read, the caller checks [`is_cancelled`](Client::is_cancelled).
//!
//! [`lingering`](crate::lingering) decides how long the server continues to read after the last answer.

use crate::crowd::Place;
use crate::http::Presence;
use crate::limits::Limits;
use crate::lingering::{LAST_WORDS, Lingering, StillSending};
use crate::write_budget::WriteBudget;
use executor::{CancelToken, Registration};
use std::cell::{Cell, OnceCell};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest time that one system call of a read or write waits. After this time, the thread checks whether
/// its deadline has passed, whether its task was cancelled, and whether the server needs the thread.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// The shortest time-out of a socket: not zero, because the system takes zero to mean "no time-out".
const SHORTEST: Duration = Duration::from_millis(1);

/// A connection that is being served.
#[derive(Debug)]
pub(crate) struct Client {
    /// Rust drops the fields in their order, and this field must be dropped first: when a client sees the end
    /// of its connection, the place of this connection is already free for another connection.
    _place: Option<Place>,
    stream: Arc<TcpStream>,
    peer: SocketAddr,
    /// The token of the task that serves the client.
    task: CancelToken,
    reads: Waits,
    writes: Waits,
    /// The registration of a callback that ends a long wait when the task is cancelled.
    wakes: OnceCell<Registration>,
}

/// The time for which one read or one write waits. The socket gets this time-out only before the first call
/// that must wait. Many connections never wait: their only request has already arrived, and there is room for
/// their only answer.
#[derive(Debug)]
struct Waits {
    longest: Duration,
    set: Cell<Option<Duration>>,
}

/// The time for which one read may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The read waits for a [slice](SLICE) at most.
    ASlice,
    /// The read waits until this time, or at most a slice longer. Only the cancellation of the task can end
    /// the wait earlier.
    Until(Instant),
}

/// The result of one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// The read has returned this many bytes, at least one.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// The client has finished sending.
    End,
}

impl Client {
    pub(crate) fn new(
        stream: TcpStream,
        peer: SocketAddr,
        place: Option<Place>,
        limits: &Limits,
    ) -> io::Result<Client> {
        // On Linux the socket inherits this option from the listener.
        if !cfg!(target_os = "linux") {
            stream.set_nodelay(true)?;
        }
        let waits = |longest| Waits { longest, set: Cell::new(None) };
        // On Windows a write that timed out does not report how many bytes it sent, so the writer cannot
        // continue this write.
        let write_slice = if cfg!(windows) { limits.write_timeout } else { SLICE.min(limits.write_timeout) };
        Ok(Client {
            _place: place,
            stream: Arc::new(stream),
            peer,
            task: CancelToken::current(),
            reads: waits(SLICE.min(limits.header_timeout)),
            writes: waits(write_slice),
            wakes: OnceCell::new(),
        })
    }

    /// Returns the client's address.
    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Returns whether the task that serves this client was told to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.task.is_cancelled()
    }

    /// Reads once into `bytes`, which must not be empty.
    pub(crate) fn receive(&self, bytes: &mut [u8], wait: Wait) -> io::Result<Received> {
        match self.read(bytes, wait) {
            Ok(0) if wait != Wait::ASlice && self.is_cancelled() => Ok(Received::Nothing),
            Ok(0) => Ok(Received::End),
            Ok(count) => Ok(Received::Bytes(count)),
            Err(error) if is_nothing_yet(&error) => Ok(Received::Nothing),
            Err(error) => Err(error),
        }
    }

    fn read(&self, bytes: &mut [u8], wait: Wait) -> io::Result<usize> {
        if self.reads.set.get().is_none() {
            match at_once::read(&self.stream, bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
        let longest = match wait {
            Wait::ASlice => self.reads.longest,
            Wait::Until(deadline) => {
                self.wake_when_cancelled();
                deadline.saturating_duration_since(Instant::now()).max(SHORTEST)
            }
        };
        // If the socket's current time-out is nearly right, the socket keeps it: usually the wait is as long
        // as before, and no system call is needed.
        if self.reads.set.get().is_none_or(|set| set > longest + SLICE || set < longest / 2) {
            self.stream.set_read_timeout(Some(longest))?;
            self.reads.set.set(Some(longest));
        }
        (&*self.stream).read(bytes)
    }

    /// From now on, cancelling the task ends a read that waits.
    fn wake_when_cancelled(&self) {
        self.wakes.get_or_init(|| {
            let stream = Arc::downgrade(&self.stream);
            self.task.on_cancel(move || {
                // The read then returns no bytes, but the server still answers the incomplete request.
                let _ = stream.upgrade().map(|stream| stream.shutdown(Shutdown::Read));
            })
        });
    }

    /// Calls `write` once; if there is no room, the call waits for a slice at most.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        if self.writes.set.get().is_none() {
            match at_once::write(&self.stream, bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                result => return result,
            }
            self.stream.set_write_timeout(Some(self.writes.longest))?;
            self.writes.set.set(Some(self.writes.longest));
        }
        (&*self.stream).write(bytes)
    }

    /// Returns the writer of one answer, with the budget that `limits` gives to the answer.
    pub(crate) fn writer(&self, limits: &Limits) -> Writer<'_> {
        Writer { client: self, budget: WriteBudget::new(limits, Instant::now()), taken: 0 }
    }

    /// Closes the connection after the last answer to a client whose requests were all read completely. Waits
    /// only if the client continues to send.
    pub(crate) fn finish(self, still_sending: StillSending) {
        let has_more = match still_sending {
            StillSending::No => false,
            StillSending::Perhaps => matches!(at_once::look(&self.stream), Ok(1..)),
            StillSending::Yes => true,
        };
        if has_more {
            self.linger(Lingering::briefly(Instant::now()));
        }
    }

    /// Ends the sending side, then reads and discards bytes until the client ends its side or the time is
    /// over.
    pub(crate) fn linger(self, mut lingering: Lingering) {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let mut discarded = [0; 16 * 1024];
        loop {
            let received = self.receive(&mut discarded, Wait::ASlice);
            let now = Instant::now();
            match received {
                Ok(Received::Bytes(_)) => lingering.heard(now),
                Ok(Received::Nothing) => {}
                _ => return,
            }
            if now >= lingering.deadline(self.is_cancelled()) {
                return;
            }
        }
    }
}

impl Presence for Client {
    fn has_left(&self) -> bool {
        match at_once::look(&self.stream) {
            Ok(count) => count == 0,
            Err(error) => !is_nothing_yet(&error),
        }
    }
}

/// Writes one answer to a client, within its [budget](crate::write_budget).
pub(crate) struct Writer<'c> {
    client: &'c Client,
    budget: WriteBudget,
    taken: u64,
}

impl Writer<'_> {
    /// Returns how many bytes were written: the system has taken these bytes, but the client may not have
    /// received them.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    fn check(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if self.client.is_cancelled() {
            self.budget.end_by(now + LAST_WORDS);
        }
        if now < self.budget.deadline() { Ok(()) } else { Err(ErrorKind::TimedOut.into()) }
    }
}

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.client.write(bytes)?;
        self.taken += count as u64;
        self.budget.earn(count, Instant::now());
        Ok(count)
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.taken > 0 {
                self.check()?;
            }
            match self.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if is_nothing_yet(&error) => self.check()?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns whether the error only means that a read or a write has timed out or was interrupted.
pub(crate) fn is_nothing_yet(error: &io::Error) -> bool {
    // A time-out returns one of the first two kinds of error; the platform decides which one.
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Non-blocking reads and writes.
#[cfg(unix)]
mod at_once {
    use rustix::net::{RecvFlags, SendFlags, recv, send};
    use std::io;
    use std::net::TcpStream;

    pub(super) fn read(stream: &TcpStream, bytes: &mut [u8]) -> io::Result<usize> {
        let (count, _) = recv(stream, bytes, RecvFlags::DONTWAIT)?;
        Ok(count)
    }

    pub(super) fn write(stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(stream, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
    }

    /// Returns 1 if there are bytes to read, and 0 if the client has ended its side.
    pub(super) fn look(stream: &TcpStream) -> io::Result<usize> {
        let (count, _) = recv(stream, &mut [0], RecvFlags::DONTWAIT | RecvFlags::PEEK)?;
        Ok(count)
    }
}

/// Some systems have no flag for a single non-blocking call; there the socket is made non-blocking during the
/// call.
#[cfg(not(unix))]
mod at_once {
    use std::io::{self, Read, Write};
    use std::net::TcpStream;

    pub(super) fn read(mut stream: &TcpStream, bytes: &mut [u8]) -> io::Result<usize> {
        without_waiting(stream, || stream.read(bytes))
    }

    pub(super) fn write(mut stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        without_waiting(stream, || stream.write(bytes))
    }

    pub(super) fn look(stream: &TcpStream) -> io::Result<usize> {
        without_waiting(stream, || stream.peek(&mut [0]))
    }

    fn without_waiting(stream: &TcpStream, call: impl FnOnce() -> io::Result<usize>) -> io::Result<usize> {
        stream.set_nonblocking(true)?;
        let result = call();
        stream.set_nonblocking(false).and(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listener::Listener;

    #[test]
    fn small_answers_are_not_held_back() {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let _client = TcpStream::connect(listener.local_addr()).unwrap();
        let connection = listener.incoming().next().unwrap();
        let client = connection.take(&Limits::default()).unwrap();
        assert!(client.stream.nodelay().unwrap());
    }

    #[test]
    fn the_system_is_told_of_a_time_out_before_the_first_wait() {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let mut peer = TcpStream::connect(listener.local_addr()).unwrap();
        peer.write_all(b"here already").unwrap();
        let client = listener.incoming().next().unwrap().take(&Limits::default()).unwrap();
        let mut bytes = [0; 100];
        // The byte may still be on its way through the network; in that case the first read waits for it.
        let has_waited = client.receive(&mut bytes, Wait::ASlice).unwrap() == Received::Nothing;
        assert_eq!(
            client.stream.read_timeout().unwrap().is_some(),
            has_waited || client.reads.set.get().is_some()
        );
        assert_eq!(client.receive(&mut bytes, Wait::ASlice).unwrap(), Received::Nothing);
        assert!(client.stream.read_timeout().unwrap() >= Some(SLICE));
        assert!(client.stream.write_timeout().unwrap().is_none());
        while client.write(&[0; 16_384]).is_ok() {}
        assert!(client.stream.write_timeout().unwrap() >= Some(SLICE));
    }
}
