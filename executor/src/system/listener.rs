//! A listener whose `accept` comes back when a token is cancelled.
//!
//! The well-known trick is to connect to one's own listener. It wakes *somebody*: with several threads around
//! one listener that may be a thread that was not meant, and the one that was meant gets a client's
//! connection, which it throws away. Shutting the listener's socket down ends it for all of them. So the
//! thread waits for one of two things at once, a connection and the end of a socket pair of its own, and a
//! cancel closes the other end. That is seen by every thread, now and later, and takes nothing away from
//! anybody.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

use rustix::event::PollFlags;

use super::cancel_signal::CancelSignal;
use crate::cancel::CancelToken;

/// A [`TcpListener`] whose [`accept`](Self::accept) comes back when a token is cancelled.
///
/// Any number of threads may accept. The listener stays open: clients that connect after the cancel wait in
/// its backlog for whoever accepts next, through [`into_inner`](Self::into_inner) or another clone.
///
/// ```
/// use std::net::TcpListener;
/// use executor::{CancelToken, CancellableListener, Cancelled};
///
/// let token = CancelToken::new();
/// let listener = CancellableListener::new(TcpListener::bind(("127.0.0.1", 0))?, &token)?;
/// let accepts = std::thread::spawn(move || listener.accept().map(drop));
/// token.cancel();
/// assert!(Cancelled::from_io(accepts.join().unwrap().unwrap_err()).is_ok());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct CancellableListener {
    listener: TcpListener,
    token: CancelToken,
    signal: CancelSignal,
}

impl CancellableListener {
    /// Has `accept` come back when `token` is cancelled. The listener becomes non-blocking, and so do clones
    /// of it that were made before.
    ///
    /// # Errors
    /// If the system has no more file descriptors: it takes two.
    pub fn new(listener: TcpListener, token: &CancelToken) -> io::Result<Self> {
        listener.set_nonblocking(true)?; // the connection that woke this thread may have gone to another one
        Ok(Self { listener, token: token.clone(), signal: CancelSignal::new(token)? })
    }

    /// Waits for the next connection. The stream is a blocking one.
    ///
    /// # Errors
    /// An error that has [`struct@crate::Cancelled`] in it if the token is cancelled: no connection is taken
    /// then. Otherwise as [`TcpListener::accept`].
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        loop {
            self.token.check()?;
            match self.listener.accept() {
                Ok((stream, peer)) => {
                    stream.set_nonblocking(false)?; // it inherits the listener's mode on some systems
                    return Ok((stream, peer));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.signal.wait(&self.listener, PollFlags::IN, None)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The listener itself.
    pub fn get_ref(&self) -> &TcpListener {
        &self.listener
    }

    /// Gives the listener back, blocking again.
    ///
    /// The mode belongs to the socket, so its clones are blocking again, too. If another
    /// `CancellableListener` has one of them, a thread in its [`accept`](Self::accept) is then blocked where
    /// no cancel reaches it. So call this when nobody accepts any more; or just drop the value, which leaves
    /// the mode as it is.
    ///
    /// # Errors
    /// If the system cannot make it blocking.
    pub fn into_inner(self) -> io::Result<TcpListener> {
        self.listener.set_nonblocking(false)?;
        Ok(self.listener)
    }
}
