//! One connection of the site: reads requests with the `servers` library, and sends answers, some of which
//! break the HTTP rules on purpose.

use super::answer::{Answer, Reply};
use super::log::Log;
use super::site::Site;
use executor::{CancelToken, CancellableStream};
use servers::Limits;
use servers::http::{Conversation, Step};
use socket2::SockRef;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The number of bytes that are read at once.
const READ: usize = 8 << 10;

/// The data that all connections share.
pub(super) struct Shared {
    pub(super) site: Site,
    pub(super) log: Log,
    pub(super) stop: CancelToken,
    pub(super) limits: Limits,
}

/// Serves a client until one side closes the connection.
pub(super) fn serve(stream: TcpStream, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    shared.log.open();
    let mut connection = Connection { stream: CancellableStream::new(stream, &shared.stop), shared };
    let _ = connection.converse(); // clients leave, and the site cuts off answers
    drop(connection);
    shared.log.close();
}

struct Connection<'s> {
    stream: CancellableStream,
    shared: &'s Shared,
}

impl Connection<'_> {
    /// Answers requests. An error means that the connection broke, or that the site broke it on purpose.
    fn converse(&mut self) -> io::Result<()> {
        let mut conversation = Conversation::new(&self.shared.limits, Instant::now());
        let mut buffer = [0; READ];
        loop {
            match conversation.step() {
                Ok(Step::Read) => match self.stream.read(&mut buffer)? {
                    0 => conversation.ended(),
                    count => conversation.arrived(&buffer[..count], Instant::now()),
                },
                Ok(Step::Expectation) => self.stream.write_all(conversation.go_ahead())?,
                Ok(Step::Request) => {
                    let stays = self.exchange(&conversation)?;
                    conversation.answered(Instant::now());
                    if !stays {
                        return self.wait_for_the_end();
                    }
                }
                Ok(Step::Over) => return Ok(()),
                Err(refusal) => {
                    let status = refusal.status().code();
                    self.stream.write_all(&Reply::error(status).bytes(false, true))?;
                    return self.wait_for_the_end();
                }
            }
        }
    }

    /// Answers a request, and returns true if another request may follow.
    fn exchange(&mut self, conversation: &Conversation) -> io::Result<bool> {
        let Shared { site, log, stop, .. } = self.shared;
        let request = conversation.request();
        log.note(request.target);
        let takes_gzip = request.header("Accept-Encoding").is_some_and(|value| value.contains("gzip"));
        let delay = site.delay(request.target);
        if !delay.is_zero() {
            stop.sleep(delay)?;
        }
        let answer = match request.method {
            "GET" | "HEAD" => site.answer(request.target, takes_gzip),
            _ => Answer::Whole(Reply::error(405)),
        };
        self.send(answer, conversation.may_go_on(), request.method != "HEAD")
    }

    /// Sends an answer, and returns true if another request may follow. An incomplete answer ends with an
    /// error.
    fn send(&mut self, answer: Answer, stays: bool, wants_body: bool) -> io::Result<bool> {
        match answer {
            Answer::Chunked(reply) if wants_body => {
                self.stream.write_all(&reply.chunked(stays, false)).map(|()| stays)
            }
            Answer::Whole(reply) | Answer::Chunked(reply) => {
                self.stream.write_all(&reply.bytes(stays, wants_body)).map(|()| stays)
            }
            Answer::Broken { bytes, resets } => {
                self.stream.write_all(&bytes)?;
                // A connection whose linger time is zero is reset when it is closed.
                let linger = resets.then_some(Duration::ZERO);
                let _ = SockRef::from(self.stream.get_ref()).set_linger(linger);
                Err(io::ErrorKind::UnexpectedEof.into())
            }
            Answer::Endless { first, again } => {
                self.stream.write_all(&first)?;
                loop {
                    self.stream.write_all(&again)?; // until the client has enough
                }
            }
        }
    }

    /// Shuts down our side of the connection, and reads until the client closes its side.
    fn wait_for_the_end(&mut self) -> io::Result<()> {
        self.stream.get_ref().shutdown(std::net::Shutdown::Write)?;
        io::copy(&mut self.stream, &mut io::sink()).map(drop)
    }
}
