//! Sockets for `ureq` that the [call](super::call) of the current thread can close.

use super::FetchError;
use super::call::Call;
use super::names::Names;
use executor::CancellableStream;
#[cfg(unix)]
use rustix::net::RecvFlags;
use std::io::{self, ErrorKind, Read, Write};
use std::mem;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport,
};

/// The time that a socket blocks before the call's remaining time is checked. The time-out of the socket is
/// set once for a connection, and again only near the end of the call's time.
const SLICE: Duration = Duration::from_secs(1);

/// The shortest time limit that a system accepts for a socket.
const SHORTEST: Duration = Duration::from_millis(1);

/// Connects to an address that is allowed.
pub(super) struct CallConnector(pub(super) Arc<Names>);

impl std::fmt::Debug for CallConnector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallConnector")
    }
}

impl<In: Transport> Connector<In> for CallConnector {
    type Out = Either<In, Connection>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        before: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        if let Some(through_proxy) = before {
            return Ok(Some(Either::A(through_proxy)));
        }
        let call = Call::current()?;
        let stream = self.connect_to_one(&details.addrs, &call).map_err(|why| call.fail(why))?;
        stream.set_nodelay(true)?;
        Ok(Some(Either::B(Connection {
            stream: Arc::new(stream),
            buffers: LazyBuffers::new(super::AT_ONCE, details.config.output_buffer_size()),
            slices: [None; 2],
            was_used: false,
            is_idle: false,
        })))
    }
}

impl CallConnector {
    /// Tries the given addresses one after the other. Each address gets an equal share of the remaining
    /// time.
    ///
    /// Private addresses are refused here, after the look-up, so that neither a redirect nor a name with a
    /// new address avoids the check.
    fn connect_to_one(&self, addresses: &[SocketAddr], call: &Call) -> Result<TcpStream, FetchError> {
        let mut last = FetchError::Resolve("it has no address".to_owned());
        for (at, address) in addresses.iter().enumerate() {
            if self.0.refuses(address.ip()) {
                last = FetchError::Private(address.ip());
                continue;
            }
            let to_try = u32::try_from(addresses.len() - at).unwrap_or(u32::MAX);
            match connect_to(*address, call, call.left() / to_try) {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = FetchError::Connect(refusal(*address, &error)),
                Err(over) => return Err(over),
            }
        }
        Err(last)
    }
}

fn refusal(address: SocketAddr, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => format!("{address} refuses connections"),
        ErrorKind::TimedOut => format!("{address} does not answer"),
        _ => format!("{address}: {error}"),
    }
}

/// Connects to an address. The inner error is about the address, and the outer error is about the call.
fn connect_to(
    address: SocketAddr,
    call: &Call,
    longest: Duration,
) -> Result<io::Result<TcpStream>, FetchError> {
    let connected =
        CancellableStream::connect(address, longest, call.token()).map(CancellableStream::into_inner);
    call.check()?;
    Ok(connected)
}

/// One of the two time-outs of a socket.
#[derive(Clone, Copy)]
enum Way {
    In,
    Out,
}

/// A connection in the form that `ureq` requires; it outlives the call that created it.
pub(super) struct Connection {
    stream: Arc<TcpStream>,
    buffers: LazyBuffers,
    /// The socket's present time-outs for reading and for writing.
    slices: [Option<Duration>; 2],
    was_used: bool,
    /// True after an answer is complete, and until the next request is sent.
    is_idle: bool,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("stream", &self.stream).finish_non_exhaustive()
    }
}

impl Connection {
    /// Executes a blocking step of a call, in time slices.
    fn step(
        &mut self,
        call: &Call,
        way: Way,
        mut step: impl FnMut(&TcpStream, &mut LazyBuffers) -> io::Result<usize>,
    ) -> Result<usize, FetchError> {
        call.socket.put(&self.stream);
        loop {
            call.check()?;
            self.set_slice(way, call.left().clamp(SHORTEST, SLICE)).map_err(|error| broken(&error))?;
            match step(&self.stream, &mut self.buffers) {
                Err(error) if is_end_of_slice(&error) => (),
                // A cancellation shuts the socket down. After a cancellation, a read returns the end of the
                // stream, which is not the end of the answer.
                result => return call.check().and(result.map_err(|error| broken(&error))),
            }
        }
    }

    fn set_slice(&mut self, way: Way, slice: Duration) -> io::Result<()> {
        let known = &mut self.slices[way as usize];
        if *known != Some(slice) {
            match way {
                Way::In => self.stream.set_read_timeout(Some(slice))?,
                Way::Out => self.stream.set_write_timeout(Some(slice))?,
            }
            *known = Some(slice);
        }
        Ok(())
    }

    /// Returns true if the idle connection can be used: no unexpected bytes have come, and the server has
    /// not closed the connection.
    fn is_quiet(&self) -> bool {
        matches!(peek(&self.stream), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }
}

impl Transport for Connection {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), Error> {
        let call = Call::current()?;
        self.is_idle = false;
        call.is_reused.set(self.was_used);
        call.has_received.set(false);
        let mut sent = 0;
        while sent < amount {
            let piece = sent..amount;
            let write = |mut stream: &TcpStream, buffers: &mut LazyBuffers| {
                stream.write(&buffers.output()[piece.clone()])
            };
            match self.step(&call, Way::Out, write) {
                Ok(0) => return Err(call.fail(FetchError::Broken("nothing can be sent".to_owned()))),
                Ok(count) => sent += count,
                Err(why) => return Err(call.fail(why)),
            }
        }
        Ok(())
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, Error> {
        let call = Call::current()?;
        let most = usize::try_from(call.wire_left.get()).unwrap_or(usize::MAX);
        if most == 0 {
            call.is_over.set(true);
            return Err(call.fail(FetchError::Broken("there is no end to it".to_owned())));
        }
        let read = |mut stream: &TcpStream, buffers: &mut LazyBuffers| {
            let room = buffers.input_append_buf();
            let most = most.min(room.len());
            stream.read(&mut room[..most])
        };
        let count = self.step(&call, Way::In, read).map_err(|why| call.fail(why))?;
        self.buffers.input_appended(count);
        call.has_received.set(call.has_received.get() || count > 0);
        call.wire_left.set(call.wire_left.get().saturating_sub(count as u64));
        Ok(count > 0)
    }

    /// `ureq` calls this method when an answer is complete, before another call can get the connection, and
    /// again when a call gets the connection. Only the second of these calls asks the system: what is true when
    /// the answer is complete can be false when the connection is used again.
    fn is_open(&mut self) -> bool {
        if let Ok(call) = Call::current() {
            call.socket.clear(); // from here on, a cancel of this call must not hit the next call
        }
        self.was_used = true;
        let was_idle = mem::replace(&mut self.is_idle, true);
        !was_idle || self.is_quiet()
    }
}

/// Looks at the next byte of a connection, and never waits for it. The call makes one system call, because
/// `ureq` calls [`is_open`](Transport::is_open) while it holds the lock of all idle connections.
#[cfg(unix)]
fn peek(stream: &TcpStream) -> io::Result<usize> {
    Ok(rustix::net::recv(stream, &mut [0], RecvFlags::PEEK | RecvFlags::DONTWAIT)?.0)
}

#[cfg(not(unix))]
fn peek(stream: &TcpStream) -> io::Result<usize> {
    stream.set_nonblocking(true)?;
    let peeked = stream.peek(&mut [0]);
    stream.set_nonblocking(false)?;
    peeked
}

/// Returns true if a system call returned only because its time slice is over.
fn is_end_of_slice(error: &io::Error) -> bool {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::Interrupted => true,
        ErrorKind::TimedOut => cfg!(windows), // elsewhere the connection has timed out
        _ => false,
    }
}

fn broken(error: &io::Error) -> FetchError {
    FetchError::Broken(match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
            "the server reset the connection".to_owned()
        }
        _ => error.to_string(),
    })
}
