//! What the task of one connection does.
//!
//! A task of these servers is a *connection*: read a request, answer it, and again, until one side has enough.
//! Which thread does that, and how many connections are served at once, is not decided here. That is the
//! execution policy, the lesson of each binary.
//!
//! # How a connection ends
//!
//! - The client is done: it closes, or asked for `Connection: close`.
//! - Its thread is wanted: see [`Server::keep_alive_while`]. Requests that have arrived by then are answered.
//! - The stage has begun to stop: see [`Server::until`]. The same; and half a request head has a second to become whole.
//! - It has had as many answers as [`Limits::max_requests`] allows.
//! - It is idle for the idle time-out, or has sent nothing since it was opened for the header time-out.
//!   Nobody is owed an answer then, so it is just closed.
//! - A request cannot be read, or not in time: one [`Refusal`] is answered, then the connection is closed.
//! - The client does not take its answer in time, or is gone.
//! - The task is cancelled, because the stage is stopping and has no more time: half a request is answered with
//!   503, an answer that is on its way is cut short.
//!
//! A handler that panics costs nobody a thread: its request is answered with 500, and the connection closed.

use crate::access_log::{AccessLog, Entry};
use crate::client::{Client, Received};
use crate::connection::Connection;
use crate::http::{Body, BodyDecoder, Refusal, Request, Response, Status, Version};
use crate::input::Input;
use crate::limits::Limits;
use crate::site::Site;
use executor::CancelToken;
use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

/// How long a new connection may be silent before it counts as idle; and how long a request head may take that has
/// begun to arrive when the stage stops. Browsers open connections in advance and leave them silent, but the bytes of
/// a client that means it need their time on the way.
const ON_THE_WAY: Duration = Duration::from_secs(1);

/// All that serving a connection needs. One is shared by every connection of a stage.
pub struct Server {
    site: Site,
    limits: Limits,
    log: AccessLog,
    may_stay: Box<dyn Fn() -> bool + Send + Sync>,
    stop: CancelToken,
}

/// Why a conversation is over.
enum End {
    /// The last answer has been given, and announced as the last. Perhaps the client is still sending.
    Finished { is_sending: bool },
    /// Idle for too long: no answer is owed.
    Idle,
    /// The request is no good.
    Refused(Refusal),
    /// The request was answered before its body, which the client may be sending all the same.
    Declined,
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
        Server { site, limits, log, may_stay: Box::new(|| true), stop: CancelToken::new() }
    }

    /// Lets a connection stay open only while `may_stay` says so. Once it says no, the requests that have arrived are
    /// answered, as far as they have been read together, and then the connection is closed.
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

    /// Ends connections once `stop` is cancelled: idle ones are closed, half a request head is refused if it does not
    /// become whole within a second of its first byte, and the others are closed as if their thread were wanted.
    /// Requests in progress, and bodies that are on the way, are not hurried.
    #[must_use]
    pub fn until(mut self, stop: &CancelToken) -> Server {
        self.stop = stop.clone();
        self
    }

    /// Serves one client until one side has enough.
    ///
    /// # Blocking
    ///
    /// Blocks while the client is slow, each time at most for the time-out that [`Limits`] sets.
    pub fn serve(&self, connection: Connection) {
        let Ok(client) = connection.take(&self.limits) else { return };
        let Err(end) = self.converse(&client);
        match end {
            End::Finished { is_sending } => client.finish(is_sending),
            End::Refused(refusal) => self.refuse(client, refusal),
            End::Declined => client.linger(false, self.limits.linger_timeout),
            End::Idle | End::Lost => {}
        }
    }

    // ANCHOR: keep_alive
    fn converse(&self, client: &Client) -> Result<Infallible, End> {
        let mut input = Input::new(self.limits.max_head);
        let mut output = Vec::new();
        let mut answered = 0;
        loop {
            match Request::parse(input.unread(), &self.limits)? {
                None => self.wait_for_more(client, &mut input, answered == 0)?,
                Some((request, head)) => {
                    answered += 1;
                    let is_last = self.limits.max_requests.is_some_and(|most| answered >= most.get());
                    let after_head = &input.unread()[head..];
                    let (body, beyond) = self.exchange(client, request, after_head, is_last, &mut output)?;
                    input.consume(head + body);
                    if !beyond.is_empty() {
                        input.put_back(&beyond);
                    }
                }
            }
        }
    }
    // ANCHOR_END: keep_alive

    /// Waits until more of a request has arrived.
    fn wait_for_more(&self, client: &Client, input: &mut Input, is_new: bool) -> Result<(), End> {
        loop {
            let received = input.receive(client)?;
            // Also when something came: byte by byte, a client could otherwise take for ever.
            self.check_patience(client, input, is_new)?;
            match received {
                Received::Bytes(_) => return Ok(()),
                Received::Nothing => {}
                Received::End if input.is_empty() => return Err(End::Idle),
                Received::End => return Err(Refusal::Malformed("the request ends in the middle").into()),
            }
        }
    }

    fn check_patience(&self, client: &Client, input: &Input, is_new: bool) -> Result<(), End> {
        let waited = input.age();
        if !input.is_empty() {
            let is_stopping = self.stop.is_cancelled() && waited >= ON_THE_WAY;
            return match client.is_cancelled() || is_stopping {
                true => Err(Refusal::Overloaded.into()),
                false if waited >= self.limits.header_timeout => Err(Refusal::HeadTimeout.into()),
                false => Ok(()),
            };
        }
        let longest = if is_new { self.limits.header_timeout } else { self.limits.idle_timeout };
        // A blocked read cannot be told that a thread is wanted, so the wait is in slices, and asks between them.
        let may_wait = (is_new && waited < ON_THE_WAY) || self.may_stay();
        if waited < longest && may_wait && !client.is_cancelled() { Ok(()) } else { Err(End::Idle) }
    }

    fn may_stay(&self) -> bool {
        !self.stop.is_cancelled() && (self.may_stay)()
    }

    /// Reads the request's body and answers. Says how much of the body was in `after_head`, and what was read beyond
    /// the body.
    fn exchange<'c>(
        &self,
        client: &'c Client,
        mut request: Request<'c>,
        after_head: &[u8],
        is_last: bool,
        output: &mut Vec<u8>,
    ) -> Result<(usize, Vec<u8>), End> {
        let mut body = BodyDecoder::new(request.framing, &self.limits);
        let used = body.decode(after_head)?;
        let is_here = body.is_complete();
        // A client that waits to be told to go on is told no, and may then send its body or not: so this is the end.
        if !is_here
            && request.expects_continue
            && let Some(refusal) = self.site.refusal(&request)
        {
            self.answer(client, Some(&request), refusal, false, Instant::now(), output)?;
            return Err(End::Declined);
        }
        let beyond = if is_here { Vec::new() } else { self.read_body(client, &request, &mut body)? };
        let next = if beyond.is_empty() { &after_head[used..] } else { &beyond };
        let end = End::Finished { is_sending: !next.is_empty() };
        request.body = body.into_body();
        request.peer = Some(client.peer());
        request.client = Some(client);
        let began = Instant::now();
        let Ok(response) = catch_unwind(AssertUnwindSafe(|| self.site.respond(&request))).map_err(forget)
        else {
            let sorry = Response::error(Status::InternalServerError, "the server made a mistake");
            self.answer(client, Some(&request), sorry, false, began, output)?;
            return Err(end);
        };
        // A whole request that is here already is answered even if the thread is wanted: closing would throw it away.
        // To read on would be without an end, because a client can send as fast as it is answered.
        let goes_on = !is_last && (self.may_stay() || self.is_answerable(next));
        let stays = request.wants_keep_alive() && goes_on;
        // The next request is often on its way. To let others run meanwhile, and find it here, is less work for the
        // system than to fall asleep and be woken. Behind a file it is not yet: the client has that to take first.
        let gives_way = next.is_empty() && !matches!(response.body, Body::File { .. });
        self.answer(client, Some(&request), response, stays, began, output)?;
        if !stays {
            return Err(end);
        }
        if gives_way {
            thread::yield_now();
        }
        Ok((used, beyond))
    }

    /// Whether `bytes` begin with a request that can be answered, or refused, without reading on.
    fn is_answerable(&self, bytes: &[u8]) -> bool {
        match Request::parse(bytes, &self.limits) {
            Ok(None) => false,
            Ok(Some((request, head))) => {
                let mut body = BodyDecoder::new(request.framing, &self.limits);
                body.decode(&bytes[head..]).is_err() || body.is_complete()
            }
            Err(_) => true,
        }
    }

    /// Reads the part of the body that has not arrived yet, and gives back what came after it.
    fn read_body(
        &self,
        client: &Client,
        request: &Request<'_>,
        body: &mut BodyDecoder,
    ) -> Result<Vec<u8>, End> {
        if request.expects_continue {
            client.writer(&self.limits).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let began = Instant::now();
        // No more than the input has room for: part of it may belong to the next request.
        let mut arrived = vec![0; self.limits.max_head];
        loop {
            match client.receive(&mut arrived)? {
                Received::Bytes(count) => {
                    let used = body.decode(&arrived[..count])?;
                    if body.is_complete() {
                        return Ok(arrived[used..count].to_vec());
                    }
                }
                Received::Nothing => {}
                Received::End => return Err(Refusal::Malformed("the request ends in the middle").into()),
            }
            if client.is_cancelled() {
                return Err(Refusal::Overloaded.into());
            }
            if began.elapsed() >= self.limits.body_timeout {
                return Err(Refusal::BodyTimeout.into());
            }
        }
    }

    fn answer(
        &self,
        client: &Client,
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
        let (status, head) = (response.status.code(), output.len() as u64);
        let mut writer = client.writer(&self.limits);
        let sent = response.send(output, &mut writer);
        self.log.write(&Entry {
            peer: client.peer(),
            request,
            status,
            bytes: writer.taken().saturating_sub(head),
            is_cut: sent.is_err(),
            took: began.elapsed(),
        });
        sent.map(drop)
    }

    fn refuse(&self, client: Client, refusal: Refusal) {
        let response = refusal.response();
        let sent = self.answer(&client, None, response, false, Instant::now(), &mut Vec::new());
        match refusal {
            _ if sent.is_err() => {}
            // It has been waited for long enough.
            Refusal::HeadTimeout | Refusal::BodyTimeout => client.finish_late(),
            _ => client.linger(refusal == Refusal::BodyTooLarge, self.limits.linger_timeout),
        }
    }
}

/// The panic hook has reported the panic. What the handler panicked with is leaked: its drop could panic, too.
fn forget(payload: Box<dyn Any + Send>) {
    std::mem::forget(payload);
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("limits", &self.limits).finish_non_exhaustive()
    }
}
