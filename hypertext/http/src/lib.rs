//! The HTTP client of the crawler and the renderer: it fetches documents on the calling thread, and keeps
//! connections for later calls.
//!
//! ```text
//!   fetch(url, token) ──▶ the call of this thread: token, end of time, bytes left     (call)
//!        │                      ▲ looks there before it blocks, leaves itself there
//!        ▼                      │
//!      ureq ── resolver (names) ── heads (head) ── socket (socket) ── a pool of idle connections
//! ```
//!
//! A token must reach a thread that is blocked on a socket, and a connection serves many pages. So a socket
//! does not belong to a token. During a call, the call stores its socket where a cancellation finds it, and
//! removes the socket when the answer is complete. One [`Fetcher`] serves all threads of a program.
//!
//! All data of a server has limits: the time for a page, and the number of bytes after decompression, on
//! the wire and in the head.
//!
//! The tests are in the crawler, which uses more of this client than other programs; run them with
//! `cargo test -p crawler --test crawler web_fetch`.

#![warn(missing_docs)]

mod answer; // results of fetches, made from the heads of answers
mod body; // bodies, read and decoded
mod call; // the current call of a thread, for its sockets
mod error;
mod head; // heads, rewritten so that `ureq` can read them
mod names; // addresses of a host
mod private; // addresses that are not public
mod socket; // connections

#[cfg(feature = "tls")]
pub mod trust;

pub use error::FetchError;
pub use names::{Lookup, system_lookup};
pub use private::is_private_address;

use call::Call;
use executor::CancelToken;
use head::HeadConnector;
use names::{CachingResolver, Names};
use socket::CallConnector;
use std::fmt;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use ureq::config::Config;
use ureq::http::HeaderValue;
#[cfg(feature = "tls")]
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::transport::{ConnectProxyConnector, Connector};
use ureq::{Agent, Proxy};
use url::{Host, Url};

/// The largest number of bytes in the head of an answer.
const LARGEST_HEAD: usize = 32 << 10;

/// The sizes of a connection's buffers: a head must fit into the input buffer, and a request into the output
/// buffer. One read may return only part of a head.
const INPUT: usize = 40 << 10;
const OUTPUT: usize = 16 << 10;
const AT_ONCE: usize = 16 << 10;

/// The number of connections that are kept for the next pages, in total and per host, and the time for
/// which they are kept.
const MOST_IDLE: usize = 256;
const MOST_IDLE_OF_A_HOST: usize = 64;
const IDLE: Duration = Duration::from_secs(15);

/// The number of times that a page is requested if the server closes a kept connection exactly when the
/// connection is used again.
const MOST_TRIES: usize = 4;

/// The limits of a fetch, and the hosts that it may reach.
#[derive(Debug, Clone)]
pub struct Options {
    /// The time limit for one page, including the connection, the head and the whole body. This limit does
    /// not end the look-up of a name.
    pub timeout: Duration,
    /// The largest number of bytes of a body, after decompression; the rest is cut off. On the wire, a page
    /// with its head and the framing of chunks may exceed this limit by a quarter and 128 KiB. The data
    /// between two codings has the same limit as the body.
    pub max_bytes: u64,
    /// The value of the header `User-Agent`.
    pub user_agent: String,
    /// An HTTP proxy that makes all connections, by the method `CONNECT`. The proxy may be at a private
    /// address.
    pub proxy: Option<Url>,
    /// True if private addresses are allowed as well, for sites on this machine or in an office network.
    pub allow_private: bool,
}

impl Default for Options {
    /// Returns options with a time limit of half a minute, a size limit of 4 MiB, the name of this package,
    /// no proxy, and no private addresses.
    fn default() -> Options {
        Options {
            timeout: Duration::from_secs(30),
            max_bytes: 4 << 20,
            user_agent: concat!("hypertext/", env!("CARGO_PKG_VERSION")).to_owned(),
            proxy: None,
            allow_private: false,
        }
    }
}

/// The answer of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The status, which can have any value: 404 is an answer, too.
    pub status: u16,
    /// The header `Content-Type`.
    pub content_type: Option<String>,
    /// The target of a redirect (a status of 300 to 399), resolved against the address of the page. The
    /// target may have any scheme and any host: the caller decides whether to fetch it.
    pub location: Option<Url>,
    /// How long, from now on, the server wants no further request; at most a day. The value is `None` if the
    /// server asks for no pause, or for a pause that is already over.
    pub retry_after: Option<Duration>,
    /// The unchanged `Link` fields (RFC 8288).
    pub link: Vec<String>,
    /// The unchanged field `Refresh`, which has the address that a browser loads next.
    pub refresh: Option<String>,
    /// The field `ETag`, if it can be sent back and is not too long to be kept.
    pub etag: Option<String>,
    /// The field `Last-Modified`, if it can be sent back and is not too long to be kept.
    pub modified: Option<String>,
    /// True if a field `X-Robots-Tag` asks crawlers not to follow the links of the page.
    pub is_nofollow: bool,
    /// The decoded body. The body is read only if the status is a success (200 to 299).
    pub body: Vec<u8>,
    /// True if the body was longer than its limit; then `body` has only the beginning.
    pub is_truncated: bool,
    /// The reason, as a sentence, why the body of a successful answer cannot be decoded; then `body` is
    /// empty. A second fetch would return the same body.
    pub unread: Option<String>,
}

impl Fetched {
    /// Returns true if the server may answer differently later, because it is overloaded or has a fault.
    pub fn is_busy(&self) -> bool {
        self.status == 429 || self.status >= 500
    }
}

/// Fetches pages. Fetches pages; all threads of a program share one fetcher.
pub struct Fetcher {
    agent: Agent,
    names: Arc<Names>,
    options: Options,
    /// The function that decides which addresses are private. A literal private address is refused even if
    /// a proxy would connect to it.
    is_private: fn(IpAddr) -> bool,
}

impl Fetcher {
    /// Creates a fetcher that lets the system resolve names, and refuses the addresses of
    /// [`is_private_address`] unless the options allow these addresses.
    ///
    /// # Errors
    /// Returns [`FetchError::Unusable`] if the user agent is not valid in a header, or if the proxy cannot
    /// be used.
    pub fn new(options: Options) -> Result<Fetcher, FetchError> {
        Fetcher::with_parts(options, is_private_address, system_lookup)
    }

    /// Creates a fetcher with the given functions in place of the default functions. The function
    /// `is_private` decides which addresses are not public, and `lookup` finds the addresses of a host and
    /// a port. A literal address needs no look-up. The addresses of up to 1024 names are remembered, each
    /// for a minute.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Fetcher::new).
    pub fn with_parts(
        options: Options,
        is_private: fn(IpAddr) -> bool,
        lookup: impl Fn(&str, u16) -> std::io::Result<Vec<std::net::SocketAddr>> + Send + Sync + 'static,
    ) -> Result<Fetcher, FetchError> {
        let config = config(&options)?;
        let goes_anywhere = options.allow_private || options.proxy.is_some();
        let names = Arc::new(Names::new(Box::new(lookup), is_private, goes_anywhere));
        let connector = ConnectProxyConnector::default().chain(CallConnector(Arc::clone(&names)));
        #[cfg(feature = "tls")]
        let connector = connector.chain(ureq::unversioned::transport::RustlsConnector::default());
        let connector = connector.chain(HeadConnector);
        let agent = Agent::with_parts(config, connector, CachingResolver(Arc::clone(&names)));
        Ok(Fetcher { agent, names, options, is_private })
    }

    /// Requests a page by `GET`. Redirects are not followed.
    ///
    /// Credentials in the address are not sent.
    ///
    /// # Blocking
    /// Blocks until the answer is complete, for at most [`Options::timeout`]. The system resolves the name of
    /// a host; this may take longer and cannot be cancelled.
    ///
    /// # Cancellation
    /// This call is a cancellation point. When `token` is cancelled, the call closes its connection and
    /// returns at once from connecting, sending and reading. (On Windows, a blocked read returns within a
    /// second.) Only the system's look-up of a name cannot be interrupted.
    ///
    /// # Errors
    /// See [`FetchError`]. An answer with any status is `Ok`, even if its body is too long and was
    /// truncated, or cannot be decoded.
    pub fn fetch(&self, url: &Url, token: &CancelToken) -> Result<Fetched, FetchError> {
        self.fetch_up_to(url, self.options.max_bytes, token)
    }

    /// Fetches a page with additional header fields in the request, each with a name and a value. With
    /// `If-None-Match` or `If-Modified-Since`, the caller tells the server which version of the page the
    /// caller already has. If the caller's version is current, the status is 304 and there is no body.
    ///
    /// # Errors
    /// Returns the errors of [`fetch`](Fetcher::fetch), and [`FetchError::Unusable`] if a header field
    /// cannot be sent.
    pub fn fetch_with(
        &self,
        url: &Url,
        fields: &[(&str, &str)],
        token: &CancelToken,
    ) -> Result<Fetched, FetchError> {
        self.ask(url, fields, self.options.max_bytes, token)
    }

    /// Fetches a file that is not a page, such as `robots.txt`, with its own limit in place of
    /// [`Options::max_bytes`].
    ///
    /// # Errors
    /// As [`fetch`](Fetcher::fetch).
    pub fn fetch_up_to(&self, url: &Url, most: u64, token: &CancelToken) -> Result<Fetched, FetchError> {
        self.ask(url, &[], most, token)
    }

    fn ask(
        &self,
        url: &Url,
        fields: &[(&str, &str)],
        most: u64,
        token: &CancelToken,
    ) -> Result<Fetched, FetchError> {
        token.check()?;
        self.admit(url)?;
        let call = Call::new(token, self.options.timeout, on_the_wire(most));
        let socket = Arc::clone(&call.socket);
        let closes = token.on_cancel(move || socket.shut_down());
        let fetched = call.run(|| self.exchange(url, fields, most, &call));
        drop(closes);
        fetched
    }

    /// Refuses an address that can be refused without a connection.
    fn admit(&self, url: &Url) -> Result<(), FetchError> {
        match url.scheme() {
            "http" => (),
            "https" if cfg!(feature = "tls") => (),
            "https" => {
                return Err(FetchError::Unusable("https needs the feature tls".to_owned()));
            }
            other => return Err(FetchError::Unusable(format!("{other} is not a scheme of web pages"))),
        }
        let literal = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
            _ => return Ok(()),
        };
        let is_refused = !self.options.allow_private && (self.is_private)(literal);
        if is_refused { Err(FetchError::Private(literal)) } else { Ok(()) }
    }

    /// Sends the request and reads the answer; if the server has closed a kept connection, tries again.
    fn exchange(
        &self,
        url: &Url,
        fields: &[(&str, &str)],
        most: u64,
        call: &Rc<Call>,
    ) -> Result<Fetched, FetchError> {
        let address = plain(url);
        for last in [false; MOST_TRIES - 1].into_iter().chain([true]) {
            let request = self.agent.get(&address);
            let request = fields.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            match request.call() {
                Ok(response) => return answer::read(response, url, most, call),
                // The server closed the kept connection before the server saw this request, so the request is
                // sent again on another connection.
                Err(_)
                    if !last && call.is_reused.get() && !call.has_received.get() && call.check().is_ok() =>
                {
                    call.take_failure();
                }
                Err(error) => return Err(answer::why(error, call)),
            }
        }
        unreachable!("the last try returns")
    }
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let goes_anywhere = self.names.goes_anywhere;
        f.debug_struct("Fetcher")
            .field("options", &self.options)
            .field("goes_anywhere", &goes_anywhere)
            .finish_non_exhaustive()
    }
}

/// Returns the number of bytes that may be received for a body of `most` bytes, including the head and the
/// framing of chunks.
fn on_the_wire(most: u64) -> u64 {
    most.saturating_add(most / 4).saturating_add(128 << 10)
}

/// Returns the address without the parts that are not sent: a fragment, and credentials.
fn plain(url: &Url) -> String {
    if url.username().is_empty() && url.password().is_none() && url.fragment().is_none() {
        return url.as_str().to_owned();
    }
    let mut url = url.clone();
    url.set_fragment(None);
    let _ = url.set_username(""); // never fails for an address with a host
    let _ = url.set_password(None);
    url.into()
}

fn config(options: &Options) -> Result<Config, FetchError> {
    let agent = &options.user_agent;
    if HeaderValue::from_str(agent).is_err() {
        return Err(FetchError::Unusable(format!("{agent:?} cannot be sent as a user agent")));
    }
    let builder = Agent::config_builder();
    #[cfg(feature = "tls")]
    let builder = builder.tls_config(TlsConfig::builder().root_certs(roots()).build());
    // `ureq` gets no time limit, because the sockets themselves check the time limit of the call.
    Ok(builder
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(options.proxy.as_ref().map(proxy).transpose()?)
        .user_agent(agent)
        .accept_encoding(body::CODINGS) // ureq's own decoding hides the field, and is not built
        .max_response_header_size(INPUT) // `head` has already limited the head
        .input_buffer_size(INPUT)
        .output_buffer_size(OUTPUT)
        .max_idle_connections(MOST_IDLE)
        .max_idle_connections_per_host(MOST_IDLE_OF_A_HOST)
        .max_idle_age(IDLE)
        .build())
}

/// Returns the authorities that the system trusts. On a system without any authorities, returns the
/// authorities that come with `ureq`.
#[cfg(feature = "tls")]
fn roots() -> RootCerts {
    match trust::system() {
        [] => RootCerts::WebPki,
        certificates => certificates.iter().map(|der| Certificate::from_der(der).to_owned()).into(),
    }
}

/// Accepts only proxies that `ureq` can use, because `ureq` would silently ignore other proxies.
fn proxy(url: &Url) -> Result<Proxy, FetchError> {
    let is_known = url.scheme() == "http" || (url.scheme() == "https" && cfg!(feature = "tls"));
    let proxy = Proxy::new(url.as_str()).ok().filter(|_| is_known);
    proxy.ok_or_else(|| FetchError::Unusable(format!("{} cannot be used as a proxy", url.scheme())))
}
