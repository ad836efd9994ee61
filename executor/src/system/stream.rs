//! A connection whose blocking calls return when a token is cancelled.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};

use crate::cancel::{CancelToken, Registration};
use crate::sync::Arc;

/// A [`TcpStream`] that is shut down when a token is cancelled, so that a blocked `read` or `write` returns.
///
/// Use this type in a task that serves a connection, and give the task's token to the stream. Then the
/// connection also ends when the task's handle is cancelled or the task's pool is stopped. Like a
/// `TcpStream`, the stream can be read and written through a shared reference.
///
/// ```
/// use std::io::Read;
/// use std::net::{TcpListener, TcpStream};
/// use executor::{CancelToken, CancellableStream, Cancelled};
///
/// let listener = TcpListener::bind(("127.0.0.1", 0))?;
/// let _silent_peer = TcpStream::connect(listener.local_addr()?)?;
/// let token = CancelToken::new();
/// let mut stream = CancellableStream::new(listener.accept()?.0, &token);
///
/// # #[cfg(unix)] {
/// let reader = std::thread::spawn(move || stream.read(&mut [0; 512]));
/// token.cancel_because("the server is stopping");
/// let error = reader.join().unwrap().unwrap_err();
/// let cancelled = Cancelled::from_io(error)?;
/// assert_eq!(cancelled.reason().unwrap().message(), Some("the server is stopping"));
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// After the token was cancelled, a call that transfers no data fails with an error that has
/// [`struct@crate::Cancelled`] in it; see [`from_io`](crate::Cancelled::from_io).
///
/// # Cancellation
///
/// The cancellation shuts the connection down even while a [`masked`](crate::masked) step uses the
/// connection. If a task must send a last message, give the stream another token, and cancel that token
/// later. On Windows, a cancellation does not end a read that is already blocked: the read returns when the
/// peer sends something. So on Windows, give the stream a time limit ([`TcpStream::set_read_timeout`]).
#[derive(Debug)]
pub struct CancellableStream {
    token: CancelToken,
    stream: Arc<TcpStream>,
    _shuts_down: Registration,
}

impl CancellableStream {
    /// Makes a stream that is shut down when `token` is cancelled, or at once if `token` is already
    /// cancelled.
    ///
    /// ```
    /// use executor::{CancelToken, CancellableStream};
    /// use std::io::{Read, Write};
    /// use std::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// let mut client = TcpStream::connect(listener.local_addr()?)?;
    /// let mut stream = CancellableStream::new(listener.accept()?.0, &CancelToken::new());
    /// client.write_all(b"hello")?;
    /// let mut text = [0; 5];
    /// stream.read_exact(&mut text)?; // as from a `TcpStream`
    /// assert_eq!(&text, b"hello");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new(stream: TcpStream, token: &CancelToken) -> Self {
        let stream = Arc::new(stream);
        let shared = Arc::clone(&stream);
        let shuts_down = token.on_cancel(move || {
            let _ = shared.shutdown(Shutdown::Both); // fails only if the connection has ended already
        });
        Self { token: token.clone(), stream, _shuts_down: shuts_down }
    }

    /// Connects to an address within `timeout`. On this system, a cancellation does not end the wait: the
    /// call checks the token again only after the system's `connect` has returned.
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
    /// Returns the errors of [`TcpStream::connect_timeout`], or an error that has
    /// [`struct@crate::Cancelled`] in it.
    ///
    /// # Blocking
    /// Blocks until the connection is made, the system refuses it or `timeout` is over.
    #[cfg(all(not(unix), feature = "sockets"))]
    pub fn connect(
        address: std::net::SocketAddr,
        timeout: std::time::Duration,
        token: &CancelToken,
    ) -> io::Result<Self> {
        token.check()?;
        let longest = std::time::Duration::from_secs(24 * 60 * 60); // no system refuses this limit as too long
        let stream = TcpStream::connect_timeout(&address, timeout.min(longest))?;
        token.check()?;
        Ok(Self::new(stream, token))
    }

    /// Returns the stream itself, to change its settings.
    ///
    /// ```
    /// use executor::{CancelToken, CancellableStream};
    /// use std::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// let stream = TcpStream::connect(listener.local_addr()?)?;
    /// let stream = CancellableStream::new(stream, &CancelToken::new());
    /// stream.get_ref().set_nodelay(true)?;
    /// assert!(stream.get_ref().nodelay()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn get_ref(&self) -> &TcpStream {
        &self.stream
    }

    /// Returns the stream. A cancellation before this call has already shut the stream down; a cancellation
    /// after this call does not shut it down. If another thread is cancelling the token at this moment, this
    /// call waits until the stream is shut down.
    ///
    /// ```
    /// use executor::{CancelToken, CancellableStream};
    /// use std::io::Write;
    /// use std::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind(("127.0.0.1", 0))?;
    /// let token = CancelToken::new();
    /// let stream = CancellableStream::new(TcpStream::connect(listener.local_addr()?)?, &token);
    /// let mut stream = stream.into_inner();
    /// token.cancel(); // has no effect on the stream
    /// assert!(stream.write_all(b"goodbye").is_ok());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn into_inner(self) -> TcpStream {
        let Self { stream, _shuts_down: registration, .. } = self;
        drop(registration);
        Arc::into_inner(stream).expect("the dropped callback held the only other one")
    }

    /// Runs `call` with the stream, and returns the result of `call`. But if the token is cancelled and
    /// `call` transfers no data, because of an error or the end of the stream, the function returns the
    /// token's error.
    fn call(&self, call: impl FnOnce(&TcpStream) -> io::Result<usize>) -> io::Result<usize> {
        self.token.check()?;
        match call(&self.stream) {
            Ok(count) if count > 0 => Ok(count),
            other => self.token.check().map_err(Into::into).and(other),
        }
    }
}

impl Read for &CancellableStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.call(|mut stream| stream.read(buffer))
    }
}

impl Write for &CancellableStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.call(|mut stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.get_ref().flush()
    }
}

impl Read for CancellableStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl Write for CancellableStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self).flush()
    }
}
