//! The event loop itself: it waits, and then gives a turn to each connection that can make progress.
//!
//! ```text
//!      ┌──▶ poll: wait for changes, answers, and the first deadline
//!      │       │
//!      │       ├─ the listener        accept
//!      │       ├─ the mailbox         answers that other threads have posted
//!      │       └─ connections         a turn each: send, answer, read
//!      │    again: those that could have gone on have another turn
//!      └─── late:  those whose deadline has passed are refused or closed
//! ```
//!
//! # Invariants
//!
//! 1. In this file, only the call of [`Poll::poll`] waits. A handler that runs on the loop may also wait; the
//!    lesson shows what that costs.
//! 2. Each connection that can continue without an event is in the queue for another turn; while that queue
//!    is not empty, the poll does not wait.
//! 3. For each connection with a deadline, the [`deadlines`](super::deadlines) have an entry that is due no
//!    later than that deadline.
//! 4. A turn is bounded, and the number of connections that the loop accepts at once is bounded too. So no
//!    single client can occupy the loop.

use super::acceptor::Acceptor;
use super::connection::{Connection, Next};
use super::deadlines::Deadlines;
use super::handoff::{Answers, Exchange, Job};
use super::turn::{HandOver, Stop, Turn};
use crate::http::{Request, date};
use crate::lingering::LAST_WORDS;
use crate::listener::{LAST_MOMENT, Listener};
use crate::server::Server;
use crate::stats::{Samples, family};
use crate::turned_away::MOST;
use executor::CancelToken;
use mio::event::Event;
use mio::{Events, Interest, Poll, Token, Waker};
use slab::Slab;
use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Counts the connections that the event loops of the process have accepted; the count gives each connection
/// a unique number.
static OPENED: AtomicU64 = AtomicU64::new(0);

const LISTENER: Token = Token(usize::MAX);
const MAILBOX: Token = Token(usize::MAX - 1);

/// The largest number of events that one poll returns.
const EVENTS: usize = 1024;

/// How many connections the loop accepts before it gives turns to the other connections.
const ACCEPTS: usize = 64;

/// An event loop, and the connections that it serves.
pub struct Reactor {
    poll: Poll,
    acceptor: Acceptor,
    connections: Slab<Connection>,
    /// The number of connections that were turned away because there was no place.
    turned_away: usize,
    /// The connections that get another turn even without an event.
    again: VecDeque<usize>,
    deadlines: Deadlines,
    /// The answers that the loop is taking from its mailbox.
    #[expect(clippy::vec_box, reason = "it is the box that goes to another thread and back")]
    posted: Vec<Box<Exchange>>,
    /// The time when the task was cancelled; soon after that time the loop must end.
    cancelled: Option<Instant>,
    stats: Arc<ReactorStats>,
    turn: Turn,
}

impl Reactor {
    /// Makes an event loop that serves the clients of `listener` with the settings of `server`.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no free descriptors.
    pub fn new(listener: Listener, server: &Arc<Server>) -> std::io::Result<Reactor> {
        let poll = Poll::new()?;
        let acceptor = Acceptor::new(listener, poll.registry(), LISTENER)?;
        let answers = Answers::new(Waker::new(poll.registry(), MAILBOX)?);
        Ok(Reactor {
            poll,
            acceptor,
            connections: Slab::new(),
            turned_away: 0,
            again: VecDeque::new(),
            deadlines: Deadlines::default(),
            posted: Vec::new(),
            cancelled: None,
            stats: Arc::default(),
            turn: Turn::new(server, answers),
        })
    }

    /// Makes the loop pass to `give`, as jobs, the requests that `is_wanted` selects. The program must run
    /// the jobs of one connection one after the other, in their order. A dropped job answers 503.
    ///
    /// The loop calls both closures, so the closures must not wait.
    #[must_use]
    pub fn handing_over(
        mut self,
        is_wanted: impl Fn(&Request<'_>) -> bool + Send + 'static,
        give: impl Fn(Job) + Send + 'static,
    ) -> Reactor {
        self.turn.hand_over = Some(HandOver { is_wanted: Box::new(is_wanted), give: Box::new(give) });
        self
    }

    /// Returns the loop's counters, which other threads may read.
    pub fn stats(&self) -> Arc<ReactorStats> {
        Arc::clone(&self.stats)
    }

    /// Serves connections until the server is [stopped](Server::until) and no connection is left. Returns the
    /// number of connections that were cut off.
    ///
    /// After a stop, the loop accepts the clients that wait to be accepted, and closes the listener. The loop
    /// keeps idle connections for 50 ms, or until 200 ms after their last answer. The loop answers further
    /// requests on these connections with `Connection: close`. The loop closes any other connection after it
    /// has answered all requests that have arrived on this connection. After the calling task is cancelled,
    /// incomplete requests are answered with 503, and half a second later all remaining connections are cut
    /// off.
    ///
    /// # Blocking
    ///
    /// Blocks until no connection is left. If the task is cancelled, this function returns within a second,
    /// unless a handler on the loop waits for longer.
    pub fn run(mut self) -> usize {
        let stop = self.turn.server.stop_token().cloned().unwrap_or_default();
        let task = CancelToken::current();
        let _woken = [&stop, &task].map(|token| {
            let answers = Arc::clone(&self.turn.answers);
            token.on_cancel(move || answers.notify())
        });
        let mut events = Events::with_capacity(EVENTS);
        // ANCHOR: event_loop
        loop {
            self.notice_a_stop(&stop, &task);
            if let Some(cut_off) = self.is_over() {
                date::release();
                return cut_off;
            }
            self.wait(&mut events);
            for event in &events {
                match event.token() {
                    LISTENER => self.acceptor.is_ready(),
                    MAILBOX => self.take_answers(),
                    Token(place) => self.has_changed(place, event),
                }
            }
            self.accept();
            self.give_turns_again();
            self.look_at_the_late();
            thread::yield_now(); // clients with answers may run on this processor, and ask again soon
        }
        // ANCHOR_END: event_loop
    }

    fn wait(&mut self, events: &mut Events) {
        let is_busy = !self.again.is_empty() || self.acceptor.has_more();
        let first = [self.deadlines.first(), self.acceptor.deadline(), self.last_moment()]
            .into_iter()
            .flatten()
            .min();
        let patience = match first {
            _ if is_busy => Some(Duration::ZERO),
            Some(first) => Some(first.saturating_duration_since(Instant::now())),
            None => None,
        };
        // If a signal interrupts the poll, or memory is short, the poll returns no events, and the loop calls
        // the poll again.
        if self.poll.poll(events, patience).is_err() {
            events.clear();
        }
        self.turn.look_at_the_clock();
    }

    fn has_changed(&mut self, place: usize, event: &Event) {
        if let Some(connection) = self.connections.get_mut(place) {
            connection.has_changed(event);
            self.give_turn(place);
        }
    }

    fn give_turn(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        let next = connection.turn(&mut self.turn);
        self.after_turn(place, next);
    }

    fn after_turn(&mut self, place: usize, next: Next) {
        debug_assert!(next == Next::Close || self.turn.output.is_empty(), "an answer would be lost");
        self.turn.output.clear(); // the connection may have failed and left its output
        let connection = &mut self.connections[place];
        match next {
            Next::Close => return self.close(place),
            Next::Again => {
                if !mem::replace(&mut connection.is_scheduled, true) {
                    self.again.push_back(place);
                }
            }
            Next::Wait => {}
        }
        // ANCHOR: look
        if let Some(deadline) = connection.deadline(self.turn.stop)
            && connection.looked_at.is_none_or(|look| deadline < look)
        {
            connection.looked_at = Some(deadline);
            self.deadlines.look_at(deadline, place, connection.number);
        }
        // ANCHOR_END: look
    }

    fn close(&mut self, place: usize) {
        let connection = self.connections.remove(place);
        self.turned_away -= usize::from(connection.has_place.is_none());
        self.stats.set_connections(self.connections.len());
    }

    /// Accepts waiting clients, and gives each new connection a turn at once, because its request has often
    /// arrived already. Some connections end in their first turn, and need no registration for events.
    fn accept(&mut self) {
        for _ in 0..ACCEPTS {
            let Some((socket, peer, has_place)) = self.acceptor.accept(self.turn.now) else { break };
            let number = OPENED.fetch_add(1, Ordering::Relaxed);
            self.stats.accept();
            self.turned_away += usize::from(has_place.is_none());
            let connection = Connection::new(socket, peer, number, has_place, &mut self.turn);
            let place = self.connections.insert(connection);
            self.stats.set_connections(self.connections.len());
            let connection = &mut self.connections[place];
            connection.place = place;
            let mut next = connection.turn(&mut self.turn);
            if connection.has_place.is_none() && self.turned_away > MOST {
                next = Next::Close; // the client has its 503; the loop waits only for the clients before it
            }
            if next != Next::Close {
                let interest = Interest::READABLE | Interest::WRITABLE;
                // The registration immediately reports any change since the connection's turn.
                let told = self.poll.registry().register(&mut connection.socket, Token(place), interest);
                next = if told.is_ok() { next } else { Next::Close };
            }
            self.after_turn(place, next);
        }
        self.acceptor.close_if_quiet(self.turn.now);
    }

    /// Takes the answers that other threads have posted, and gives each answer to its connection unless
    /// the connection is closed.
    fn take_answers(&mut self) {
        let mut posted = mem::take(&mut self.posted);
        self.turn.answers.take_all(&mut posted);
        for exchange in posted.drain(..) {
            let place = exchange.place;
            match self.connections.get_mut(place) {
                Some(connection) if connection.number == exchange.connection => {
                    connection.has_answer(exchange);
                    // The connections get their turns only after all answers are distributed, so that answers
                    // that came together are sent together.
                    if !mem::replace(&mut connection.is_scheduled, true) {
                        self.again.push_back(place);
                    }
                }
                _ => self.turn.keep(exchange),
            }
        }
        self.posted = posted;
    }

    // ANCHOR: again
    fn give_turns_again(&mut self) {
        // A connection that needs another turn goes to the end of the queue, for the next round.
        for _ in 0..self.again.len() {
            let Some(place) = self.again.pop_front() else { break };
            let waits = self
                .connections
                .get_mut(place)
                .is_some_and(|connection| mem::take(&mut connection.is_scheduled));
            if waits {
                self.give_turn(place);
            }
        }
    }
    // ANCHOR_END: again

    // ANCHOR: late
    fn look_at_the_late(&mut self) {
        let now = self.turn.now;
        while let Some((when, place, number)) = self.deadlines.take_due(now) {
            let Some(connection) = self.connections.get_mut(place) else { continue };
            if connection.number != number || connection.looked_at != Some(when) {
                continue; // another connection has this index, or an earlier check replaced this one
            }
            connection.looked_at = None;
            let is_late = connection.deadline(self.turn.stop).is_some_and(|deadline| deadline <= now);
            let next = if is_late { connection.is_late(&mut self.turn) } else { Next::Wait };
            self.after_turn(place, next);
        }
    }
    // ANCHOR_END: late

    /// Checks each connection after a stop, because the deadlines change with the stop.
    fn notice_a_stop(&mut self, stop: &CancelToken, task: &CancelToken) {
        let wanted = match () {
            () if task.is_cancelled() => Stop::Cancelled,
            () if stop.is_cancelled() && self.turn.stop == Stop::No => {
                Stop::Asked(self.turn.now + LAST_MOMENT)
            }
            () => Stop::No,
        };
        if wanted <= self.turn.stop {
            return;
        }
        if self.turn.stop == Stop::No {
            self.acceptor.begin_to_close(self.turn.now);
        }
        self.turn.stop = wanted;
        if wanted == Stop::Cancelled {
            self.cancelled = Some(self.turn.now);
        }
        for (place, connection) in &mut self.connections {
            if wanted == Stop::Cancelled {
                connection.is_cancelled(self.turn.now);
            }
            connection.looked_at = Some(self.turn.now);
            self.deadlines.look_at(self.turn.now, place, connection.number);
        }
    }

    /// Returns the time at which the remaining connections are cut off.
    fn last_moment(&self) -> Option<Instant> {
        self.cancelled.map(|since| since + LAST_WORDS)
    }

    /// Returns the number of connections that were cut off, if the loop is over.
    fn is_over(&self) -> Option<usize> {
        let is_served = self.turn.stop > Stop::No && self.acceptor.is_closed() && self.connections.is_empty();
        let is_late = self.last_moment().is_some_and(|end| end <= self.turn.now);
        (is_served || is_late).then(|| self.connections.len())
    }
}

/// The counters of an event loop. Only the loop writes these counters, so a reader may see a number just
/// before it changes.
#[derive(Debug, Default)]
pub struct ReactorStats {
    connections: AtomicUsize,
    accepted: AtomicU64,
}

impl ReactorStats {
    /// Returns the number of connections that the loop serves at present.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Returns the number of connections that the loop has accepted.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    fn set_connections(&self, connections: usize) {
        self.connections.store(connections, Ordering::Relaxed);
    }

    /// Counts a connection. No other thread writes the counter, so the loop needs no atomic addition, which
    /// would cost more.
    fn accept(&self) {
        self.accepted.store(self.accepted() + 1, Ordering::Relaxed);
    }

    /// Adds the counters of this loop to a measurement.
    pub(super) fn measure(&self, number: usize, samples: &mut Samples) {
        let number = number.to_string();
        samples.count_of(&family::LOOP_CONNECTIONS, &number, self.connections() as u64);
        samples.count_of(&family::LOOP_ACCEPTED, &number, self.accepted());
    }
}

impl fmt::Debug for Reactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reactor").field("connections", &self.connections.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::connection::STEPS;
    use super::*;
    use crate::access_log::AccessLog;
    use crate::limits::Limits;
    use crate::site::Site;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn reactor() -> (Reactor, TcpStream) {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let client = TcpStream::connect(listener.local_addr()).unwrap();
        let server = Server::new(Site::new(None), Limits::default(), AccessLog::Quiet);
        let mut reactor = Reactor::new(listener, &Arc::new(server)).unwrap();
        while reactor.connections.is_empty() {
            reactor.accept();
        }
        (reactor, client)
    }

    /// Sends a request that the server must read with `reads` calls of `read`; when the whole request has
    /// arrived, gives the connection one turn.
    fn a_turn_for(reads: usize) -> (Reactor, TcpStream) {
        let (mut reactor, mut client) = reactor();
        reactor.turn.arrived = vec![0; 1024].into(); // so that the system's buffers are large enough
        let bytes = reads * 1024;
        let head =
            |length: usize| format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {length:8}\r\n\r\n");
        let length = bytes - head(0).len();
        client.write_all((head(length) + &"a".repeat(length)).as_bytes()).unwrap();
        let mut events = Events::with_capacity(16);
        while !events.iter().any(|event| event.token() == Token(0)) {
            reactor.wait(&mut events);
        }
        let event = events.iter().find(|event| event.token() == Token(0)).unwrap();
        reactor.has_changed(0, event);
        (reactor, client)
    }

    /// More bytes have arrived than the server reads in one turn.
    #[test]
    fn a_turn_has_an_end() {
        let (reactor, _client) = a_turn_for(STEPS + 2);
        assert_eq!(reactor.again, [0]);
    }

    /// The last step of the turn was an answer.
    #[test]
    fn no_answer_is_left_when_a_turn_ends() {
        let (_reactor, mut client) = a_turn_for(STEPS - 1);
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut answer = [0; 12];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
    }

    /// The system may report a change although nothing has changed.
    #[test]
    fn a_turn_for_nothing_changes_nothing() {
        let (mut reactor, mut client) = reactor();
        let mut events = Events::with_capacity(16);
        for bytes in ["GET /hello", " HTTP/1.1\r\n", "Host: h\r\n", "\r\n"] {
            for _ in 0..3 {
                reactor.give_turn(0);
            }
            client.write_all(bytes.as_bytes()).unwrap();
            reactor.wait(&mut events);
            events
                .iter()
                .filter(|event| event.token() == Token(0))
                .for_each(|event| reactor.has_changed(0, event));
        }
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut answer = [0; 12];
        while client.set_nonblocking(true).is_ok() && client.peek(&mut answer).is_err() {
            reactor.give_turn(0);
        }
        assert_eq!(&answer, b"HTTP/1.1 200");
    }
}
