//! The listening socket, and an accept loop that outlives its errors and can be stopped.
//!
//! | `accept` | what it means | what the loop does |
//! |---|---|---|
//! | gives a connection, and there is room | | hands it out |
//! | gives a connection, and there is none | the [crowd](crate::crowd) is complete | tells it 503 |
//! | fails, since the client has gone or a signal came | nothing | tries again |
//! | fails otherwise | most likely, descriptors have run out | lets the clients go that it has turned away; or reports, pauses, tries again |
//!
//! Nothing portable ends an `accept` that waits. So a stop connects to the listener: that wakes one thread,
//! and each thread that was woken wakes the next.

use crate::connection::Connection;
use crate::crowd::Crowd;
use crate::diagnostics::report;
use crate::turned_away::{TurnedAway, is_ready_within};
use executor::{CancelToken, Registration};
#[cfg(target_os = "linux")]
use socket2::SockRef;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind};
use std::iter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
#[cfg(target_os = "linux")]
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

/// How many connections the system keeps ready that no thread has accepted yet, unless it is told otherwise. (Linux cuts
/// this to `net.core.somaxconn`.) A burst that finds no room there is dropped and retried after a second by its clients.
pub(crate) const BACKLOG: u16 = 1024;

/// How long no client has to have come before a listener that is closing is closed: some are half connected.
pub(crate) const LAST_MOMENT: Duration = Duration::from_millis(50);

pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(10);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A listening socket, and the accept loop as an iterator.
///
/// Threads may share one and iterate over it at the same time: each connection goes to one of them.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    local_addr: SocketAddr,
    turned_away: TurnedAway,
    crowd: Crowd,
}

impl Listener {
    /// Listens on `addr`; port 0 means any free port, which [`local_addr`](Listener::local_addr) then tells.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AddrInUse`] when somebody listens there already, and whatever else the system says.
    pub fn bind(addr: SocketAddr) -> io::Result<Listener> {
        Listener::bind_with_backlog(addr, BACKLOG)
    }

    /// Listens on `addr`, and has the system keep about `backlog` connections that no thread has accepted yet.
    ///
    /// # Errors
    ///
    /// As [`bind`](Listener::bind).
    pub fn bind_with_backlog(addr: SocketAddr, backlog: u16) -> io::Result<Listener> {
        Listener::listen(Listener::socket(addr)?, addr, backlog)
    }

    /// Listens on `addr` with as many listeners. On Linux each has a queue of its own, and the system deals new
    /// connections out among them; elsewhere they share one queue.
    ///
    /// # Errors
    ///
    /// As [`bind`](Listener::bind).
    ///
    /// # Panics
    ///
    /// If `count` is zero.
    // ANCHOR: several
    pub fn bind_each(addr: SocketAddr, count: usize) -> io::Result<Vec<Listener>> {
        assert!(count > 0, "somebody has to listen");
        let first = Listener::bind(addr)?;
        let others = (1..count).map(|_| first.another()).collect::<io::Result<Vec<_>>>()?;
        Ok(iter::once(first).chain(others).collect())
    }

    /// Has at most as many connections open as `crowd` admits. Who comes then is told 503, with `Retry-After`, and closed:
    /// by [`incoming`](Listener::incoming) itself, or by the event loop that the listener belongs to.
    #[must_use]
    pub fn admitting(mut self, crowd: &Crowd) -> Listener {
        self.crowd = crowd.clone();
        self
    }

    /// Another listener at the address of this one.
    #[cfg(target_os = "linux")]
    fn another(&self) -> io::Result<Listener> {
        // Linux lets sockets of one user listen at the same address if all of them allow it. The first does not allow it
        // before it listens. So its `listen` fails if anything else listens there, and from then on everything else is
        // refused, also a server that starts in the same way.
        //
        // Two things remain. Another program that asks for this very port may listen before the first does: then this
        // fails, and nothing is shared. And from now on a program of the same user that allows sharing, too, gets a share.
        // To forbid it again once all listen does not help: Linux has noted for the port that it was allowed.
        SockRef::from(&self.socket).set_reuse_port(true)?;
        let socket = Listener::socket(self.local_addr)?;
        socket.set_reuse_port(true)?;
        Listener::listen(socket, self.local_addr, BACKLOG)
    }
    // ANCHOR_END: several

    #[cfg(not(target_os = "linux"))]
    fn another(&self) -> io::Result<Listener> {
        let socket = self.socket.try_clone()?;
        Ok(Listener {
            socket,
            local_addr: self.local_addr,
            turned_away: TurnedAway::default(),
            crowd: Crowd::default(),
        })
    }

    fn socket(addr: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(addr), Type::STREAM, Some(Protocol::TCP))?;
        // Without this a restarted server waits until the old one's connections are forgotten. On Windows the
        // option means something else: to take a port from whoever has it.
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        // Answers leave in as few writes as they can, so waiting to merge small ones would only delay them. On Linux each
        // accepted socket has this from here, which saves a system call for each.
        socket.set_tcp_nodelay(true)?;
        Ok(socket)
    }

    fn listen(socket: Socket, addr: SocketAddr, backlog: u16) -> io::Result<Listener> {
        socket.bind(&addr.into())?;
        socket.listen(backlog.into())?;
        let socket = TcpListener::from(socket);
        let local_addr = socket.local_addr()?;
        Ok(Listener { socket, local_addr, turned_away: TurnedAway::default(), crowd: Crowd::default() })
    }

    /// The address that clients connect to.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
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
        self.turned_away.count_from(stop);
        let wake = stop.on_cancel(move || wake_one_accept(local_addr));
        Incoming { listener: self, stop: stop.clone(), pause: FIRST_PAUSE, _wake: wake }
    }

    /// For an event loop: accepting does not wait.
    pub(crate) fn into_nonblocking(self) -> io::Result<(TcpListener, Crowd)> {
        self.socket.set_nonblocking(true)?;
        Ok((self.socket, self.crowd))
    }

    /// Ends listening. Clients that the system has connected and that no thread has accepted are told 503. Just closed
    /// on them, they would see a reset in place of an answer.
    ///
    /// What it gives back knows them, and the clients that are turned away from now on: their connections stay open
    /// until they are [seen off](TurnedAway::see_off).
    ///
    /// # Blocking
    ///
    /// Until no client has come for 50 ms, and for a second at most. On Linux no client can come from the beginning:
    /// one that tries is not answered, tries again after a second, and finds that nobody listens. On other systems
    /// a client that comes between the last look and the end is reset.
    pub fn close(self) -> TurnedAway {
        let Listener { socket, turned_away, crowd, .. } = self;
        turned_away.count_from_now();
        stop_connecting(&socket);
        if socket.set_nonblocking(true).is_ok() {
            let mut late = Vec::new();
            let deadline = Instant::now() + LONGEST_PAUSE;
            loop {
                match socket.accept() {
                    Ok((stream, peer)) => {
                        crowd.turn_away();
                        late.push(Connection::new(stream, peer, turned_away.clone(), None));
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        if Instant::now() >= deadline || !is_ready_within(&socket, LAST_MOMENT) {
                            break;
                        }
                    }
                    Err(error) if is_the_clients(&error) => {}
                    Err(_) if Instant::now() >= deadline => break,
                    // Out of descriptors: those that are here have to go for the others.
                    Err(_) => {
                        late.clear();
                        turned_away.see_off(Instant::now() + LAST_MOMENT);
                        thread::sleep(FIRST_PAUSE);
                    }
                }
            }
            // Before they are answered: some ask again at once, and would be reset as the next in the queue.
            drop(socket);
        }
        turned_away
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
        let Listener { socket, local_addr, turned_away, crowd } = self.listener;
        while !self.stop.is_cancelled() {
            turned_away.look_after_until(socket);
            match socket.accept() {
                Ok((stream, peer)) => {
                    self.pause = FIRST_PAUSE;
                    let place = crowd.enter();
                    let has_room = place.is_some();
                    let connection = Connection::new(stream, peer, turned_away.clone(), place);
                    if !self.stop.is_cancelled() {
                        if has_room {
                            return Some(connection);
                        }
                        continue; // dropped, it answers 503
                    }
                    // This may have been the wake-up of another thread, whose own will not come: dropping our
                    // registration takes ours back. So each thread that was woken wakes the next.
                    wake_one_accept(*local_addr);
                }
                Err(error) if is_the_clients(&error) => {}
                // Descriptors have run out, and here are some.
                Err(_) if turned_away.hang_up() => {}
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

/// Whether a client gave up before it was accepted, or a signal came. Neither says anything about the next `accept`.
pub(crate) fn is_the_clients(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted)
}

/// Lets the system drop what would begin a new connection. Connections that have begun are completed.
#[cfg(target_os = "linux")]
pub(crate) fn stop_connecting(socket: &impl AsFd) {
    use socket2::SockFilter;
    // A program for the system's packet filter: load the byte of TCP's flags; is SYN among them? Then drop the segment.
    const NO_SYN: [SockFilter; 4] = [
        SockFilter::new(0x30, 0, 0, 13),
        SockFilter::new(0x45, 0, 1, 0x02),
        SockFilter::new(0x06, 0, 0, 0),
        SockFilter::new(0x06, 0, 0, u32::MAX),
    ];
    // Where that is forbidden, it is as on other systems.
    let _ = SockRef::from(socket).attach_filter(&NO_SYN);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn stop_connecting<S>(_: &S) {}

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
