//! The load: one thread that keeps all connections busy, and takes as little as it can from the server's processors.
//!
//! Each connection sends a request, waits for the whole answer, and sends the next. A load generator with a thread for
//! each of them would spend more than the servers do, and hide what they differ in.

use anyhow::{Context, ensure};
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// How long the server may be silent before that is an error.
const PATIENCE: Duration = Duration::from_secs(5);

const REQUEST: &[u8] = b"GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
const BODY: &[u8] = b"Hello, world!";

/// Open connections, each with a request on the way.
pub(crate) struct Clients {
    addr: SocketAddr,
    poll: Poll,
    events: Events,
    connections: Vec<Connection>,
}

struct Connection {
    stream: TcpStream,
    arrived: [u8; 1024],
    length: usize,
}

impl Clients {
    pub(crate) fn connect(addr: SocketAddr, count: usize) -> anyhow::Result<Clients> {
        let poll = Poll::new()?;
        let connections = (0..count).map(|number| Connection::open(addr, &poll, Token(number)));
        let connections = connections.collect::<anyhow::Result<_>>()?;
        Ok(Clients { addr, poll, events: Events::with_capacity(count), connections })
    }

    /// Counts the answers that come within `duration`.
    ///
    /// # Errors
    /// If an answer is not the one expected, or none comes for five seconds.
    pub(crate) fn count(&mut self, duration: Duration) -> anyhow::Result<Counted> {
        let began = Instant::now();
        let mut answers = 0;
        loop {
            self.poll.poll(&mut self.events, Some(PATIENCE))?;
            ensure!(!self.events.is_empty(), "no answer for {PATIENCE:?}");
            for token in self.events.iter().map(Event::token) {
                let exchanged = self.connections[token.0].exchange()?;
                answers += u64::from(matches!(exchanged, Exchanged::Answer | Exchanged::LastAnswer));
                // As a server may, between two requests. To connect anew is its price.
                if matches!(exchanged, Exchanged::LastAnswer | Exchanged::End) {
                    self.connections[token.0] = Connection::open(self.addr, &self.poll, token)?;
                }
            }
            let elapsed = began.elapsed();
            if elapsed >= duration {
                return Ok(Counted { answers, elapsed });
            }
        }
    }
}

/// What [`Clients::count`] saw.
pub(crate) struct Counted {
    pub(crate) answers: u64,
    pub(crate) elapsed: Duration,
}

/// What has come of the readiness of one connection.
enum Exchanged {
    /// Not enough yet for an answer.
    Nothing,
    /// An answer, and the next request was sent.
    Answer,
    /// The last answer on this connection.
    LastAnswer,
    /// The connection, between two answers.
    End,
}

impl Connection {
    /// Connects, and sends the first request.
    fn open(addr: SocketAddr, poll: &Poll, token: Token) -> anyhow::Result<Connection> {
        let stream = std::net::TcpStream::connect(addr).context("cannot connect")?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        poll.registry().register(&mut stream, token, Interest::READABLE)?;
        let mut connection = Connection { stream, arrived: [0; 1024], length: 0 };
        connection.ask()?;
        Ok(connection)
    }

    /// A request fits into the socket's buffer, since the one before it was answered.
    fn ask(&mut self) -> anyhow::Result<()> {
        match self.stream.write(REQUEST) {
            Ok(sent) => ensure!(sent == REQUEST.len(), "only part of a request could be sent"),
            // The server has closed the connection, which reading will show.
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {}
            Err(error) => return Err(error).context("cannot send"),
        }
        Ok(())
    }

    /// Takes what has arrived. If that is an answer, checks it and asks again.
    fn exchange(&mut self) -> anyhow::Result<Exchanged> {
        loop {
            ensure!(self.length < self.arrived.len(), "the answer is too long");
            match self.stream.read(&mut self.arrived[self.length..]) {
                Ok(count @ 1..) => self.length += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(Exchanged::Nothing),
                ended => {
                    ensure!(self.length == 0, "the connection ended within an answer ({ended:?})");
                    return Ok(Exchanged::End);
                }
            }
            let Some(Answer { stays }) = answer(&self.arrived[..self.length])? else { continue };
            if !stays {
                return Ok(Exchanged::LastAnswer);
            }
            self.length = 0;
            self.ask()?;
            // Whatever comes from now on is announced again, so there is no need to read until nothing is left.
            return Ok(Exchanged::Answer);
        }
    }
}

struct Answer {
    /// Whether the connection may be used again.
    stays: bool,
}

/// The answer, if it is complete. That it is the right one is checked, too: a fast error is not a fast server.
fn answer(arrived: &[u8]) -> anyhow::Result<Option<Answer>> {
    let mut fields = [httparse::EMPTY_HEADER; 16];
    let mut response = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(head) = response.parse(arrived)? else { return Ok(None) };
    ensure!(response.code == Some(200), "status {:?} in place of 200", response.code);
    let body = &arrived[head..];
    ensure!(BODY.starts_with(body), "not the body that was asked for");
    let closes = |field: &httparse::Header<'_>| {
        field.name.eq_ignore_ascii_case("Connection") && field.value.eq_ignore_ascii_case(b"close")
    };
    let stays = !response.headers.iter().any(closes);
    Ok((body.len() == BODY.len()).then_some(Answer { stays }))
}

#[cfg(test)]
mod tests {
    use super::answer;

    #[test]
    fn an_answer_is_complete_with_its_last_byte_and_must_be_the_right_one() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, world!";
        for end in 0..whole.len() {
            assert!(answer(&whole[..end]).unwrap().is_none(), "{end}");
        }
        assert!(answer(whole).unwrap().unwrap().stays);
        let last = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nHello, world!";
        assert!(!answer(last).unwrap().unwrap().stays);
        assert!(answer(&[&whole[..], b"!"].concat()).is_err(), "more than was asked for");
        assert!(answer(b"HTTP/1.1 503 Service Unavailable\r\n\r\n").is_err(), "a refusal is no answer");
    }
}
