//! Why a page could not be fetched.

use executor::Cancelled;
use std::error::Error;
use std::fmt;
use std::net::IpAddr;

/// Why a page could not be fetched.
#[derive(Debug, Clone)]
pub enum FetchError {
    /// The token was cancelled. This error says nothing about the page.
    Cancelled(Cancelled),
    /// The page took longer than [`Options::timeout`](super::Options::timeout).
    TimedOut,
    /// The name of the host has no address; the text says what the system says about it.
    Resolve(String),
    /// The host is at an address that is not for the public, and the [options](super::Options) do not allow
    /// that.
    Private(IpAddr),
    /// The host has an address, and no connection to it can be made.
    Connect(String),
    /// The server cannot prove its identity: its certificate is for another host, say, or has expired.
    Untrusted(String),
    /// The connection or the answer broke: a reset, an end in the middle, a length that is wrong, something
    /// that is not HTTP.
    Broken(String),
    /// The address is one that cannot be fetched at all: another scheme, or `https` without the feature
    /// `tls`.
    Unusable(String),
}

impl FetchError {
    /// Whether the same fetch may succeed later.
    ///
    /// True for a time-out, a name that does not resolve, a connection that cannot be made and an answer that
    /// broke. False for a private address, a server that is not trusted and an unusable address; and for a
    /// cancelled fetch, because nothing was learnt about the page: such a fetch does not count as a failed
    /// attempt.
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

    /// Whether nothing came from the server, so that it may be down.
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
