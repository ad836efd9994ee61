use crate::connection::Connection;
use crate::diagnostics::report;
use executor::{CancelToken, Registration};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Write};
use std::iter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// How many connections the system keeps ready that no thread has accepted yet. (Linux cuts this to
/// `net.core.somaxconn`.) A burst that finds no room there is dropped and retried after a second by its clients.
const BACKLOG: i32 = 1024;

/// How long nobody has to have come before a listener that is closing is closed.
const LAST_MOMENT: Duration = Duration::from_millis(50);

/// How many of those who come too late are accepted before the first of them is answered.
const MOST_AT_ONCE: usize = 100;

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A listening socket, and the accept loop as an iterator.
///
/// Threads may share one and iterate over it at the same time: each connection goes to one of them.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    local_addr: SocketAddr,
}

impl Listener {
    /// Listens on `addr`; port 0 means any free port, which [`local_addr`](Listener::local_addr) then tells.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AddrInUse`] when somebody listens there already, and whatever else the system says.
    pub fn bind(addr: SocketAddr) -> io::Result<Listener> {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
        // Without this a restarted server waits until the old one's connections are forgotten. On Windows the
        // option means something else: to take a port from whoever has it.
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        socket.bind(&addr.into())?;
        socket.listen(BACKLOG)?;
        let socket = TcpListener::from(socket);
        let local_addr = socket.local_addr()?;
        Ok(Listener { socket, local_addr })
    }

    /// The address that clients connect to.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Prints the address as the first line of output, where a script (and the course's tests) can read it.
    pub fn announce(&self) {
        let mut stdout = io::stdout();
        // A server whose output nobody reads still serves.
        let _ = writeln!(stdout, "listening on http://{}/", self.local_addr).and_then(|()| stdout.flush());
    }

    /// The connections that come in, for ever.
    ///
    /// # Blocking
    ///
    /// `next` waits for a connection. A failing `accept` does not end the iteration: it is reported on stderr and
    /// tried again, after a pause where the cause is a resource that has run out.
    pub fn incoming(&self) -> Incoming<'_> {
        self.incoming_until(&CancelToken::new())
    }

    /// The connections that come in until `stop` is cancelled, also when that happens during the wait.
    ///
    /// Threads that share the listener and have to be stopped have to share the token, too.
    pub fn incoming_until(&self, stop: &CancelToken) -> Incoming<'_> {
        let local_addr = self.local_addr;
        let wake = stop.on_cancel(move || wake_one_accept(local_addr));
        Incoming { listener: self, stop: stop.clone(), pause: FIRST_PAUSE, _wake: wake }
    }

    /// Ends listening. Clients that the system has already connected, and that no thread has accepted, are told 503
    /// and reported. Just closed on them, they would see a reset in place of an answer.
    ///
    /// # Blocking
    ///
    /// For a second, and for as long as it takes to answer those who are left then.
    pub fn close(self) {
        let deadline = Instant::now() + LONGEST_PAUSE;
        if self.socket.set_nonblocking(true).is_err() {
            return;
        }
        // A client can be connected, as it sees it, a moment before the system shows it here.
        let mut quiet = Instant::now();
        loop {
            let accept = || self.socket.accept().ok();
            let late: Vec<_> = iter::from_fn(accept).take(MOST_AT_ONCE).collect();
            let is_quiet = late.is_empty() && quiet.elapsed() >= LAST_MOMENT;
            if is_quiet || Instant::now() >= deadline {
                // First: some ask again as soon as they are answered, and would be reset as the next in the queue.
                drop(self.socket);
                return late.into_iter().for_each(turn_away);
            }
            if late.is_empty() {
                thread::sleep(FIRST_PAUSE);
            } else {
                late.into_iter().for_each(turn_away);
                quiet = Instant::now();
            }
        }
    }
}

/// The connections of a [`Listener`], in the order they came.
#[derive(Debug)]
pub struct Incoming<'l> {
    listener: &'l Listener,
    stop: CancelToken,
    pause: Duration,
    _wake: Registration,
}

impl Iterator for Incoming<'_> {
    type Item = Connection;

    fn next(&mut self) -> Option<Connection> {
        while !self.stop.is_cancelled() {
            match self.listener.socket.accept() {
                Ok((stream, peer)) => {
                    self.pause = FIRST_PAUSE;
                    if !self.stop.is_cancelled() {
                        return Some(Connection::new(stream, peer));
                    }
                    // This may have been the wake-up of another thread, whose own will not come: dropping our
                    // registration takes ours back. So each thread that was woken wakes the next.
                    wake_one_accept(self.listener.local_addr);
                    turn_away((stream, peer));
                }
                // The client gave up before we came to it; that says nothing about the next one.
                Err(error)
                    if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                Err(error) => self.back_off(&error),
            }
        }
        None
    }
}

impl Incoming<'_> {
    /// Waits, longer each time, for connections to close: out of descriptors or memory, `accept` fails at once
    /// and would be called in a busy loop. The client waits in the backlog meanwhile.
    fn back_off(&mut self, error: &io::Error) {
        report(format_args!("cannot accept a connection, trying again: {error}"));
        let _ = self.stop.sleep(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

/// Answers 503 to a client that came too late, and says so; but not of one that is gone at once, as our own wake-up is.
fn turn_away((stream, peer): (TcpStream, SocketAddr)) {
    // Some systems hand the listener's setting down.
    let _ = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(FIRST_PAUSE)));
    if !matches!(stream.peek(&mut [0]), Ok(0)) {
        report(format_args!("{peer}: refused, the server is stopping"));
        drop(Connection::new(stream, peer)); // answers
    }
}

/// Brings a thread that waits in `accept` back from it. Nothing portable does but a connection, so we make one.
fn wake_one_accept(local_addr: SocketAddr) {
    // If it fails, the queue of connections is full, and `accept` is about to come back anyway.
    let _ = TcpStream::connect_timeout(&reachable(local_addr), LONGEST_PAUSE);
}

/// Where we can reach a listener ourselves: one bound to every address is reached on the loopback address.
fn reachable(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, addr.port())
}
