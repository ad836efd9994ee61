//! Finds the addresses of a host's name, and remembers them for a while.

use super::FetchError;
use super::call::Call;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The time for which the addresses of a name are used before the system is asked again.
const KEPT_FOR: Duration = Duration::from_mins(1);

/// The largest number of names whose addresses are kept.
const MOST_NAMES: usize = 1024;

/// The largest number of addresses of a name that are tried.
const MOST_ADDRESSES: usize = 8;

/// Finds the addresses of a host's name and a port. The function may block, and no token ends its wait.
pub type Lookup = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// Asks the system for the addresses of a host. Blocks until the system answers.
///
/// # Errors
/// Returns the system's error if there are no addresses.
pub fn system_lookup(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok((host, port).to_socket_addrs()?.take(MOST_ADDRESSES).collect())
}

/// The addresses of hosts, and the rules for refusing them.
pub(super) struct Names {
    pub(super) lookup: Box<Lookup>,
    pub(super) is_private: fn(IpAddr) -> bool,
    /// True if no address is refused, because the options allow all addresses or a proxy makes the
    /// connections.
    pub(super) goes_anywhere: bool,
    known: Mutex<HashMap<(String, u16), Known>>,
}

#[derive(Clone)]
struct Known {
    addresses: Arc<[SocketAddr]>,
    since: Instant,
}

impl Names {
    pub(super) fn new(lookup: Box<Lookup>, is_private: fn(IpAddr) -> bool, goes_anywhere: bool) -> Names {
        Names { lookup, is_private, goes_anywhere, known: Mutex::default() }
    }

    /// Returns true if a connection to this address is refused.
    pub(super) fn refuses(&self, address: IpAddr) -> bool {
        !self.goes_anywhere && (self.is_private)(address)
    }

    /// Returns the addresses of a host: the literal address, the remembered addresses, or the addresses
    /// that the system finds.
    fn addresses(&self, host: &str, port: u16) -> Result<Arc<[SocketAddr]>, FetchError> {
        if let Ok(literal) = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            return Ok(Arc::new([SocketAddr::new(literal, port)]));
        }
        let key = (host.to_ascii_lowercase(), port);
        let known = self.known().get(&key).cloned();
        if let Some(known) = known.filter(|known| known.since.elapsed() < KEPT_FOR) {
            return Ok(known.addresses);
        }
        let found = (self.lookup)(&key.0, port).map_err(|error| FetchError::Resolve(error.to_string()))?;
        let addresses: Arc<[SocketAddr]> = found.into_iter().take(MOST_ADDRESSES).collect();
        if addresses.is_empty() {
            return Err(FetchError::Resolve("it has no address".to_owned()));
        }
        self.remember(key, &addresses);
        Ok(addresses)
    }

    fn remember(&self, key: (String, u16), addresses: &Arc<[SocketAddr]>) {
        let mut known = self.known();
        if known.len() >= MOST_NAMES {
            known.retain(|_, known| known.since.elapsed() < KEPT_FOR);
        }
        if known.len() >= MOST_NAMES {
            known.clear();
        }
        known.insert(key, Known { addresses: Arc::clone(addresses), since: Instant::now() });
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<(String, u16), Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Resolves names on the calling thread, and remembers the results. `ureq`'s own resolver starts a thread
/// for each request with a time limit.
pub(super) struct CachingResolver(pub(super) Arc<Names>);

impl std::fmt::Debug for CachingResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CachingResolver")
    }
}

impl Resolver for CachingResolver {
    fn resolve(&self, uri: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let call = Call::current()?;
        let host = uri.host().ok_or_else(|| Error::BadUri(uri.to_string()))?;
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let found = self.0.addresses(host, port).map_err(|why| call.fail(why))?;
        call.check().map_err(|why| call.fail(why))?; // the look-up itself cannot be cancelled
        let mut all = self.empty();
        for address in found.iter() {
            all.push(*address);
        }
        Ok(all)
    }
}
