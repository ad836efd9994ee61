//! One connection of the load generator.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;

use anyhow::{Context, ensure};
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Interest, Poll, Token};

use super::Script;
use super::answers::{Answer, Answers};

pub(super) struct Connection {
    stream: TcpStream,
    /// The number of bytes of the requests that the client has already sent.
    sent: usize,
    /// The number of answers that have not arrived yet.
    due: usize,
    /// The beginning of an answer whose end has not arrived yet.
    kept: Vec<u8>,
    /// True if an answer has said that it is the last answer on the connection.
    is_over: bool,
}

/// The result of the work on a connection that was ready.
pub(super) struct Progress {
    /// The number of answers that arrived.
    pub(super) came: u64,
    /// True if the connection has ended between two answers.
    pub(super) ended: bool,
}

impl Connection {
    /// Begins to connect, and sends the requests if the connection is established at once.
    pub(super) fn open(
        addr: SocketAddr,
        poll: &Poll,
        token: Token,
        script: &Script,
    ) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(addr).context("cannot connect")?;
        let mut connection =
            Connection { stream, sent: 0, due: script.depth, kept: Vec::new(), is_over: false };
        connection.send(script)?;
        let is_sent = connection.sent == script.requests.len();
        let interest = if is_sent { Interest::READABLE } else { Interest::READABLE | Interest::WRITABLE };
        poll.registry().register(&mut connection.stream, token, interest)?;
        Ok(connection)
    }

    /// Sends those bytes of the requests that have not been sent yet. Only a few bytes can remain, because
    /// the requests fit into the buffer of a connected socket.
    fn send(&mut self, script: &Script) -> anyhow::Result<()> {
        while self.sent < script.requests.len() {
            match self.stream.write(&script.requests[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The socket is not connected yet; when it is connected, an event will follow. It is also
                // possible that the server has closed the connection; the next read will show this.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock
                            | ErrorKind::NotConnected
                            | ErrorKind::BrokenPipe
                            | ErrorKind::ConnectionReset
                    ) =>
                {
                    break;
                }
                Err(error) => return Err(error).context("cannot send"),
            }
        }
        Ok(())
    }

    /// Sends the requests that could not be sent before; then reads and checks the bytes that have arrived.
    /// Sends new requests when all answers are complete.
    pub(super) fn go_on(
        &mut self,
        event: &Event,
        script: &Script,
        answers: &mut Answers,
        buffer: &mut [u8],
    ) -> anyhow::Result<Progress> {
        if event.is_writable() && self.sent < script.requests.len() {
            self.send(script)?;
        }
        let mut came = 0;
        loop {
            let arrived = match self.stream.read(buffer) {
                Ok(count @ 1..) => &buffer[..count],
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => {
                    return Ok(Progress { came, ended: false });
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                ended => {
                    came += self.last(answers).with_context(|| format!("the connection ended: {ended:?}"))?;
                    return Ok(Progress { came, ended: true });
                }
            };
            let was_all = arrived.len() < buffer.len();
            came += self.arrived(arrived, answers)?;
            let is_last = script.closes || self.is_over;
            if self.due == 0 && !is_last {
                self.due = script.depth;
                self.sent = 0;
                self.send(script)?;
            }
            // If bytes arrive later, an event announces them. But the end of the connection has probably
            // already arrived, and only a read notices this end.
            if was_all && !is_last {
                return Ok(Progress { came, ended: false });
            }
        }
    }

    /// Counts the answers in the bytes that have arrived, and keeps an incomplete answer.
    fn arrived(&mut self, arrived: &[u8], answers: &mut Answers) -> anyhow::Result<u64> {
        let kept = std::mem::take(&mut self.kept);
        let joined = if kept.is_empty() { Vec::new() } else { [&kept, arrived].concat() };
        let mut left = if kept.is_empty() { arrived } else { &joined };
        let before = self.due;
        while !left.is_empty()
            && let Some(Answer { length, stays }) = answers.next(left)?
        {
            ensure!(self.due > 0, "an answer that was not asked for");
            self.due -= 1;
            self.is_over |= !stays;
            left = &left[length..];
        }
        self.kept.extend_from_slice(left);
        Ok((before - self.due) as u64)
    }

    /// When the connection ends, counts a last answer even if it is shorter than the other answers.
    fn last(&mut self, answers: &Answers) -> anyhow::Result<u64> {
        if self.kept.is_empty() {
            return Ok(0);
        }
        let last = answers.parse(&self.kept)?.context("within an answer")?;
        ensure!(last.length == self.kept.len() && self.due > 0, "with more than was asked for");
        Ok(1)
    }
}
