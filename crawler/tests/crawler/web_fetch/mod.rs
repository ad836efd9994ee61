//! Tests of fetching a page: limits, broken answers, cancellations, kept connections, private addresses.

mod addresses; // addresses that a fetch may contact
mod answers; // the content of an answer
mod broken; // answers that break
mod connections; // kept connections, and cancellations

use crawler::web::demo::{Demo, DemoOptions};
use executor::CancelToken;
use flate2::Compression;
use flate2::read::{DeflateEncoder, ZlibEncoder};
use flate2::write::GzEncoder;
use hypertext_http::{FetchError, Fetched, Fetcher, Options, is_private_address};
use socket2::{Domain, SockRef, Socket, Type};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};
use url::Url;

/// A time limit that no operation reaches; only a failing test waits for so long.
const LONG: Duration = Duration::from_mins(1);

/// A server that treats each connection in the way that a test demands.
pub(crate) struct Raw {
    address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Raw {
    pub(crate) fn start(serve: impl Fn(usize, TcpStream) -> io::Result<()> + Send + Sync + 'static) -> Raw {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counter, stopped, serve) = (Arc::clone(&accepted), Arc::clone(&stop), Arc::new(serve));
        let acceptor = thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let (number, serve) = (counter.fetch_add(1, Ordering::SeqCst), Arc::clone(&serve));
                thread::spawn(move || serve(number, stream));
            }
        });
        Raw { address, accepted, stop, acceptor: Some(acceptor) }
    }

    /// Creates a server that answers the first request of each connection with the given bytes, and then
    /// closes the connection.
    pub(crate) fn saying(bytes: impl Into<Vec<u8>>) -> Raw {
        let bytes = bytes.into();
        Raw::start(move |_, mut stream| {
            request(&mut stream)?;
            stream.write_all(&bytes)
        })
    }

    fn url(&self, path: &str) -> Url {
        Url::parse(&format!("http://{}{path}", self.address)).unwrap()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of connections so far.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        let _ = self.acceptor.take().unwrap().join();
    }
}

/// Reads the head of a request, or returns an error at the end of the connection.
pub(crate) fn request(stream: &mut impl Read) -> io::Result<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8(head).unwrap())
}

fn rest(stream: &mut TcpStream) -> io::Result<()> {
    io::copy(stream, &mut io::sink()).map(drop)
}

fn options() -> Options {
    Options { timeout: LONG, max_bytes: 1 << 20, allow_private: true, ..Options::default() }
}

fn fetcher(options: Options) -> Fetcher {
    Fetcher::new(options).unwrap()
}

fn get(url: &Url) -> Result<Fetched, FetchError> {
    fetcher(options()).fetch(url, &CancelToken::new())
}

fn get_at_most(max_bytes: u64, url: &Url) -> Result<Fetched, FetchError> {
    fetcher(Options { max_bytes, ..options() }).fetch(url, &CancelToken::new())
}

fn broken(result: Result<Fetched, FetchError>) -> String {
    match result {
        Err(error @ FetchError::Broken(_)) if error.is_transient() => error.to_string(),
        other => panic!("it is not broken: {other:?}"),
    }
}

fn demo(traps: bool) -> Demo {
    Demo::start(DemoOptions { pages: 40, traps, ..DemoOptions::default() }).unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns the address of a listener that accepts no more connections, so that its clients wait forever.
fn address_that_does_not_answer() -> (SocketAddr, Vec<Socket>) {
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    listener.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    listener.listen(0).unwrap();
    let address = listener.local_addr().unwrap();
    let mut sockets = vec![listener];
    loop {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let is_full = socket.connect_timeout(&address, Duration::from_millis(50)).is_err();
        sockets.push(socket);
        if is_full {
            return (address.as_socket().unwrap(), sockets);
        }
    }
}
