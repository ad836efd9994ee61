//! Sockets for `ureq` that a token can close.

use executor::{CancelToken, CancellableStream};
use std::io::{self, Read, Write};
use std::net::ToSocketAddrs;
use std::time::Duration;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Agent, Error};

/// What connecting to an address may take.
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
            match CancellableStream::connect(*address, LONGEST, &self.token) {
                Ok(stream) => {
                    stream.get_ref().set_nodelay(true)?;
                    let config = details.config;
                    return Ok(Some(Connection {
                        stream,
                        buffers: LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size()),
                    }));
                }
                Err(error) => last = error.into(),
            }
        }
        Err(last)
    }
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
