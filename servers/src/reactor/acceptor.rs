//! The listener of an event loop, which accepts connections until it is closed.
//!
//! The system reports a new connection only if no other connection is waiting when the new connection
//! arrives. So the loop accepts connections until none is left. If the loop cannot accept a connection
//! because descriptors have run out, the system sends no further event for the connections that still wait.
//! So the loop tries again without an event. For a blocking stage, see [`listener`](crate::listener).

use crate::crowd::{Crowd, Place};
use crate::diagnostics::report;
use crate::listener::{FIRST_PAUSE, LAST_MOMENT, LONGEST_PAUSE, Listener, is_the_clients, stop_connecting};
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A listener that never waits.
pub(super) struct Acceptor {
    socket: Option<TcpListener>,
    crowd: Crowd,
    is_ready: bool,
    /// The time when the loop tries again without an event, if it must try again.
    retry: Option<Instant>,
    /// The time to wait after the next failure.
    pause: Duration,
    closing: Option<Closing>,
}

struct Closing {
    began: Instant,
    /// The time since which no client has arrived.
    quiet: Instant,
}

impl Acceptor {
    pub(super) fn new(listener: Listener, registry: &Registry, token: Token) -> io::Result<Acceptor> {
        let (socket, crowd) = listener.into_nonblocking()?;
        let mut socket = TcpListener::from_std(socket);
        registry.register(&mut socket, token, Interest::READABLE)?;
        let (retry, pause, closing) = (None, FIRST_PAUSE, None);
        Ok(Acceptor { socket: Some(socket), crowd, is_ready: true, retry, pause, closing })
    }

    pub(super) fn is_ready(&mut self) {
        self.is_ready = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.socket.is_none()
    }

    /// Accepts a connection, if a connection is waiting. If the connection has no place, the caller
    /// must turn the client away.
    pub(super) fn accept(&mut self, now: Instant) -> Option<(TcpStream, SocketAddr, Option<Place>)> {
        self.is_ready |= self.retry.is_some_and(|retry| retry <= now);
        while self.is_ready {
            match self.socket.as_ref()?.accept() {
                Ok((socket, peer)) => {
                    (self.retry, self.pause) = (None, FIRST_PAUSE);
                    if let Some(closing) = &mut self.closing {
                        closing.quiet = now;
                    }
                    return Some((socket, peer, self.crowd.enter()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.is_ready = false,
                Err(error) if is_the_clients(&error) => {}
                Err(error) => {
                    report(format_args!("cannot accept a connection, trying again: {error}"));
                    self.is_ready = false;
                    self.retry = Some(now + self.pause);
                    self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
        None
    }

    /// Prevents any new client from connecting. The acceptor still accepts connected clients until no client
    /// has arrived for a moment.
    pub(super) fn begin_to_close(&mut self, now: Instant) {
        if let Some(socket) = &self.socket {
            stop_connecting(socket);
            self.closing = Some(Closing { began: now, quiet: now });
            self.is_ready = true;
        }
    }

    /// Returns the time at which the acceptor must act without an event.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let end = self.closing.as_ref().filter(|_| self.socket.is_some()).map(Closing::end);
        self.retry.into_iter().chain(end).min()
    }

    /// Returns whether more connections may be waiting to be accepted.
    pub(super) fn has_more(&self) -> bool {
        self.is_ready && self.socket.is_some()
    }

    pub(super) fn close_if_quiet(&mut self, now: Instant) {
        if !self.is_ready && self.closing.as_ref().is_some_and(|closing| now >= closing.end()) {
            (self.socket, self.retry) = (None, None);
        }
    }
}

impl Closing {
    fn end(&self) -> Instant {
        (self.quiet + LAST_MOMENT).min(self.began + LONGEST_PAUSE)
    }
}
