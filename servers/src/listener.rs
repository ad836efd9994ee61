//! The listening socket, and an accept loop that survives errors and can be stopped.
//!
//! | `accept` | what it means | what the loop does |
//! |---|---|---|
//! | returns a connection, and there is room | nothing special | returns it to its caller |
//! | returns a connection, and there is no room | the [crowd](crate::crowd) is complete | answers it with 503 |
//! | fails, because the client has gone or a signal came | nothing special | tries again |
//! | fails for another reason | probably, descriptors have run out | closes the connections of clients that it has turned away; if there are none, reports the error, pauses, and tries again |
//!
//! No portable system call can end an `accept` that is waiting. So a stop opens a connection to the listener:
//! this connection wakes one thread, and each woken thread wakes the next.

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

/// By default the system keeps this many connections before a thread accepts them. (Linux cuts this
/// number to `net.core.somaxconn`.) If there is no room for a connection, the system drops it, and the
/// client tries again after a second.
pub(crate) const BACKLOG: u16 = 1024;

/// A closing listener stays open until no client has arrived for this time, because some connections may not
/// be established yet.
pub(crate) const LAST_MOMENT: Duration = Duration::from_millis(50);

pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(10);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A listening socket, with the accept loop as an iterator.
///
/// Threads may share a listener and iterate over it at the same time: each connection goes to one of
/// these threads.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    local_addr: SocketAddr,
    turned_away: TurnedAway,
    crowd: Crowd,
}

impl Listener {
    /// Listens on `addr`; port 0 means any free port, which [`local_addr`](Listener::local_addr)
    /// then returns.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::AddrInUse`] if another socket already listens on this address; also returns other
    /// errors of the system.
    pub fn bind(addr: SocketAddr) -> io::Result<Listener> {
        Listener::bind_with_backlog(addr, BACKLOG)
    }

    /// Listens on `addr`. The system keeps about `backlog` connections that no thread has accepted yet.
    ///
    /// # Errors
    ///
    /// The same errors as [`bind`](Listener::bind).
    pub fn bind_with_backlog(addr: SocketAddr, backlog: u16) -> io::Result<Listener> {
        Listener::listen(Listener::socket(addr)?, addr, backlog)
    }

    /// Makes `count` listeners that all listen on `addr`. On Linux each listener has its own queue, and the
    /// system distributes new connections among the queues. On other systems the listeners share one queue.
    ///
    /// # Errors
    ///
    /// The same errors as [`bind`](Listener::bind).
    ///
    /// # Panics
    ///
    /// Panics if `count` is zero.
    // ANCHOR: several
    pub fn bind_each(addr: SocketAddr, count: usize) -> io::Result<Vec<Listener>> {
        assert!(count > 0, "there must be a listener");
        let first = Listener::bind(addr)?;
        let others = (1..count).map(|_| first.another()).collect::<io::Result<Vec<_>>>()?;
        Ok(iter::once(first).chain(others).collect())
    }

    /// Limits the number of open connections to the number that `crowd` admits. Any further client gets a 503
    /// with `Retry-After`, and its connection is closed. The caller need not turn the client away:
    /// [`incoming`](Listener::incoming) or the listener's event loop does this.
    #[must_use]
    pub fn admitting(mut self, crowd: &Crowd) -> Listener {
        self.crowd = crowd.clone();
        self
    }

    /// Makes another listener at the address of this one.
    #[cfg(target_os = "linux")]
    fn another(&self) -> io::Result<Listener> {
        // Linux lets several sockets of one user listen at the same address if all these sockets allow it.
        // The first socket does not allow sharing before it listens. So the `listen` of the first socket
        // fails if any other socket listens on the address. Afterwards the system refuses every other socket,
        // even the socket of a server that starts in the same way.
        //
        // Two problems remain. First, another program may begin to listen on exactly this port before our
        // first socket listens: then this function fails, and nothing is shared. Second, from now on any
        // other program of the same user gets some of the clients if it also allows sharing. It does not help
        // to forbid sharing after all sockets listen, because Linux remembers for the port that sharing was
        // allowed.
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
        // Without this option, a restarted server must wait until the system has forgotten the server's old
        // connections. On Windows the option means something else: with this option, a program can take a
        // port that another program is using.
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        // Each answer is sent in as few writes as possible, so it would only cause delay if the system
        // waited in order to merge small writes. On Linux each accepted socket inherits this option, which
        // saves a system call for each connection.
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

    /// Returns the address that clients connect to.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Returns the incoming connections; the iterator never ends.
    ///
    /// # Blocking
    ///
    /// The method `next` blocks until there is a connection. If `accept` fails, the iteration does
    /// not end. The error is reported on stderr and `accept` is called again, after a pause if a
    /// resource has run out.
    pub fn incoming(&self) -> Incoming<'_> {
        self.incoming_until(&CancelToken::new())
    }

    /// Returns the connections that arrive until `stop` is cancelled; the stop also ends a wait for a
    /// connection.
    ///
    /// If threads share the listener and must all stop, they must also share the token.
    pub fn incoming_until(&self, stop: &CancelToken) -> Incoming<'_> {
        let local_addr = self.local_addr;
        self.turned_away.count_from(stop);
        let wake = stop.on_cancel(move || wake_one_accept(local_addr));
        Incoming { listener: self, stop: stop.clone(), pause: FIRST_PAUSE, _wake: wake }
    }

    /// Makes a socket for an event loop: its `accept` never waits.
    pub(crate) fn into_nonblocking(self) -> io::Result<(TcpListener, Crowd)> {
        self.socket.set_nonblocking(true)?;
        Ok((self.socket, self.crowd))
    }

    /// Closes the listener. Clients that are connected but not accepted yet get a 503. Without this answer,
    /// these clients would see a reset.
    ///
    /// Returns the connections of these clients, and of clients that are turned away later. These connections
    /// stay open until the clients are [seen off](TurnedAway::see_off).
    ///
    /// # Blocking
    ///
    /// Blocks until no client has arrived for 50 ms, but at most for a second. On Linux no new client can
    /// connect after the call has begun: the client's first attempt gets no reply, and its second attempt, a
    /// second later, is refused. On other systems a client gets a reset if it arrives between the last check
    /// and the end.
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
                    // No descriptors are left, so the connections of accepted clients must be closed before
                    // other clients can be accepted.
                    Err(_) => {
                        late.clear();
                        turned_away.see_off(Instant::now() + LAST_MOMENT);
                        thread::sleep(FIRST_PAUSE);
                    }
                }
            }
            // The listener is closed before the clients get their answers, because some clients connect again
            // at once; they would then wait in the queue and get a reset.
            drop(socket);
        }
        turned_away
    }
}

/// Iterates over the connections of a [`Listener`] in the order of their arrival.
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
                        continue; // the dropped connection answers 503
                    }
                    // Perhaps this connection was meant to wake another thread. When this thread drops its
                    // registration, it withdraws its own wake-up; then the other thread would get no wake-up.
                    // So each woken thread wakes the next.
                    wake_one_accept(*local_addr);
                }
                Err(error) if is_the_clients(&error) => {}
                // Descriptors had run out, and `hang_up` has freed some.
                Err(_) if turned_away.hang_up() => {}
                Err(error) => self.back_off(&error),
            }
        }
        None
    }
}

impl Incoming<'_> {
    /// Pauses the loop, each time for longer: without descriptors or memory, `accept` fails at once, and
    /// without a pause the loop would be busy. During this pause the client waits in the backlog.
    fn back_off(&mut self, error: &io::Error) {
        report(format_args!("cannot accept a connection, trying again: {error}"));
        let _ = self.stop.sleep(self.pause);
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

/// Returns whether the error means that a client left before it was accepted, or that a signal came.
/// After either error, the next `accept` can succeed.
pub(crate) fn is_the_clients(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted)
}

/// Makes the system drop the first packets of new connections. Connections that are already being established
/// are completed.
#[cfg(target_os = "linux")]
pub(crate) fn stop_connecting(socket: &impl AsFd) {
    use socket2::SockFilter;
    // A program for the system's packet filter: it loads the byte with the flags of TCP, and drops the
    // segment if the SYN flag is set.
    const NO_SYN: [SockFilter; 4] = [
        SockFilter::new(0x30, 0, 0, 13),
        SockFilter::new(0x45, 0, 1, 0x02),
        SockFilter::new(0x06, 0, 0, 0),
        SockFilter::new(0x06, 0, 0, u32::MAX),
    ];
    // If the system does not allow the filter, the listener behaves as it does on other systems.
    let _ = SockRef::from(socket).attach_filter(&NO_SYN);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn stop_connecting<S>(_: &S) {}

/// Wakes a thread that waits in `accept`. Only a connection wakes such a thread portably, so this
/// function opens a connection.
fn wake_one_accept(local_addr: SocketAddr) {
    // If this connection fails, the queue of connections is full, so `accept` returns soon anyway.
    let _ = TcpStream::connect_timeout(&reachable(local_addr), LONGEST_PAUSE);
}

/// Returns the address for reaching a listener from this process: a listener on every address is reached at
/// the loopback address.
fn reachable(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, addr.port())
}
