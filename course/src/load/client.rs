//! One polite connection: it sends a request, waits for the answer, and sends the next request.
//!
//! A task of the client pool runs each `Client` and blocks a thread, as in the servers of the course. The
//! token of the run ends every wait of the client: when the token is cancelled, a sleep ends, and the
//! client's socket is shut down.
//!
//! A server may close a connection between two requests, just when the client sends the next one. As browsers
//! do, the client then sends the request again on a new connection. The request is a GET, so sending it twice
//! does no harm. If the server closes a connection, this is a failure only if the connection has not answered
//! any request yet. So a request is sent again only if an earlier request got an answer, and the number of
//! repetitions is bounded.

use super::answer::{Answers, Failure};
use super::schedule::{Schedule, Ticket};
use super::tally::{Live, Tally};
use super::target::Target;
use executor::{CancelToken, CancellableStream};
use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The pause of a client after a failed connection; without it, the client would send requests to a dead
/// server in a busy loop.
const PAUSE: Duration = Duration::from_millis(5);

/// The settings that all polite clients of a run share.
#[derive(Debug)]
pub(crate) struct Manner {
    pub(crate) target: Target,
    pub(crate) keep_alive: bool,
    pub(crate) pipeline: usize,
    pub(crate) timeout: Duration,
    pub(crate) schedule: Schedule,
    pub(crate) stop: CancelToken,
    pub(crate) live: Live,
}

struct Connection {
    answers: Answers<CancellableStream>,
    /// True if the connection has answered at least one request.
    proved: bool,
}

struct Client<'m> {
    manner: &'m Manner,
    /// The bytes of the requests that are sent together.
    requests: Vec<u8>,
    connection: Option<Connection>,
    tally: Tally,
}

/// Sends requests until the schedule has no more, or until the run is stopped.
pub(crate) fn run(manner: &Manner) -> Tally {
    let requests = manner.target.request(manner.keep_alive).repeat(manner.pipeline);
    let mut client = Client { manner, requests, connection: None, tally: Tally::new() };
    let mut batch = Vec::with_capacity(manner.pipeline);
    while client.next_batch(&mut batch) {
        client.exchange(&batch);
    }
    client.tally
}

impl Client<'_> {
    /// Waits until the next request is due. Adds the other requests that are already due, so that all
    /// requests of the batch are sent before their answers are read.
    fn next_batch(&self, batch: &mut Vec<Ticket>) -> bool {
        batch.clear();
        let Manner { schedule, stop, pipeline, .. } = self.manner;
        let Some(first) = (!stop.is_cancelled()).then(|| schedule.take()).flatten() else { return false };
        let wait = first.due.saturating_duration_since(Instant::now());
        if !wait.is_zero() && stop.sleep(wait).is_err() {
            return false;
        }
        batch.push(first);
        while batch.len() < *pipeline
            && let Some(next) = schedule.take_due()
        {
            batch.push(next);
        }
        true
    }

    fn exchange(&mut self, batch: &[Ticket]) {
        let deadline = Instant::now() + self.manner.timeout;
        let mut answered = 0;
        while answered < batch.len() {
            if let Err(failure) = self.attempt(batch, &mut answered, deadline) {
                let left = batch.len() - answered;
                if self.manner.stop.is_cancelled() {
                    return self.give_up(Failure::Stopped, left);
                }
                if !self.closed_between_requests(failure) {
                    return self.give_up(failure, left);
                }
                self.tally.retries += left as u64;
                self.connection = None;
            }
        }
    }

    /// Sends the requests that have no answer, and reads answers until one of them ends the connection.
    fn attempt(&mut self, batch: &[Ticket], answered: &mut usize, deadline: Instant) -> Result<(), Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect(deadline)?,
        };
        let one = self.requests.len() / self.manner.pipeline;
        let requests = &self.requests[..one * (batch.len() - *answered)];
        let sent = connection.answers.stream().write_all(requests);
        while *answered < batch.len() {
            let answer = match (connection.answers.next(deadline), &sent) {
                (Ok(answer), _) => answer,
                (Err(_), Err(error)) => {
                    self.connection = Some(connection);
                    return Err(Failure::of_transfer(error.kind()));
                }
                (Err(failure), Ok(())) => {
                    self.connection = Some(connection);
                    return Err(failure);
                }
            };
            let now = Instant::now();
            self.tally.answer(&answer, batch[*answered].due, now);
            self.manner.live.answered();
            *answered += 1;
            connection.proved = true;
            if !answer.stays || !self.manner.keep_alive {
                self.tally.retries += (batch.len() - *answered) as u64;
                return Ok(());
            }
        }
        self.connection = Some(connection);
        Ok(())
    }

    fn connect(&self, deadline: Instant) -> Result<Connection, Failure> {
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let stream =
            TcpStream::connect_timeout(&self.manner.target.addr, left).map_err(|error| {
                match error.kind() {
                    ErrorKind::ConnectionRefused => Failure::ConnectRefused,
                    ErrorKind::TimedOut | ErrorKind::WouldBlock => Failure::ConnectTimedOut,
                    ErrorKind::ConnectionReset => Failure::Reset,
                    _ => Failure::ConnectFailed,
                }
            })?;
        let timeout = Some(self.manner.timeout);
        stream
            .set_nodelay(true)
            .and_then(|()| stream.set_read_timeout(timeout))
            .and_then(|()| stream.set_write_timeout(timeout))
            .map_err(|_| Failure::ConnectFailed)?;
        let stream = CancellableStream::new(stream, &self.manner.stop);
        Ok(Connection { answers: Answers::new(stream), proved: false })
    }

    fn closed_between_requests(&self, failure: Failure) -> bool {
        matches!(failure, Failure::Closed | Failure::Reset)
            && self
                .connection
                .as_ref()
                .is_some_and(|connection| connection.proved && connection.answers.is_empty())
    }

    fn give_up(&mut self, failure: Failure, requests: usize) {
        self.tally.fail(failure, requests);
        self.manner.live.failed(requests);
        self.connection = None;
        let _ = self.manner.stop.sleep(PAUSE);
    }
}
