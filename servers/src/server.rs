//! Serves one connection as a task.
//!
//! In these servers, a task is a *connection*: the task reads a request, answers it, and repeats this until
//! the client or the server ends the connection. This module decides neither which thread runs the task, nor
//! how many connections are served at once. These decisions are the execution policy, which is the lesson of
//! each binary.
//!
//! # How a connection ends
//!
//! - The client has finished: it has closed its side, or has asked for `Connection: close`.
//! - Another client needs the thread of the connection: see [`Server::keep_alive_while`]. The server still
//!   answers requests that have arrived by that time, or that arrive within 200 ms of the last answer. After
//!   an idle connection was closed for another client, every answer of the next second is the last on its
//!   connection. So the server does not promise to keep a connection open and then break the promise.
//! - The stage has begun to stop: see [`Server::until`]. The server still answers requests that arrive within
//!   50 ms, or within 200 ms of the last answer; these requests are the last. If a request head has begun to
//!   arrive, the rest must arrive within a second.
//! - The connection has got as many answers as [`Limits::max_requests`] allows.
//! - The connection has been idle for the idle time-out; or the connection is new, and the client has sent
//!   nothing within the header time-out. In this case the client expects no answer, so the server closes the
//!   connection without an answer.
//! - A request cannot be read, or does not arrive in time: the client gets one [`Refusal`], and then the
//!   connection is closed.
//! - The client does not take its answer in time, or has closed the connection.
//! - The task is cancelled, because the time for the stop is over. An incomplete request is answered with
//!   503, and an answer that is being sent is cut off.
//!
//! A handler's panic ends no thread: the request is answered with 500, and the connection is closed.

use crate::access_log::{AccessLog, Line};
use crate::client::{Client, Received, Wait};
use crate::connection::Connection;
use crate::http::{
    Body, CLOSE, Conversation, Persistence, Phase, Refusal, Request, Response, Room, Status, Step,
};
use crate::keep_alive::KeepAlive;
use crate::limits::Limits;
use crate::lingering::{Lingering, StillSending};
use crate::listener::LAST_MOMENT;
use crate::site::Site;
use crate::stats::{Board, Tally};
use executor::CancelToken;
use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How long a new connection may be silent before it counts as idle. The same time applies to a request head
/// that is incomplete when the stage stops. Browsers open connections in advance and leave them silent, but
/// even the bytes of a busy client need time on the network.
pub(crate) const ON_THE_WAY: Duration = Duration::from_secs(1);

/// If an answer has promised to keep its connection open, the server keeps this connection open for this
/// time, even if other clients wait. The next request of a busy client arrives within this time.
pub(crate) const KEPT_FOR: Duration = Duration::from_millis(200);

/// The largest number of bytes that one read can return. If another client needs the thread, the server still
/// answers the requests within the bytes that it has read.
const READ: usize = 16 * 1024;

/// What the server needs to serve a connection. All connections of a stage share one server.
pub struct Server {
    pub(crate) site: Site,
    pub(crate) limits: Limits,
    pub(crate) log: AccessLog,
    pub(crate) room: Room,
    pub(crate) tally: Arc<Tally>,
    /// The board for `--watch`, if the stage is watched.
    board: Option<Arc<Board>>,
    /// The lines that tell a client how long its connection may be idle.
    idle_for: Option<String>,
    keep_alive: KeepAlive,
}

/// Why a conversation has ended.
enum End {
    /// The server has sent the last answer, and the answer said that it is the last.
    Finished(StillSending),
    /// The client has finished, or was silent for too long; in both cases it expects no answer.
    Silent,
    /// The request was refused.
    Refused(Refusal),
    /// The request was answered before its body arrived, and the client may still send the body.
    Declined,
    /// The client has closed the connection, or does not take its answer.
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
    /// Makes a server that serves `site` within `limits`. An idle connection stays open until it reaches the
    /// idle time-out.
    pub fn new(site: Site, limits: Limits, log: AccessLog) -> Server {
        let room = Room::of_at_most(limits.body_memory);
        let idle_for = Persistence::idle_for(limits.idle_timeout);
        let (tally, keep_alive) = (Arc::default(), KeepAlive::new());
        Server { site, limits, log, room, tally, board: None, idle_for, keep_alive }
    }

    /// A connection may stay open only as long as `may_stay` returns true. After `may_stay` has returned
    /// false, the server answers the requests that it has already read, and then closes the connection.
    ///
    /// A blocking stage gives a thread to each connection. An idle connection keeps its thread idle, even if
    /// another client waits for a thread. With a single thread, one idle browser tab would prevent all other
    /// clients from being served. HTTP lets a server close an idle connection at any time; the client opens
    /// another connection when it needs one.
    ///
    /// `may_stay` is called after each answer, and about twenty times a second for each idle connection, so
    /// this call must be cheap.
    #[must_use]
    pub fn keep_alive_while(mut self, may_stay: impl Fn() -> bool + Send + Sync + 'static) -> Server {
        self.keep_alive.only_while(may_stay);
        self
    }

    /// Ends connections after `stop` has been cancelled. An idle connection is closed if no bytes arrive on
    /// it for a moment. If a request head has begun to arrive, the head is refused unless it is complete
    /// within a second of its first byte. All other connections are closed in the same way as if other
    /// clients needed their threads. Requests in progress and arriving bodies still get their usual time.
    #[must_use]
    pub fn until(mut self, stop: &CancelToken) -> Server {
        self.keep_alive.until(stop);
        self
    }

    /// Returns the memory for the bodies of all clients, which also counts how many of its bytes are taken.
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// Makes the threads of the server show on a board what they are doing.
    pub(crate) fn watched_on(mut self, board: Option<Arc<Board>>) -> Server {
        self.board = board;
        self
    }

    /// Serves one client until the client or the server ends the connection.
    ///
    /// # Blocking
    ///
    /// Blocks while the client is slow, but never longer than the time-outs of [`Limits`] allow.
    pub fn serve(&self, connection: Connection) {
        let _doing = self.board.as_ref().map(|board| board.serves(connection.peer()));
        let Ok(client) = connection.take(&self.limits) else { return };
        let Err(end) = self.converse(&client);
        match end {
            End::Finished(still_sending) => client.finish(still_sending),
            End::Refused(refusal) => self.refuse(client, refusal),
            End::Declined => client.linger(self.lingering(false)),
            End::Silent | End::Lost => {}
        }
    }

    // ANCHOR: keep_alive
    fn converse(&self, client: &Client) -> Result<Infallible, End> {
        let mut conversation = Conversation::sharing(&self.room, &self.limits, Instant::now());
        let (mut arrived, mut output) = ([0; READ], Vec::new());
        loop {
            match conversation.step()? {
                Step::Read => self.read(client, &mut conversation, &mut arrived)?,
                Step::Expectation => self.go_ahead(client, &mut conversation, &mut output)?,
                Step::Request => self.exchange(client, &mut conversation, &mut output)?,
                Step::Over => return Err(End::Silent),
            }
        }
    }
    // ANCHOR_END: keep_alive

    /// Reads from the client once, and passes the bytes to the conversation.
    fn read(&self, client: &Client, conversation: &mut Conversation, arrived: &mut [u8]) -> Result<(), End> {
        let received = client.receive(arrived, self.longest_wait(conversation))?;
        let now = Instant::now();
        match received {
            Received::Bytes(count) => conversation.arrived(&arrived[..count], now),
            Received::Nothing => {}
            Received::End => conversation.ended(),
        }
        // The deadline is also checked after bytes have arrived, because otherwise a client that sends single
        // bytes could take as much time as it wants.
        match conversation.step()? {
            Step::Read => self.check_patience(client, conversation, now),
            _ => Ok(()),
        }
    }

    /// Returns how long one read may wait. A blocked read notices neither that its thread is needed, nor that
    /// the stage stops. If the thread can be needed or the stage can stop, the wait is divided into slices,
    /// with checks between the slices; otherwise one read waits for the whole time.
    fn longest_wait(&self, conversation: &Conversation) -> Wait {
        match conversation.deadline() {
            // On Windows, shutting down a socket does not end a read that waits on the socket.
            Some(deadline) if self.keep_alive.is_certain() && cfg!(unix) => Wait::Until(deadline),
            _ => Wait::ASlice,
        }
    }

    fn check_patience(&self, client: &Client, conversation: &Conversation, now: Instant) -> Result<(), End> {
        let waited = now - conversation.since();
        let (is_cancelled, keep_alive) = (client.is_cancelled(), &self.keep_alive);
        let is_hurried = match conversation.phase() {
            Phase::New => {
                let has_to_go =
                    || keep_alive.is_stopped_for(Duration::ZERO, now) || !keep_alive.has_threads();
                is_cancelled || (waited >= ON_THE_WAY && has_to_go())
            }
            Phase::Idle => {
                let has_to_go =
                    || keep_alive.is_stopped_for(LAST_MOMENT, now) || keep_alive.is_thread_wanted(now);
                is_cancelled || (waited >= KEPT_FOR && has_to_go())
            }
            Phase::Head => {
                is_cancelled || (waited >= ON_THE_WAY && keep_alive.is_stopped_for(Duration::ZERO, now))
            }
            Phase::Body | Phase::Request => is_cancelled,
        };
        match conversation.phase() {
            Phase::New | Phase::Idle if is_hurried => Err(End::Silent),
            _ if is_hurried => Err(Refusal::Overloaded.into()),
            _ if conversation.deadline().is_none_or(|deadline| now < deadline) => Ok(()),
            _ => Err(conversation.too_late().map_or(End::Silent, End::Refused)),
        }
    }

    /// Returns whether the connection may stay open after an answer.
    pub(crate) fn may_stay(&self) -> bool {
        self.keep_alive.may_be_promised()
    }

    pub(crate) fn stop_token(&self) -> Option<&CancelToken> {
        self.keep_alive.stop_token()
    }

    /// Returns what an answer must say about its connection.
    pub(crate) fn then(&self, stays: bool, has_more: bool) -> Persistence<'_> {
        match &self.idle_for {
            // A client that has already sent its next request does not need to know how long the connection
            // may be idle.
            Some(lines) if stays && !has_more => Persistence::Idles(lines),
            _ => stays.into(),
        }
    }

    /// Permits a waiting client to send its body, or refuses the request.
    fn go_ahead(
        &self,
        client: &Client,
        conversation: &mut Conversation,
        output: &mut Vec<u8>,
    ) -> Result<(), End> {
        let request = conversation.request();
        if let Some(refusal) = self.site.refusal(&request) {
            let (began, status) = (Instant::now(), refusal.status);
            let body = conversation.answer(refusal, false, output);
            self.send(client, Some(&request), status, body, output, began)?;
            // The client may still send the body of a refused request.
            return Err(End::Declined);
        }
        Ok(client.writer(&self.limits).write_all(conversation.go_ahead())?)
    }

    /// Answers a request.
    fn exchange(
        &self,
        client: &Client,
        conversation: &mut Conversation,
        output: &mut Vec<u8>,
    ) -> Result<(), End> {
        let mut request = conversation.request();
        request.peer = Some(client.peer());
        request.client = Some(client);
        let began = Instant::now();
        let (response, is_sound) = self.respond(&request);
        // If a complete request has arrived, the server answers it even if the thread is needed, because
        // closing the connection would drop the request. But the server reads no further requests: a client
        // may send as fast as the server answers, so the server might never finish.
        let stays = is_sound && conversation.may_go_on() && (self.may_stay() || conversation.next_is_here());
        // The client's next request is often on its way. So the thread yields before it reads: if the request
        // has arrived by then, yielding costs the system less than putting the thread to sleep and waking it.
        // After a file, no request is on its way yet, because the client must receive the whole file first.
        let gives_way = !conversation.has_unread() && !matches!(response.body, Body::File { .. });
        let status = response.status;
        let then = self.then(stays, conversation.has_unread());
        let body = conversation.answer(response, then, output);
        self.send(client, Some(&request), status, body, output, began)?;
        if !stays {
            return Err(End::Finished(StillSending::behind(conversation)));
        }
        conversation.answered(Instant::now());
        if gives_way {
            thread::yield_now();
        }
        Ok(())
    }

    /// Returns whether the handler of a request [is slow](Site::is_slow).
    pub fn is_slow(&self, request: &Request<'_>) -> bool {
        self.site.is_slow(request)
    }

    /// Returns the answer, and whether the handler has returned without a panic. After a panic the answer is
    /// 500, and the connection must be closed.
    pub(crate) fn respond(&self, request: &Request<'_>) -> (Response, bool) {
        let _doing = self.board.as_ref().map(|board| board.answers(request));
        match catch_unwind(AssertUnwindSafe(|| self.site.respond(request))) {
            Ok(response) => (response, true),
            Err(payload) => {
                forget(payload);
                (Response::error(Status::InternalServerError, "the server made a mistake"), false)
            }
        }
    }

    /// Counts an answer with this status, and begins the answer's event in the access log. `request` is
    /// `None` if the request could not be read.
    pub(crate) fn begin_answer(
        &self,
        peer: SocketAddr,
        request: Option<&Request<'_>>,
        status: Status,
    ) -> Option<Line> {
        self.tally.answered(status);
        self.log.begin(peer, request, status.code())
    }

    /// Sends the head, which is in `output`, and then the body.
    fn send(
        &self,
        client: &Client,
        request: Option<&Request<'_>>,
        status: Status,
        body: Body,
        output: &mut Vec<u8>,
        began: Instant,
    ) -> io::Result<()> {
        self.tally.answered(status); // before sending: a client that has the answer finds it counted
        let head = output.len() as u64;
        let mut writer = client.writer(&self.limits);
        let sent = body.send(output, &mut writer);
        if let Some(line) = self.log.begin(client.peer(), request, status.code()) {
            line.end(writer.taken().saturating_sub(head), sent.is_err(), began.elapsed());
        }
        output.clear();
        sent
    }

    fn refuse(&self, client: Client, refusal: Refusal) {
        self.tally.refused(refusal);
        let (response, mut output) = (refusal.response(), Vec::new());
        response.append_head(CLOSE, &mut output);
        let sent = self.send(&client, None, response.status, response.body, &mut output, Instant::now());
        match refusal {
            _ if sent.is_err() => {}
            // The server has already waited long enough for this client.
            Refusal::HeadTimeout | Refusal::BodyTimeout => {
                client.linger(Lingering::for_one_read(Instant::now()));
            }
            _ => client.linger(self.lingering(refusal.is_of_a_body())),
        }
    }

    fn lingering(&self, is_sending: bool) -> Lingering {
        Lingering::refused(is_sending, self.limits.linger_timeout, Instant::now())
    }
}

/// Leaks the payload of a panic, because dropping it could cause another panic. The panic hook has already
/// reported the panic.
fn forget(payload: Box<dyn Any + Send>) {
    std::mem::forget(payload);
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("limits", &self.limits).finish_non_exhaustive()
    }
}
