//! A listener whose `accept` returns when a token is cancelled.
//!
//! A well-known trick wakes a thread that is blocked in `accept`: the program connects to its own listener.
//! But if several threads accept on the listener, another thread may get the connection that was meant as a
//! wake-up. Then the cancelled thread may get the connection of a client, and throw it away. Shutting the
//! listener's socket down is no solution, because that ends the listener for all threads. So each thread
//! waits for the listener and, at the same time, for one end of a private socket pair. Cancelling the token
//! closes the other end of the pair. The closed end wakes every thread that waits now or later, and no client
//! loses its connection.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

use rustix::event::PollFlags;

use super::cancel_signal::CancelSignal;
use crate::cancel::CancelToken;

/// A [`TcpListener`] whose [`accept`](Self::accept) returns when a token is cancelled.
///
/// Any number of threads may call `accept` at the same time. The listener stays open: after the cancellation,
/// new clients wait in its backlog. A thread can still accept these clients, through
/// [`into_inner`](Self::into_inner) or another clone.
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
    /// Makes a listener whose `accept` returns when `token` is cancelled. The call makes `listener`
    /// and all its existing clones non-blocking.
    ///
    /// ```
    /// use executor::{CancelToken, CancellableListener};
    /// use std::net::TcpListener;
    ///
    /// let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// let listener = CancellableListener::new(listener, &CancelToken::new())?;
    /// assert!(listener.get_ref().local_addr()?.ip().is_loopback());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the system has no more file descriptors; this call needs two.
    pub fn new(listener: TcpListener, token: &CancelToken) -> io::Result<Self> {
        listener.set_nonblocking(true)?; // another thread may take the connection for which this thread was woken
        Ok(Self { listener, token: token.clone(), signal: CancelSignal::new(token)? })
    }

    /// Waits for the next connection. The returned stream is blocking.
    ///
    /// ```
    /// use executor::{CancelToken, CancellableListener};
    /// use std::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// let listener = CancellableListener::new(listener, &CancelToken::new())?;
    /// let client = TcpStream::connect(listener.get_ref().local_addr()?)?;
    /// let (stream, address) = listener.accept()?;
    /// assert_eq!((address, stream.peer_addr()?), (client.local_addr()?, client.local_addr()?));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the token is cancelled, the error has [`struct@crate::Cancelled`] in it. A cancelled call accepts
    /// no connection. All other errors come from [`TcpListener::accept`].
    ///
    /// # Blocking
    /// Blocks until a client connects or the token is cancelled.
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        loop {
            self.token.check()?;
            match self.listener.accept() {
                Ok((stream, peer)) => {
                    stream.set_nonblocking(false)?; // on some systems it gets the listener's mode
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
    ///
    /// ```
    /// use executor::{CancelToken, CancellableListener};
    /// use std::net::TcpListener;
    ///
    /// let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// let address = listener.local_addr()?;
    /// let listener = CancellableListener::new(listener, &CancelToken::new())?;
    /// assert_eq!(listener.get_ref().local_addr()?, address);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn get_ref(&self) -> &TcpListener {
        &self.listener
    }

    /// Returns the listener and makes it blocking again.
    ///
    /// The listener and its clones share the mode, so the clones become blocking again, too. If another
    /// `CancellableListener` has a clone, a thread in the [`accept`](Self::accept) of that other listener can
    /// then block in the system. No cancel wakes this thread. So call `into_inner` only when no thread
    /// accepts any more. Dropping this value leaves the listener non-blocking.
    ///
    /// ```
    /// use executor::{CancelToken, CancellableListener};
    /// use std::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// let token = CancelToken::new();
    /// let cancellable = CancellableListener::new(listener, &token)?;
    /// let _late_client = TcpStream::connect(cancellable.get_ref().local_addr()?)?;
    /// token.cancel();
    /// assert!(cancellable.accept().is_err());
    /// assert!(cancellable.into_inner()?.accept().is_ok()); // the client has waited in the backlog
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the system cannot make the socket blocking.
    pub fn into_inner(self) -> io::Result<TcpListener> {
        self.listener.set_nonblocking(false)?;
        Ok(self.listener)
    }
}
