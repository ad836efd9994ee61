//! Misbehaving clients, which every public server must expect.
//!
//! Each client connects, misbehaves until the server ends the connection, and connects again. The results
//! show the effect on the polite clients. The results also show, for each kind of misbehaviour, how the
//! server ended the connections, and how soon.

use super::target::Target;
use clap::ValueEnum;
use executor::{CancelToken, CancellableStream};
use serde::Serialize;
use socket2::SockRef;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The time for which a client waits for a connection, and the longest pause after a connection. Without the
/// pause, a client whose connections are closed at once would connect thousands of times in a second.
const CONNECT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

/// The interval at which a blocked read or write checks whether the run is over. On most systems the shutdown
/// of the socket wakes the thread at once; this check is for the other systems.
const LOOK: Duration = Duration::from_secs(1);

/// A way to misbehave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rudeness {
    /// Connects and says nothing
    Silent,
    /// Sends half a request and no more
    Half,
    /// Sends bytes that are no HTTP
    Garbage,
    /// Sends a request, and then resets the connection instead of waiting for the answer
    Reset,
    /// Sends request after request and never reads an answer
    NeverReads,
    /// Sends a whole request byte by byte, and reads the answer byte by byte
    Drip,
}

impl Rudeness {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Rudeness::Silent => "silent",
            Rudeness::Half => "half a request",
            Rudeness::Garbage => "garbage",
            Rudeness::Reset => "reset",
            Rudeness::NeverReads => "never reads",
            Rudeness::Drip => "drip",
        }
    }
}

/// Statistics about one kind of client: how its connections ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Fate {
    pub(crate) connections: u64,
    /// The client could not connect.
    pub(crate) refused: u64,
    /// The server sent at least something before the end, for instance the reason for closing.
    pub(crate) answered: u64,
    /// The server ended the connection.
    pub(crate) ended_by_server: u64,
    /// The client ended the connection because it had finished.
    pub(crate) ended_by_client: u64,
    /// The connection was still open when the run was over.
    pub(crate) held_to_the_end: u64,
    /// The longest time for which the server kept a connection of a client of this kind open, in
    /// milliseconds.
    pub(crate) longest_ms: u64,
}

impl Fate {
    pub(crate) fn add(&mut self, other: &Fate) {
        self.connections += other.connections;
        self.refused += other.refused;
        self.answered += other.answered;
        self.ended_by_server += other.ended_by_server;
        self.ended_by_client += other.ended_by_client;
        self.held_to_the_end += other.held_to_the_end;
        self.longest_ms = self.longest_ms.max(other.longest_ms);
    }
}

enum End {
    Server,
    Client,
    Run,
}

/// One rude client.
pub(crate) struct Rude {
    pub(crate) kind: Rudeness,
    pub(crate) target: Target,
    /// The pause of a dripping client between two bytes.
    pub(crate) drip: Duration,
    pub(crate) stop: CancelToken,
}

impl Rude {
    /// Misbehaves until the token stops the run.
    pub(crate) fn run(&self) -> Fate {
        let mut fate = Fate::default();
        while !self.stop.is_cancelled() {
            match TcpStream::connect_timeout(&self.target.addr, CONNECT) {
                Ok(stream) => self.meet(stream, &mut fate),
                Err(_) => fate.refused += 1,
            }
            let _ = self.stop.sleep(PAUSE);
        }
        fate
    }

    fn meet(&self, stream: TcpStream, fate: &mut Fate) {
        fate.connections += 1;
        let _ = stream.set_nodelay(true);
        let _ = stream.set_read_timeout(Some(LOOK)).and_then(|()| stream.set_write_timeout(Some(LOOK)));
        let stream = CancellableStream::new(stream, &self.stop);
        let start = Instant::now();
        let mut answered = false;
        let end = self.misbehave(stream.get_ref(), &mut answered);
        fate.answered += u64::from(answered);
        // After the cancellation has shut the socket down, the connection looks as if the server had closed
        // it.
        match if self.stop.is_cancelled() { End::Run } else { end } {
            End::Server => fate.ended_by_server += 1,
            End::Client => fate.ended_by_client += 1,
            End::Run => fate.held_to_the_end += 1,
        }
        fate.longest_ms = fate.longest_ms.max(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
    }

    fn misbehave(&self, stream: &TcpStream, answered: &mut bool) -> End {
        let request = self.target.request(true);
        match self.kind {
            Rudeness::Silent => self.listen(stream, answered),
            Rudeness::Half => self.say(stream, &request[..request.len() / 2], answered),
            Rudeness::Garbage => self.say(stream, b"\x16\x03\x01 not a request \xff\xfe\r\n\r\n", answered),
            Rudeness::Reset => {
                let _ = (&*stream).write_all(&request);
                // With this setting, closing the connection sends a reset.
                let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
                End::Client
            }
            Rudeness::NeverReads => self.never_read(stream, &request.repeat(64)),
            Rudeness::Drip => self.drip(stream, &self.target.request(false), answered),
        }
    }

    fn say(&self, mut stream: &TcpStream, bytes: &[u8], answered: &mut bool) -> End {
        let _ = stream.write_all(bytes);
        self.listen(stream, answered)
    }

    /// Reads until the server closes the connection.
    fn listen(&self, mut stream: &TcpStream, answered: &mut bool) -> End {
        let mut buffer = [0; 4096];
        while !self.stop.is_cancelled() {
            match stream.read(&mut buffer) {
                Ok(0) => return End::Server,
                Ok(_) => *answered = true,
                Err(error) if goes_on(error.kind()) => {}
                Err(_) => return End::Server,
            }
        }
        End::Run
    }

    /// Sends requests and never reads the answers. After some time the server reads no more requests,
    /// because it cannot send its answers.
    fn never_read(&self, mut stream: &TcpStream, requests: &[u8]) -> End {
        let mut sent = 0;
        while !self.stop.is_cancelled() {
            match stream.write(&requests[sent..]) {
                Ok(more) => sent = (sent + more) % requests.len(),
                Err(error) if goes_on(error.kind()) => {}
                Err(_) => return End::Server,
            }
        }
        End::Run
    }

    fn drip(&self, mut stream: &TcpStream, request: &[u8], answered: &mut bool) -> End {
        for byte in request {
            if stream.write_all(&[*byte]).is_err() {
                break; // the server has closed the connection, perhaps after sending a reason
            }
            if self.stop.sleep(self.drip).is_err() {
                return End::Run;
            }
        }
        let mut byte = [0];
        while !self.stop.is_cancelled() {
            match stream.read(&mut byte) {
                Ok(0) => return End::Server,
                Ok(_) => *answered = true,
                Err(error) if goes_on(error.kind()) => continue,
                Err(_) => return End::Server,
            }
            let _ = self.stop.sleep(self.drip);
        }
        End::Run
    }
}

/// Returns whether an error only says that our own time-out has passed.
fn goes_on(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
