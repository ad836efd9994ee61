//! Fetches the bytes at an address; the calling thread waits until all bytes have arrived or a token is
//! cancelled.
//!
//! The HTTP client comes from [`hypertext_http`]; a token can close its sockets. This module adds files,
//! redirects, and a [`Gap`] for each possible failure.

mod file; // files of this machine
pub(crate) use file::beginning;

use crate::gap::Gap;
use crate::reach;
use executor::{CancelToken, Cancelled};
use hypertext_http::{FetchError, Fetcher, Options};
use std::sync::LazyLock;
use std::time::Duration;
use url::Url;

/// The largest number of redirects in a row that are followed.
const MOST_REDIRECTS: usize = 5;

/// What all fetches of this program share: open connections, and the addresses of hosts.
static FETCHER: LazyLock<Fetcher> = LazyLock::new(|| {
    let options = Options {
        timeout: Duration::MAX, // the token has the time limit
        user_agent: concat!("renderer/", env!("CARGO_PKG_VERSION")).to_owned(),
        allow_private: true,
        ..Options::default()
    };
    Fetcher::new(options).expect("the name of a program can be sent")
});

/// The result of a fetch.
#[derive(Debug)]
pub struct Fetched {
    /// The bytes of the answer, uncompressed if they were compressed for the transfer.
    pub bytes: Vec<u8>,
    /// The content type that the server named.
    pub content_type: Option<String>,
    /// The address from which the bytes came, after all redirects.
    pub url: Url,
}

/// The result of one step of a fetch. A gap is a normal result and not an error, so `?` does not return it.
type Step<T> = Result<Result<T, Gap>, Cancelled>;

/// Fetches the bytes at an `http`, `https` (with the feature `tls`) or `file` address, but at most
/// `limit` bytes.
///
/// Blocks. This is a cancellation point: when `token` is cancelled, the connection is closed and the call
/// returns at once. Only the system's resolution of names is not interrupted. Only the token limits the time;
/// [`with_timeout`](CancelToken::with_timeout) makes a token with a time limit.
///
/// # Errors
/// Returns `Ok(Err(gap))` if the bytes cannot be fetched. Returns `Err(Cancelled)`, with the token's reason,
/// if the token was cancelled during the fetch.
pub fn fetch(url: &Url, limit: u64, token: &CancelToken) -> Result<Result<Fetched, Gap>, Cancelled> {
    token.check()?;
    match url.scheme() {
        "file" => file::read(url, limit, token),
        "http" | "https" => over_http(url, limit, token),
        other => Ok(Err(Gap::Unusable(format!("{other} addresses are not fetched")))),
    }
}

fn over_http(url: &Url, limit: u64, token: &CancelToken) -> Step<Fetched> {
    let mut url = url.clone();
    for _ in 0..=MOST_REDIRECTS {
        let answer = match FETCHER.fetch_up_to(&url, limit, token) {
            Ok(answer) => answer,
            Err(FetchError::Cancelled(cancelled)) => return Err(cancelled),
            Err(error) => return Ok(Err(gap(error))),
        };
        match (answer.status, answer.unread) {
            (200..=299, Some(why)) => return Ok(Err(Gap::Broken(why))),
            (200..=299, None) if answer.is_truncated => return Ok(Err(Gap::TooManyBytes { limit })),
            (200..=299, None) => {
                return Ok(Ok(Fetched { bytes: answer.body, content_type: answer.content_type, url }));
            }
            (301 | 302 | 303 | 307 | 308, _) => match target(answer.location, &url) {
                Ok(next) => url = next,
                Err(gap) => return Ok(Err(gap)),
            },
            (status, _) => return Ok(Err(Gap::Status(status))),
        }
    }
    Ok(Err(Gap::Redirects { most: MOST_REDIRECTS }))
}

/// Returns the address to which a redirect leads.
fn target(location: Option<Url>, from: &Url) -> Result<Url, Gap> {
    match location {
        Some(next) => match reach::check(from, &next) {
            Ok(()) => Ok(next),
            Err(_) => Err(Gap::Unusable(format!("it redirects to a {} address", next.scheme()))),
        },
        None => Err(Gap::Unusable("it redirects to nowhere".to_owned())),
    }
}

/// Returns the gap for an error; its text is short, because there is little room in the picture.
fn gap(error: FetchError) -> Gap {
    match error {
        FetchError::Broken(why) => Gap::Broken(why),
        FetchError::Connect(why) => Gap::Unreachable(why),
        FetchError::Resolve(_) => Gap::Unreachable("there is no such host".to_owned()),
        FetchError::Unusable(why) => Gap::Unusable(why),
        other => Gap::Unreachable(other.to_string()),
    }
}
