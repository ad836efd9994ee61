//! Sockets for `ureq` that a token can close.

use executor::{CancelToken, CancellableStream};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Agent, Error};

/// How often a socket that is being connected is looked at, and what connecting may take in all. In between, the thread sleeps on its
/// token, so a cancel ends it at once.
const LOOK: Duration = Duration::from_millis(1);
const SELDOM: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(30);

/// Addresses of a host that are tried.
const MOST_ADDRESSES: usize = 8;

/// A client all of whose connections are closed when `token` is cancelled.
pub(super) fn agent(config: Config, token: &CancelToken) -> Agent {
    let connector = CancellableConnector { token: token.clone() };
    #[cfg(feature = "tls")]
    let connector = connector.chain(ureq::unversioned::transport::RustlsConnector::default());
    Agent::with_parts(config, connector, SystemResolver)
}

/// Resolves on the thread that asks. The client's own resolver starts a thread for each request that has a time limit.
#[derive(Debug)]
struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, uri: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let named = uri.scheme().zip(uri.authority());
        let host = named.and_then(|(scheme, authority)| DefaultResolver::host_and_port(scheme, authority));
        let host = host.ok_or_else(|| Error::BadUri(uri.to_string()))?;
        let mut all = self.empty();
        for address in host.to_socket_addrs().map_err(|_| Error::HostNotFound)?.take(MOST_ADDRESSES) {
            all.push(address);
        }
        if all.is_empty() { Err(Error::HostNotFound) } else { Ok(all) }
    }
}

/// Connects, and hands the socket to a [`CancellableStream`].
#[derive(Debug)]
struct CancellableConnector {
    token: CancelToken,
}

impl Connector for CancellableConnector {
    type Out = Connection;

    fn connect(&self, details: &ConnectionDetails<'_>, _: Option<()>) -> Result<Option<Connection>, Error> {
        let mut last = Error::HostNotFound;
        for address in &details.addrs {
            match connect(*address, &self.token) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    let config = details.config;
                    return Ok(Some(Connection {
                        stream: CancellableStream::new(stream, &self.token),
                        buffers: LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size()),
                    }));
                }
                Err(error) => last = error.into(),
            }
        }
        Err(last)
    }
}

/// Connects. The standard library's `connect` cannot be called back, so the socket does not block meanwhile.
fn connect(address: SocketAddr, token: &CancelToken) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    let begun = socket.connect(&address.into());
    let end = Instant::now() + LONGEST;
    let mut pause = LOOK;
    // A connection that is being made has neither an error nor a peer.
    while begun.is_err() && socket.peer_addr().is_err() {
        if let Some(error) = socket.take_error()? {
            return Err(error);
        }
        match &begun {
            Err(error) if !is_under_way(error) => return begun.map(|()| unreachable!("it is an error")),
            _ if Instant::now() >= end => return Err(io::ErrorKind::TimedOut.into()),
            _ => token.sleep(pause)?,
        }
        pause = (pause * 2).min(SELDOM);
    }
    socket.set_nonblocking(false)?;
    Ok(socket.into())
}

fn is_under_way(error: &io::Error) -> bool {
    const IN_PROGRESS: i32 = if cfg!(target_os = "linux") { 115 } else { 36 };
    error.kind() == io::ErrorKind::WouldBlock || (cfg!(unix) && error.raw_os_error() == Some(IN_PROGRESS))
}

/// A connection as the client uses it.
#[derive(Debug)]
struct Connection {
    stream: CancellableStream,
    buffers: LazyBuffers,
}

impl Transport for Connection {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), Error> {
        Ok(self.stream.write_all(&self.buffers.output()[..amount])?)
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, Error> {
        let count = loop {
            match self.stream.read(self.buffers.input_append_buf()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                read => break read?,
            }
        };
        self.buffers.input_appended(count);
        Ok(count > 0)
    }

    fn is_open(&mut self) -> bool {
        false // each fetch has a connection of its own
    }
}
