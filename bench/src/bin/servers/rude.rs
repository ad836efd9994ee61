//! Runs slow clients of four kinds on one thread: each client holds a connection and makes the server wait.
//!
//! If the server closes the connection of a client, the client connects again, at most half a second later.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use crate::visitor;

/// The clients are divided into this number of groups; in each tick, the clients of one group act.
const GROUPS: usize = 10;
const TICK: Duration = Duration::from_millis(50);

/// The limit for the number of times that a client connects again, on average over all clients.
const MOST_VISITS: usize = 2000;

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The client connects, and sends nothing.
    Silent,
    /// The client sends a head that never ends, one byte every half second.
    SlowHead,
    /// The client sends one request, and sends nothing after it has received the answer.
    Idle,
    /// The client sends a body, one byte every half second.
    SlowBody,
}

const KINDS: [Kind; 4] = [Kind::Silent, Kind::SlowHead, Kind::Idle, Kind::SlowBody];

impl Kind {
    fn begins_with(self) -> &'static [u8] {
        match self {
            Self::Silent => b"",
            Self::SlowHead => b"GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
            Self::Idle => b"GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            Self::SlowBody => b"POST /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n\r\n",
        }
    }

    fn goes_on_with(self) -> &'static [u8] {
        match self {
            Self::Silent | Self::Idle => b"",
            Self::SlowHead | Self::SlowBody => b"x",
        }
    }
}

/// The numbers of slow clients' connections that the server has closed.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Cut {
    /// How often the server closed the connection of a client, for each kind of client (silent, slow head,
    /// idle, slow body).
    pub(crate) by_kind: [usize; 4],
    visits: usize,
}

/// Slow clients that continue until this value is [finished](Rude::finish) or dropped.
pub(crate) struct Rude {
    stop: Sender<()>,
    thread: JoinHandle<Cut>,
}

impl Rude {
    /// Starts the slow clients. Returns when all clients have connected for the first time. The clients leave
    /// after at most `longest`.
    pub(crate) fn start(addr: SocketAddr, count: usize, longest: Duration) -> anyhow::Result<Rude> {
        let (stop, stopped) = mpsc::channel();
        let (ready, is_ready) = mpsc::channel();
        let thread = thread::spawn(move || bother(addr, count, longest, &stopped, &ready));
        is_ready.recv_timeout(visitor::PATIENCE).context("the slow clients do not come in")?;
        Ok(Rude { stop, thread })
    }

    pub(crate) fn finish(self) -> anyhow::Result<Cut> {
        drop(self.stop);
        self.thread.join().map_err(|_| anyhow!("the slow clients panicked"))
    }
}

fn bother(
    addr: SocketAddr,
    count: usize,
    longest: Duration,
    stopped: &Receiver<()>,
    ready: &Sender<()>,
) -> Cut {
    let mut cut = Cut::default();
    let mut clients: Vec<_> = (0..count).map(|_| None).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        *client = enter(addr, KINDS[number % KINDS.len()], &mut cut);
    }
    let _ = ready.send(());
    let began = Instant::now();
    let mut group = 0;
    while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) && began.elapsed() < longest {
        for (number, client) in clients.iter_mut().enumerate().skip(group).step_by(GROUPS) {
            let kind = number % KINDS.len();
            let Some(stream) = client else {
                if cut.visits < count * MOST_VISITS {
                    *client = enter(addr, KINDS[kind], &mut cut);
                }
                continue;
            };
            if !bothers(stream, KINDS[kind]) {
                cut.by_kind[kind] += 1;
                *client = None;
            }
        }
        group = (group + 1) % GROUPS;
    }
    cut
}

fn enter(addr: SocketAddr, kind: Kind, cut: &mut Cut) -> Option<TcpStream> {
    cut.visits += 1;
    let mut stream = TcpStream::connect_timeout(&addr, TICK).ok()?;
    stream.write_all(kind.begins_with()).ok()?;
    stream.set_nonblocking(true).ok()?;
    Some(stream)
}

/// Sends a few more bytes on a connection, unless the server has closed it.
fn bothers(stream: &mut TcpStream, kind: Kind) -> bool {
    loop {
        match stream.read(&mut [0; 1024]) {
            Ok(1..) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            _ => return false,
        }
    }
    let more = kind.goes_on_with();
    more.is_empty() || stream.write_all(more).is_ok()
}
