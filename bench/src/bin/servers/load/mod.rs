//! The load: one thread that keeps all connections busy, and leaves as much processor time as possible for
//! the server.
//!
//! Each connection sends its requests, waits for all the answers, and then sends the next requests. A load
//! generator that has a thread for each connection would use more processor time than the servers, and would
//! hide the differences between the servers. So there is one thread and one buffer for all connections. The
//! load builds its requests only once, and [parses](answers) only the first answer.
//!
//! The load relies on a guarantee of epoll and kqueue: if new bytes arrive, they cause an event, even if
//! earlier bytes have not all been read. Therefore the load works on Linux, macOS and the BSDs.

mod answers;
mod connection;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use mio::{Events, Poll, Token};

use crate::site;
use answers::Answers;
use connection::{Connection, Progress};

/// If the server sends nothing for longer than this time, it is an error.
const PATIENCE: Duration = Duration::from_secs(5);

/// The size of the buffer. The buffer has room for the answers to all requests that a connection sends at
/// once, or for all bytes that a socket holds.
const BUFFER: usize = 64 * 1024;

/// The request, and how the load sends it.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    /// The number of requests that a connection sends at once.
    pub(crate) depth: usize,
    pub(crate) page: Page,
    /// True if each request has its own connection, which the server closes.
    pub(crate) closes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// A page of 13 bytes that is part of the program of every server.
    Hello,
    /// The file of 16 KiB.
    File,
}

impl Page {
    fn path(self) -> &'static str {
        match self {
            Self::Hello => "/hello",
            Self::File => site::FILE_PATH,
        }
    }

    fn body(self) -> Vec<u8> {
        match self {
            Self::Hello => b"Hello, world!".to_vec(),
            Self::File => site::file(),
        }
    }
}

/// The requests that every connection sends, and the answer that the load expects.
struct Script {
    /// The bytes of all requests that are sent at once.
    requests: Vec<u8>,
    depth: usize,
    closes: bool,
}

/// The open connections; each of them has requests that are not answered yet.
pub(crate) struct Clients {
    addr: SocketAddr,
    poll: Poll,
    events: Events,
    connections: Vec<Connection>,
    script: Script,
    answers: Answers,
    buffer: Vec<u8>,
}

/// The result of [`Clients::count`].
pub(crate) struct Counted {
    pub(crate) answers: u64,
    pub(crate) elapsed: Duration,
}

impl Clients {
    /// Connects all clients, and sends the first requests.
    pub(crate) fn connect(addr: SocketAddr, load: &Load) -> anyhow::Result<Clients> {
        let close = if load.closes { "Connection: close\r\n" } else { "" };
        let request = format!("GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\n{close}\r\n", load.page.path());
        let script =
            Script { requests: request.repeat(load.depth).into(), depth: load.depth, closes: load.closes };
        let poll = Poll::new()?;
        let connections =
            (0..load.connections).map(|number| Connection::open(addr, &poll, Token(number), &script));
        Ok(Clients {
            addr,
            connections: connections.collect::<anyhow::Result<_>>()?,
            poll,
            events: Events::with_capacity(load.connections.min(1024)),
            script,
            answers: Answers::with_body(load.page.body()),
            buffer: vec![0; BUFFER],
        })
    }

    /// Counts the answers that arrive within `duration`.
    ///
    /// # Errors
    /// Returns an error if an answer is not the expected answer, or if no answer arrives for five seconds.
    pub(crate) fn count(&mut self, duration: Duration) -> anyhow::Result<Counted> {
        self.count_until(|_, elapsed| elapsed >= duration)
    }

    /// Waits until the given number of answers (and only a few more) have arrived.
    ///
    /// # Errors
    /// Returns the errors of [`count`](Clients::count).
    pub(crate) fn take(&mut self, answers: u64) -> anyhow::Result<Counted> {
        self.count_until(|counted, _| counted >= answers)
    }

    fn count_until(&mut self, enough: impl Fn(u64, Duration) -> bool) -> anyhow::Result<Counted> {
        let began = Instant::now();
        let mut answers = 0;
        loop {
            match self.poll.poll(&mut self.events, Some(PATIENCE)) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                polled => polled.context("cannot wait for answers")?,
            }
            ensure!(!self.events.is_empty(), "no answer for {PATIENCE:?}");
            for event in &self.events {
                let token = event.token();
                let connection = &mut self.connections[token.0];
                let Progress { came, ended } =
                    connection.go_on(event, &self.script, &mut self.answers, &mut self.buffer)?;
                answers += came;
                // In the row `close` the server must close each connection. In the other rows the server may
                // close a connection between two requests. The cost of a new connection counts as a cost of
                // the server.
                if ended {
                    *connection = Connection::open(self.addr, &self.poll, token, &self.script)?;
                }
            }
            let elapsed = began.elapsed();
            if enough(answers, elapsed) {
                ensure!(answers > 0, "no answer within {elapsed:?}");
                return Ok(Counted { answers, elapsed });
            }
        }
    }
}
