//! Connections that a token can call back while they are being made.

use executor::CancelToken;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How often a socket that is being connected is looked at: at first, and in the end. In between, the thread sleeps on its token, so
/// a cancel ends it at once.
const OFTEN: Duration = Duration::from_micros(250);
const SELDOM: Duration = Duration::from_millis(5);

/// Connects, or gives up after `longest`. The standard library's `connect` cannot be called back, so the socket does not block meanwhile.
///
/// # Errors
/// What the system says; `TimedOut`; or that the token was cancelled.
pub(crate) fn connect(address: SocketAddr, longest: Duration, token: &CancelToken) -> io::Result<TcpStream> {
    let since = Instant::now();
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    let begun = socket.connect(&address.into());
    if let Err(error) = begun
        && !is_under_way(&error)
    {
        return Err(error);
    }
    let mut pause = OFTEN;
    // A connection that is being made has neither an error nor a peer.
    while socket.peer_addr().is_err() {
        if let Some(error) = socket.take_error()? {
            return Err(error);
        }
        let left = longest.saturating_sub(since.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        token.sleep(pause.min(left))?;
        pause = (pause * 2).min(SELDOM);
    }
    socket.set_nonblocking(false)?;
    Ok(socket.into())
}

fn is_under_way(error: &io::Error) -> bool {
    const IN_PROGRESS: i32 = if cfg!(target_os = "linux") { 115 } else { 36 };
    error.kind() == io::ErrorKind::WouldBlock || (cfg!(unix) && error.raw_os_error() == Some(IN_PROGRESS))
}
