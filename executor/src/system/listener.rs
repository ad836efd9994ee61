//! A listener whose `accept` comes back when a token is cancelled.
//!
//! A well-known trick wakes a thread that is blocked in `accept`: the program connects to its own listener.
//! But if several threads accept on the listener, another thread may get this connection. Then the cancelled
//! thread gets a client's connection, and throws it away. A shutdown of the listener's socket would end the
//! listener for all threads. So each thread waits for two sockets together: the listener, and one end of a
//! private socket pair. A cancel closes the other end of the pair. Closing it wakes every thread that waits
//! now or later, and no client loses its connection.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

use rustix::event::PollFlags;

use super::cancel_signal::CancelSignal;
use crate::cancel::CancelToken;

/// A [`TcpListener`] whose [`accept`](Self::accept) comes back when a token is cancelled.
///
/// Any number of threads may accept. The listener stays open: clients that connect after the cancel wait in
/// its backlog until a thread accepts them, through [`into_inner`](Self::into_inner) or another clone.
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
    /// Makes a listener whose `accept` comes back when `token` is cancelled. `listener` becomes non-blocking,
    /// and so do the clones of it that were made before.
    ///
    /// # Errors
    /// Fails if the system has no more file descriptors; this call needs two.
    pub fn new(listener: TcpListener, token: &CancelToken) -> io::Result<Self> {
        listener.set_nonblocking(true)?; // perhaps another thread took the connection that woke this thread
        Ok(Self { listener, token: token.clone(), signal: CancelSignal::new(token)? })
    }

    /// Waits for the next connection. The returned stream is blocking.
    ///
    /// # Errors
    /// An error that has [`struct@crate::Cancelled`] in it if the token is cancelled: then no connection is
    /// taken. All other errors come from [`TcpListener::accept`].
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

    /// Returns the listener itself.
    pub fn get_ref(&self) -> &TcpListener {
        &self.listener
    }

    /// Returns the listener and makes it blocking again.
    ///
    /// The mode belongs to the socket, so its clones are blocking again, too. If another
    /// `CancellableListener` has a clone, a thread in its [`accept`](Self::accept) can then block in the
    /// system, and no cancel wakes it there. So call this only when no thread accepts any more; or just drop
    /// the value, which leaves the mode as it is.
    ///
    /// # Errors
    /// Fails if the system cannot make the socket blocking.
    pub fn into_inner(self) -> io::Result<TcpListener> {
        self.listener.set_nonblocking(false)?;
        Ok(self.listener)
    }
}
