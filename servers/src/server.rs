//! What the task of one connection does.
//!
//! A task of these servers is a *connection*: read a request, answer it, and again, until one side has enough.
//! Which thread does that, and how many connections are served at once, is not decided here. That is the
//! execution policy, the lesson of each binary.
//!
//! # How a connection ends
//!
//! - The client is done: it closes, or asked for `Connection: close`.
//! - It is idle and its thread is wanted: see [`Server::keep_alive_while`].
//! - It is idle for the idle time-out, or has sent nothing since it was opened for the header time-out.
//!   Nobody is owed an answer then, so it is just closed.
//! - A request cannot be read, or not in time: one [`Refusal`] is answered, then the connection is closed.
//! - The client does not take its answer in time, or is gone.

use crate::access_log::{AccessLog, Entry};
use crate::connection::{Connection, Received};
use crate::http::{Body, Refusal, Request, Response, Version};
use crate::input::Input;
use crate::limits::Limits;
use crate::site::Site;
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::time::{Duration, Instant};

/// How long a new connection may be silent before it counts as idle. Browsers open connections in advance and
/// leave them silent, but the first bytes of one that means it need their time on the way.
const FIRST_BYTE_GRACE: Duration = Duration::from_secs(1);

/// All that serving a connection needs. One is shared by every connection of a stage.
pub struct Server {
    site: Site,
    limits: Limits,
    log: AccessLog,
    may_stay: Box<dyn Fn() -> bool + Send + Sync>,
}

/// Why a conversation is over.
enum End {
    /// The last answer has been given, and announced as the last.
    Finished,
    /// Idle for too long: no answer is owed.
    Idle,
    /// The request is no good.
    Refused(Refusal),
    /// The client is gone, or does not take its answer.
    Lost,
}

impl From<Refusal> for End {
    fn from(refusal: Refusal) -> End {
        End::Refused(refusal)
    }
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> End {
        End::Lost
    }
}

impl Server {
    /// Serves `site` within `limits`. Idle connections stay open until the idle time-out.
    pub fn new(site: Site, limits: Limits, log: AccessLog) -> Server {
        Server { site, limits, log, may_stay: Box::new(|| true) }
    }

    /// Lets an idle connection stay open only while `may_stay` says so.
    ///
    /// A blocking stage gives a connection a thread. An idle connection does nothing with it, while somebody
    /// else may be waiting for one: with a single thread, one idle browser tab would shut everyone out.
    /// HTTP lets a server close an idle connection at any time; the client opens another when it needs one.
    ///
    /// `may_stay` is asked after each answer and some twenty times a second for each idle connection: keep it
    /// cheap.
    #[must_use]
    pub fn keep_alive_while(mut self, may_stay: impl Fn() -> bool + Send + Sync + 'static) -> Server {
        self.may_stay = Box::new(may_stay);
        self
    }

    /// Serves one client until one side has enough.
    ///
    /// # Blocking
    ///
    /// Blocks while the client is slow, each time at most for the time-out that [`Limits`] sets.
    pub fn serve(&self, mut connection: Connection) {
        if connection.take(&self.limits).is_err() {
            return;
        }
        let Err(end) = self.converse(&connection);
        match end {
            End::Finished => connection.finish(),
            End::Refused(refusal) => self.refuse(&connection, refusal),
            End::Idle | End::Lost => {}
        }
    }

    // ANCHOR: keep_alive
    fn converse(&self, connection: &Connection) -> Result<Infallible, End> {
        let mut input = Input::new(self.limits.max_head);
        let mut output = Vec::new();
        let mut is_new = true;
        loop {
            match Request::parse(input.unread(), &self.limits)? {
                None => self.wait_for_more(connection, &mut input, is_new)?,
                Some((request, head)) => {
                    let after_head = &input.unread()[head..];
                    let body = self.exchange(connection, request, after_head, &mut output)?;
                    input.consume(head + body);
                    is_new = false;
                }
            }
        }
    }
    // ANCHOR_END: keep_alive

    /// Waits until more of a request has arrived.
    fn wait_for_more(&self, connection: &Connection, input: &mut Input, is_new: bool) -> Result<(), End> {
        loop {
            let received = input.receive(connection)?;
            // Also when something came: byte by byte, a client could otherwise take for ever.
            self.check_patience(input, is_new)?;
            match received {
                Received::Bytes(_) => return Ok(()),
                Received::Nothing => {}
                Received::End if input.is_empty() => return Err(End::Idle),
                Received::End => return Err(Refusal::Malformed("the request ends in the middle").into()),
            }
        }
    }

    fn check_patience(&self, input: &Input, is_new: bool) -> Result<(), End> {
        let waited = input.age();
        if !input.is_empty() {
            return if waited < self.limits.header_timeout {
                Ok(())
            } else {
                Err(Refusal::HeadTimeout.into())
            };
        }
        let longest = if is_new { self.limits.header_timeout } else { self.limits.idle_timeout };
        // A blocked read cannot be told that a thread is wanted, so the wait is in slices, and asks between them.
        let may_stay = (is_new && waited < FIRST_BYTE_GRACE) || (self.may_stay)();
        if waited < longest && may_stay { Ok(()) } else { Err(End::Idle) }
    }

    /// Reads the request's body, answers, and says how much of the body was in `after_head`.
    fn exchange(
        &self,
        connection: &Connection,
        mut request: Request<'_>,
        after_head: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<usize, End> {
        let body_in_input = after_head.len().min(request.content_length);
        request.body = self.read_body(connection, &after_head[..body_in_input], request.content_length)?;
        let began = Instant::now();
        let response = self.site.respond(&request);
        // Requests that are here already are answered even if the thread is wanted: closing would throw them away.
        let next_is_here = after_head.len() > body_in_input;
        let stays = request.wants_keep_alive() && (next_is_here || (self.may_stay)());
        self.answer(connection, Some(&request), response, stays, began, output)?;
        if stays { Ok(body_in_input) } else { Err(End::Finished) }
    }

    fn read_body(&self, connection: &Connection, arrived: &[u8], length: usize) -> Result<Vec<u8>, End> {
        let mut body = vec![0; length];
        body[..arrived.len()].copy_from_slice(arrived);
        let mut filled = arrived.len();
        let began = Instant::now();
        while filled < length {
            match connection.receive(&mut body[filled..])? {
                Received::Bytes(count) => filled += count,
                Received::Nothing => {}
                Received::End => return Err(Refusal::Malformed("the request ends in the middle").into()),
            }
            if filled < length && began.elapsed() >= self.limits.body_timeout {
                return Err(Refusal::BodyTimeout.into());
            }
        }
        Ok(body)
    }

    fn answer(
        &self,
        connection: &Connection,
        request: Option<&Request<'_>>,
        mut response: Response,
        stays: bool,
        began: Instant,
        output: &mut Vec<u8>,
    ) -> io::Result<()> {
        let is_old = request.is_some_and(|request| request.version == Version::Http10);
        let connection_field = match (stays, is_old) {
            (false, _) => Some("close"),
            (true, true) => Some("keep-alive"),
            (true, false) => None,
        };
        output.clear();
        response.append_head(connection_field, output);
        if request.is_some_and(|request| request.method == "HEAD") {
            response.body = Body::None;
        }
        let status = response.status.code();
        let sent = response.send(output, &mut connection.writer(self.limits.write_timeout));
        self.log.write(&Entry {
            peer: connection.peer(),
            request,
            status,
            bytes: *sent.as_ref().unwrap_or(&0),
            took: began.elapsed(),
        });
        sent.map(drop)
    }

    fn refuse(&self, connection: &Connection, refusal: Refusal) {
        let response = refusal.response();
        if self.answer(connection, None, response, false, Instant::now(), &mut Vec::new()).is_ok() {
            connection.linger();
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("limits", &self.limits).finish_non_exhaustive()
    }
}
