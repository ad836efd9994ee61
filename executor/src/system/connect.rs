//! A `connect` that returns when a token is cancelled.
//!
//! The socket is non-blocking until it is connected. The thread waits for two events at the same time, the
//! socket and a cancellation, like the thread of a [listener](super::listener). Most connections within one
//! machine are made at once, without a wait.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::event::PollFlags;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};

use super::CancellableStream;
use super::cancel_signal::CancelSignal;
use crate::cancel::CancelToken;
use crate::sync::Instant;

impl CancellableStream {
    /// Connects to an address within `timeout`, unless `token` is cancelled. The standard library's
    /// [`connect_timeout`](std::net::TcpStream::connect_timeout) does not return when a token is cancelled.
    ///
    /// ```
    /// use std::{io, net::TcpListener, time::Duration};
    /// use executor::{CancelToken, CancellableStream};
    ///
    /// let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// let token = CancelToken::new();
    /// let stream = CancellableStream::connect(listener.local_addr()?, Duration::from_secs(10), &token)?;
    /// assert_eq!(stream.get_ref().peer_addr()?, listener.local_addr()?);
    /// # Ok::<(), io::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`TimedOut`](io::ErrorKind::TimedOut) if the connection takes longer than `timeout`; an error
    /// that has [`struct@crate::Cancelled`] in it if `token` is cancelled; otherwise the system's
    /// error, such as [`ConnectionRefused`](io::ErrorKind::ConnectionRefused).
    ///
    /// # Blocking
    /// Blocks until the connection is made, the time `timeout` is over or `token` is cancelled. During the
    /// call, three file descriptors are in use.
    pub fn connect(address: SocketAddr, timeout: Duration, token: &CancelToken) -> io::Result<Self> {
        token.check()?;
        let deadline = Instant::now().checked_add(timeout); // a time beyond the clock's range counts as no limit
        let socket = socket_for(address)?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) => (),
            Err(Errno::INPROGRESS | Errno::INTR) => wait(&socket, deadline, token)?,
            Err(error) => return Err(error.into()),
        }
        rustix::io::ioctl_fionbio(&socket, false)?;
        Ok(Self::new(socket.into(), token))
    }
}

/// Makes a non-blocking socket that child processes do not inherit.
fn socket_for(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let socket = {
        use rustix::net::SocketFlags;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        rustix::net::socket_with(family, SocketType::STREAM, flags, None)?
    };
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let socket = {
        let socket = rustix::net::socket(family, SocketType::STREAM, None)?;
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&socket, true)?;
        socket
    };
    Ok(socket)
}

/// Sleeps until the connection is made or has failed, the deadline has passed, or the token is cancelled.
fn wait(socket: &OwnedFd, deadline: Option<Instant>, token: &CancelToken) -> io::Result<()> {
    let signal = CancelSignal::new(token)?;
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let is_decided = signal.wait(socket, PollFlags::OUT, left)?;
        token.check()?;
        if is_decided {
            return Ok(rustix::net::sockopt::socket_error(socket)??);
        }
        if left.is_some_and(|left| left.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
}
