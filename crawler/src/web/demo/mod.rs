//! A deterministic site in this process, so that a crawl can be tried without a network and the crawl's
//! result can be compared.
//!
//! ```text
//!   /                         the start; a tree of pages with links across it
//!   /section-3/page-17.html   one of them
//!   /robots.txt, /sitemap.xml
//!   /traps.html               links to what a crawler can go wrong at (only with `traps`)
//! ```
//!
//! With [`DemoOptions::traps`], the site has redirects (also in a loop, to a private address, and to a
//! file), broken links, a page that is unavailable twice, and slow pages. The site also has wrong lengths,
//! resets, bad chunks, compressed pages, a decompression bomb, and a body and a head without an end. There
//! are also an endless calendar, sessions in addresses, several charsets, and links that a crawler must not
//! follow.
//!
//! Every request is recorded.

mod answer; // an answer, whole or broken
mod log; // the log of all requests
mod pages; // the ordinary pages
mod server; // one connection
mod site; // the answer for each path
mod traps; // pages that can mislead a crawler

pub use log::DemoRequest;

use executor::{CancelToken, ExecutorExt, ExecutorService, HandOffQueue, ThreadPoolExecutor};
use log::Log;
use server::Shared;
use servers::Limits;
use site::Site;
use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use url::Url;

/// The time for which a drop of the site waits for the site's threads, after all of these threads were told
/// to stop.
const ENDING: Duration = Duration::from_secs(1);

/// The pause before the next accept if the system has no resources for a connection.
const PAUSE: Duration = Duration::from_millis(10);

/// The options of a demo site.
#[derive(Debug, Clone)]
pub struct DemoOptions {
    /// The number of ordinary pages; it is at least one.
    pub pages: usize,
    /// True if the site has not only ordinary pages of about 1.5 kB, but also other pages.
    pub traps: bool,
    /// The time that the site waits before the first byte of each answer.
    pub delay: Duration,
    /// The port on which the site listens, or 0 for any free port.
    pub port: u16,
}

impl Default for DemoOptions {
    /// Returns the options of a site with 200 pages, without traps and without delay.
    fn default() -> DemoOptions {
        DemoOptions { pages: 200, traps: false, delay: Duration::ZERO, port: 0 }
    }
}

/// A running demo site, which stops when this value is dropped.
pub struct Demo {
    address: SocketAddr,
    shared: Arc<Shared>,
    pool: Arc<ThreadPoolExecutor>,
    acceptor: Option<JoinHandle<()>>,
}

impl Demo {
    /// Starts the site on this machine at a private address, which the fetcher must be allowed to visit.
    ///
    /// # Errors
    /// Fails if the system cannot provide a port or a thread.
    pub fn start(options: DemoOptions) -> io::Result<Demo> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        let address = listener.local_addr()?;
        let site = Site::new(&options, format!("http://{address}"));
        let (log, stop) = (Log::new(), CancelToken::new());
        let shared = Arc::new(Shared { site, log, stop, limits: Limits::default() });
        // Each delayed answer waits on a thread of its own, because otherwise slow answers would delay other
        // answers.
        let pool = ThreadPoolExecutor::builder()
            .core_threads(0)
            .maximum_threads(usize::MAX)
            .queue(HandOffQueue::new())
            .name("demo")
            .build()
            .map_err(io::Error::other)?;
        let pool = Arc::new(pool);
        let (on, accepting) = (Arc::clone(&pool), Arc::clone(&shared));
        let acceptor = thread::Builder::new()
            .name("demo-accept".to_owned())
            .spawn(move || accept(&listener, &on, &accepting))?;
        Ok(Demo { address, shared, pool, acceptor: Some(acceptor) })
    }

    /// Returns the address of the start page.
    pub fn start_url(&self) -> Url {
        self.url("/")
    }

    /// Returns the address of a path on the site. The parameter `path` begins with a slash and may have a
    /// query.
    ///
    /// # Panics
    /// Panics if the result is not a valid address.
    pub fn url(&self, path: &str) -> Url {
        Url::parse(&format!("{}{path}", self.shared.site.origin())).expect("an origin and a path")
    }

    /// Returns the addresses that a complete crawl of this site must keep, apart from addresses for which
    /// [`is_loose`](Demo::is_loose) returns true. One of the returned pages is named only in the sitemap.
    ///
    /// In this set, a page is an address that is answered with 200 and HTML, possibly after several tries or
    /// a redirect. A page whose HTML names another address as the canonical address is not in the set. The
    /// addresses contain no fragment and no dot segments.
    pub fn pages(&self) -> BTreeSet<String> {
        self.shared.site.kept()
    }

    /// Returns true if a crawl may keep this address but need not keep it. A crawl may keep or leave out
    /// everything without an end (a calendar, sessions, a bomb, a body) and everything that is not HTML. The
    /// same is true of copies that name their original, and of answers that are longer than their declared
    /// length.
    pub fn is_loose(&self, url: &str) -> bool {
        self.is_among(url, &traps::LOOSE)
    }

    /// Returns true if a crawler must never request this address, because robots.txt or a *nofollow*
    /// forbids it. The site answers a request for a forbidden address, too.
    pub fn is_forbidden(&self, url: &str) -> bool {
        self.is_among(url, &traps::FORBIDDEN)
    }

    /// Returns true if an address, or its path alone, is among `paths`.
    fn is_among(&self, url: &str, paths: &[&str]) -> bool {
        let path = url.strip_prefix(self.shared.site.origin()).unwrap_or(url);
        paths.iter().any(|known| path == *known || (known.ends_with('/') && path.starts_with(known)))
    }

    /// Returns all requests so far, in the order in which their heads were complete.
    pub fn requests(&self) -> Vec<DemoRequest> {
        self.shared.log.requests()
    }

    /// Returns the number of connections that have been made so far.
    pub fn connections(&self) -> usize {
        self.shared.log.connections()
    }

    /// Blocks until `wanted` returns true for the requests and the number of open connections, or until
    /// `longest` has passed. Returns true if the last call of `wanted` returned true. `wanted` is called,
    /// under a lock, whenever a request or a connection begins or ends.
    pub fn wait_until(&self, longest: Duration, wanted: impl FnMut(&[DemoRequest], usize) -> bool) -> bool {
        self.shared.log.wait(longest, wanted)
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.shared.stop.cancel();
        // A connection wakes the thread that accepts connections. If the waking connection fails, the
        // connection of the next client wakes the thread.
        if let (Ok(_), Some(acceptor)) = (TcpStream::connect(self.address), self.acceptor.take()) {
            let _ = acceptor.join();
        }
        let _ = self.pool.shutdown_now();
        self.pool.await_termination(ENDING);
    }
}

fn accept(listener: &TcpListener, pool: &ThreadPoolExecutor, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        match stream {
            _ if shared.stop.is_cancelled() => break,
            Ok(stream) => {
                let shared = Arc::clone(shared);
                let _ = pool.execute(move || server::serve(stream, &shared)); // a refused task closes the stream
            }
            Err(_) => drop(shared.stop.sleep(PAUSE)), // no descriptor, for example
        }
    }
}
