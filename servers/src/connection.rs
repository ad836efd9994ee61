use crate::http::{Client, Refusal};
use crate::limits::Limits;
use executor::CancelToken;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long a read or a write waits before it looks up: whether its deadline has passed, whether its task was
/// cancelled, and whether the server would rather have its thread back.
const SLICE: Duration = Duration::from_millis(50);

/// How long, and for how many bytes, a closing connection goes on reading what the client still sends.
const LINGER: Duration = Duration::from_millis(500);
const LINGER_BYTES: usize = 1024 * 1024;

/// How long a client may take for each chunk of an answer once the task that serves it is cancelled.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long a client that is turned away may hold up the thread that does it.
const TURN_AWAY: Duration = Duration::from_millis(10);

/// One accepted client, on its way to being served.
///
/// [`Server::serve`](crate::server::Server::serve) consumes it. One that is dropped *instead* answers 503 first.
/// So whatever happens to the task that holds it (refused by the pool, discarded from its queue, handed back by
/// `shutdown_now` and thrown away), the client gets an answer, and no accept loop needs code for that.
///
/// # Blocking
///
/// No wait on a connection is without an end: reads come back every [50 ms](SLICE), so whoever loops over them
/// checks its own deadline, and writes have the write time-out.
///
/// # Cancellation
///
/// The token of the task that serves the connection reaches its waits. A read whose task is cancelled comes back
/// within a slice, and its reader asks [`is_cancelled`](Connection::is_cancelled); a write ends soon after.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    /// The token of the task that serves it, once one does.
    task: Option<CancelToken>,
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

impl Connection {
    pub(crate) fn new(stream: TcpStream, peer: SocketAddr) -> Connection {
        Connection { stream, peer, task: None }
    }

    /// The client's address.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Makes ready for being served by the current task; from here on, dropping it only closes it.
    pub(crate) fn take(&mut self, limits: &Limits) -> io::Result<()> {
        self.task = Some(CancelToken::current());
        // Responses leave in as few writes as they can, so waiting to merge small ones only delays them.
        self.stream.set_nodelay(true)?;
        // Once per connection: a time-out set before each read would cost a system call each.
        self.stream.set_read_timeout(Some(SLICE.min(limits.header_timeout)))?;
        // On Windows nobody knows how much a write sent that timed out, so it cannot be carried on with there.
        let write_slice = if cfg!(windows) { limits.write_timeout } else { SLICE.min(limits.write_timeout) };
        self.stream.set_write_timeout(Some(write_slice))
    }

    /// Whether the task that serves this connection was told to stop.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.task.as_ref().is_some_and(CancelToken::is_cancelled)
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

    /// Writes to the client; each `write_all` has to be done within `timeout`, however slowly the client reads.
    pub(crate) fn writer(&self, timeout: Duration) -> DeadlineWriter<'_> {
        DeadlineWriter { connection: self, timeout }
    }

    /// Ends the sending side, then reads away what the client still sends, for a bounded time.
    ///
    /// Closing a socket with unread bytes makes TCP send a reset, and a reset can overtake the answer that was
    /// sent just before: the client would see "connection reset" in place of the reason.
    pub(crate) fn linger(&self) {
        self.end_and_drain(LINGER, LINGER);
    }

    /// Ends an exchange that went well: as [`linger`](Connection::linger), but a client that keeps quiet is not
    /// waited for.
    pub(crate) fn finish(&self) {
        self.end_and_drain(Duration::ZERO, LINGER);
    }

    /// Gives up on a client that has been quiet when `quiet` is over, and on any when `longest` is.
    fn end_and_drain(&self, quiet: Duration, longest: Duration) {
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let began = Instant::now();
        let mut discarded = [0; 4096];
        let mut left = LINGER_BYTES;
        loop {
            let patience = match self.receive(&mut discarded) {
                Ok(Received::Bytes(count)) if count < left => {
                    left -= count;
                    longest
                }
                Ok(Received::Nothing) => quiet,
                _ => return,
            };
            if began.elapsed() >= patience {
                return;
            }
        }
    }

    fn turn_away(&self) -> io::Result<()> {
        self.stream.set_read_timeout(Some(TURN_AWAY))?;
        self.stream.set_write_timeout(Some(TURN_AWAY))?;
        let mut answer = Vec::new();
        let response = Refusal::Overloaded.response();
        response.append_head(Some("close"), &mut answer);
        response.send(&mut answer, &mut &self.stream)?;
        self.end_and_drain(TURN_AWAY, TURN_AWAY);
        Ok(())
    }
}

impl Client for Connection {
    fn has_left(&self) -> bool {
        let look = || {
            self.stream.set_nonblocking(true)?; // with its time-out, the look would take a slice
            let seen = self.stream.peek(&mut [0]);
            self.stream.set_nonblocking(false).and(seen)
        };
        match look() {
            Ok(count) => count == 0,
            Err(error) => !is_nothing_yet(&error),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.task.is_none() {
            // A client that is gone already needs no answer.
            let _ = self.turn_away();
        }
    }
}

fn is_nothing_yet(error: &io::Error) -> bool {
    // Which of the first two an expired time-out gives depends on the platform.
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Writes that end.
///
/// The socket's own time-out starts anew whenever the client takes a byte. This one is for a whole `write_all`, so
/// a client has to take each chunk of a response in time; in less time, once the task is cancelled.
pub(crate) struct DeadlineWriter<'c> {
    connection: &'c Connection,
    timeout: Duration,
}

impl DeadlineWriter<'_> {
    fn patience(&self) -> Duration {
        if self.connection.is_cancelled() { self.timeout.min(LAST_WORDS) } else { self.timeout }
    }
}

impl Write for DeadlineWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&self.connection.stream).write(bytes)
    }

    fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let began = Instant::now();
        while !bytes.is_empty() {
            match self.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if is_nothing_yet(&error) => {}
                Err(error) => return Err(error),
            }
            if !bytes.is_empty() && began.elapsed() >= self.patience() {
                return Err(ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
        let mut connection = Connection::new(stream, peer);
        connection.take(&Limits::default()).unwrap();
        assert!(connection.stream.nodelay().unwrap());
    }
}
