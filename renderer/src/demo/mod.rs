//! A server in the same process, so that the programs work without a network. The address of a page, an
//! image or a price says how slow and how broken its answer must be.
//!
//! ```text
//!   page, images, quotes ──▶ a site of the `servers` library, on a pool that grows with the requests
//!   reset, stall, endless …─▶ a listener that breaks the rules, which no server of that library would do
//! ```
//!
//! The address of an image (`/harbour.png?ms=800`) says how the server must answer, so the server need not
//! know the page.

mod chance; // random numbers that can be repeated
mod page; // the text of the page, and the behaviour of its images
mod rude; // answers that break the rules of HTTP
mod scenes; // the images
mod site; // the contents, by their paths

pub use page::{DemoImage, demo_image};

use executor::{CancelToken, ExecutorExt, ExecutorService, HandOffQueue, ThreadPoolExecutor};
use rude::Rude;
use servers::{AccessLog, Limits, Listener, Server};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use url::Url;

/// How long the server waits for its threads when it stops, after it has told all threads to stop.
const ENDING: Duration = Duration::from_secs(1);

/// The settings of the built-in server.
#[derive(Debug, Clone, Default)]
pub struct DemoOptions {
    /// The same seed gives the same latencies, sizes and failures. Without a seed, the latencies, sizes and
    /// failures are the same as in the book.
    pub seed: Option<u64>,
    /// The images of the page; an empty list means the page of the book.
    pub images: Vec<DemoImage>,
    /// The advertisement of the page, if it differs from the advertisement of the book.
    pub advertisement: Option<DemoImage>,
}

/// The built-in server while it runs. Dropping this value stops the server.
pub struct Demo {
    address: SocketAddr,
    stop: CancelToken,
    pool: Arc<ThreadPoolExecutor>,
    acceptor: Option<JoinHandle<()>>,
    _rude: Rude,
}

impl Demo {
    /// Starts the server on a free port of this machine.
    ///
    /// # Errors
    /// Returns an error if the system has no free port or cannot start a thread.
    pub fn start(options: &DemoOptions) -> io::Result<Demo> {
        let stop = CancelToken::new();
        let listener = Listener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr();
        // A thread delays each answer for the time that the answer's address gives. Each answer has its own
        // thread, because otherwise slow answers would delay other answers.
        let pool = ThreadPoolExecutor::builder()
            .core_threads(0)
            .maximum_threads(usize::MAX)
            .queue(HandOffQueue::new())
            .name("demo")
            .build()
            .map_err(io::Error::other)?;
        let pool = Arc::new(pool);
        let rude = Rude::start(&stop, &pool)?;
        let site = site::site(options, rude.address(), &stop);
        let server = Arc::new(Server::new(site, Limits::default(), AccessLog::Quiet).until(&stop));
        let (accepting, on) = (stop.clone(), Arc::clone(&pool));
        let acceptor = thread::Builder::new().name("demo-accept".to_owned()).spawn(move || {
            for connection in listener.incoming_until(&accepting) {
                let server = Arc::clone(&server);
                let _ = on.execute(move || server.serve(connection)); // if refused: the client sees its connection end
            }
        })?;
        Ok(Demo { address, stop, pool, acceptor: Some(acceptor), _rude: rude })
    }

    /// Returns the address of the page with images and an advertisement.
    pub fn page(&self) -> Url {
        self.url("/index.html")
    }

    /// Returns the address of the list of companies for the travel portal; each line of that list has a
    /// name, a tab, and the address of the company's quote.
    pub fn companies(&self) -> Url {
        self.url("/companies.txt")
    }

    fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).expect("an address and a path")
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        let _ = self.pool.shutdown_now(); // dropping the queued connections closes them
        self.pool.await_termination(ENDING);
    }
}
