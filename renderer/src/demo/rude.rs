//! A listener that breaks the rules of HTTP: it sends no answer, half an answer or an endless answer, or it
//! resets the connection.

use super::page::{Fault, size_of};
use super::scenes;
use executor::{CancelToken, CancellableStream, ExecutorExt, ThreadPoolExecutor};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The largest number of bytes in a request.
const LARGEST: usize = 8 << 10;

/// How long the acceptor pauses if the system has no descriptors or threads left.
const PAUSE: Duration = Duration::from_millis(10);

/// The listener. Dropping this value stops the listener.
pub(super) struct Rude {
    address: SocketAddr,
    stop: CancelToken,
    acceptor: Option<JoinHandle<()>>,
}

impl Rude {
    /// Listens until `stop` is cancelled; then the listener also ends the answers that are being sent. The
    /// answers run on `pool`.
    pub(super) fn start(stop: &CancelToken, pool: &Arc<ThreadPoolExecutor>) -> io::Result<Rude> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, stop) = (listener.local_addr()?, stop.child());
        let (ended, pool) = (stop.clone(), Arc::clone(pool));
        let acceptor = thread::Builder::new().name("demo-rude".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                match stream {
                    _ if ended.is_cancelled() => break,
                    Ok(stream) => {
                        let stop = ended.clone();
                        let serve = move || drop(answer(stream, &stop)); // an error is expected here
                        let _ = pool.execute(serve); // refused: the client sees its connection end
                    }
                    Err(_) => drop(ended.sleep(PAUSE)), // no descriptor, for example
                }
            }
        })?;
        Ok(Rude { address, stop, acceptor: Some(acceptor) })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Rude {
    fn drop(&mut self) {
        self.stop.cancel();
        // A connection from this process wakes the acceptor. If this connection fails, the acceptor ends
        // when the next client connects.
        if let (Ok(_), Some(acceptor)) = (TcpStream::connect(self.address), self.acceptor.take()) {
            let _ = acceptor.join();
        }
    }
}

fn answer(stream: TcpStream, stop: &CancelToken) -> io::Result<()> {
    let mut stream = CancellableStream::new(stream, stop);
    let request = request(&mut stream)?;
    let value = |name: &str| {
        let query = request
            .split_ascii_whitespace()
            .nth(1)
            .and_then(|target| target.split_once('?'))
            .map(|(_, query)| query);
        query.and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')))
    };
    let latency = value("ms").and_then(|ms| ms.parse().ok()).unwrap_or(0);
    stop.sleep(Duration::from_millis(latency))?;
    let head = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n";
    match value("fault").and_then(Fault::named) {
        Some(Fault::Endless) => {
            stream.write_all(format!("{head}\r\n").as_bytes())?;
            loop {
                stream.write_all(&[0; 16 << 10])?;
            }
        }
        Some(Fault::Half) => {
            let image = scenes::encoded("/half.png", size_of(value("size")));
            stream.write_all(format!("{head}Content-Length: {}\r\n\r\n", image.len()).as_bytes())?;
            stream.write_all(&image[..image.len() / 2])?;
            wait_for_the_end(&mut stream)
        }
        Some(Fault::Stall) => wait_for_the_end(&mut stream),
        // With a linger time of zero, closing a connection resets it.
        _ => {
            let _ = socket2::SockRef::from(stream.get_ref()).set_linger(Some(Duration::ZERO));
            Ok(())
        }
    }
}

/// Reads until the client closes the connection or the server stops.
fn wait_for_the_end(stream: &mut CancellableStream) -> io::Result<()> {
    io::copy(stream, &mut io::sink()).map(drop)
}

fn request(stream: &mut CancellableStream) -> io::Result<String> {
    let (mut head, mut buffer) = (Vec::new(), [0; 1024]);
    while !head.ends_with(b"\r\n\r\n") && head.len() < LARGEST {
        match stream.read(&mut buffer)? {
            0 => break,
            count => head.extend_from_slice(&buffer[..count]),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
