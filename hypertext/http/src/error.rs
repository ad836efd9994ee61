//! The reasons why a page could not be fetched.

use executor::Cancelled;
use std::error::Error;
use std::fmt;
use std::net::IpAddr;

/// The reason why a page could not be fetched.
#[derive(Debug, Clone)]
pub enum FetchError {
    /// The token was cancelled. A cancelled fetch gives no information about the page.
    Cancelled(Cancelled),
    /// The page took longer than [`Options::timeout`](super::Options::timeout).
    TimedOut,
    /// The name of the host has no address; the field has the system's error message.
    Resolve(String),
    /// The host is at an address that is not public, and the [options](super::Options) do not allow this.
    Private(IpAddr),
    /// The host has an address, but no connection to it can be made.
    Connect(String),
    /// The server cannot prove its identity: its certificate is, for example, for another host, or has
    /// expired.
    Untrusted(String),
    /// The connection or the answer broke: by a reset, an early end, a wrong length, or bytes that are not
    /// HTTP.
    Broken(String),
    /// The address cannot be fetched at all: it has another scheme, or is `https` without the feature
    /// `tls`.
    Unusable(String),
}

impl FetchError {
    /// Returns true if the same fetch may succeed later.
    ///
    /// The result is true for a time-out, a name that does not resolve, a connection that cannot be made,
    /// and an answer that broke. The result is false for a private address, an untrusted server and an
    /// unusable address. For a cancelled fetch, the result is false as well: nothing was learnt about the
    /// page, so the fetch does not count as a failed attempt.
    pub fn is_transient(&self) -> bool {
        match self {
            FetchError::TimedOut
            | FetchError::Resolve(_)
            | FetchError::Connect(_)
            | FetchError::Broken(_) => true,
            FetchError::Cancelled(_)
            | FetchError::Private(_)
            | FetchError::Untrusted(_)
            | FetchError::Unusable(_) => false,
        }
    }

    /// Returns true if nothing came from the server; in that case the server may be down.
    pub fn is_silence(&self) -> bool {
        matches!(self, FetchError::TimedOut | FetchError::Resolve(_) | FetchError::Connect(_))
    }
}

impl From<Cancelled> for FetchError {
    fn from(cancelled: Cancelled) -> FetchError {
        FetchError::Cancelled(cancelled)
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FetchError::Cancelled(cancelled) => write!(f, "the fetch was called off: {cancelled}"),
            FetchError::TimedOut => f.write_str("the page took too long"),
            FetchError::Resolve(why) => write!(f, "the name of the host cannot be resolved: {why}"),
            FetchError::Private(address) => {
                write!(f, "the host is at the private address {address}, which is not for the public")
            }
            FetchError::Connect(why) => write!(f, "no connection can be made: {why}"),
            FetchError::Untrusted(why) => write!(f, "the server cannot be trusted: {why}"),
            FetchError::Broken(why) => write!(f, "the answer is broken: {why}"),
            FetchError::Unusable(why) => write!(f, "the address cannot be fetched: {why}"),
        }
    }
}

impl Error for FetchError {}
