//! A web server that a test controls: it sends each answer at once, or only after the test releases the
//! answer.
//!
//! One thread accepts connections, and each connection has its own thread, so holding back one answer does
//! not delay the others. Each connection serves one request. Dropping this value ends all threads.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A time limit that passes only if the test hangs.
const WATCHDOG: Duration = Duration::from_secs(30);

/// The answer to a request.
#[derive(Clone)]
pub(crate) struct Answer {
    /// The bytes that are sent at once, even if the answer is held.
    first: Vec<u8>,
    /// The bytes that are sent when the answer is released.
    rest: Vec<u8>,
    then: Then,
}

/// What happens after the last byte.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    /// The connection is closed.
    Close,
    /// The connection is reset, so the client gets an error.
    Reset,
    /// The held bytes are sent again and again, without an end.
    Again,
}

impl Answer {
    /// Makes an answer with status 200 and this body.
    pub(crate) fn bytes(content_type: &str, body: &[u8]) -> Answer {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        Answer::raw([head.as_bytes(), body].concat())
    }

    /// Makes an HTML page in UTF-8.
    pub(crate) fn html(page: &str) -> Answer {
        Answer::bytes("text/html; charset=utf-8", page.as_bytes())
    }

    /// Makes an answer with a small PNG.
    pub(crate) fn image() -> Answer {
        Answer::bytes("image/png", &png(8, 4))
    }

    /// Makes an answer with this status and no body.
    pub(crate) fn status(status: u16) -> Answer {
        Answer::raw(format!("HTTP/1.1 {status} As told\r\nContent-Length: 0\r\n\r\n").into_bytes())
    }

    /// Makes an answer that redirects to another address.
    pub(crate) fn redirect(to: &str) -> Answer {
        Answer::raw(format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n").into_bytes())
    }

    /// Makes an answer that consists of exactly these bytes.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Answer {
        Answer { first: Vec::new(), rest: bytes.into(), then: Then::Close }
    }

    /// Sends the first `count` bytes at once, even if the answer is held.
    pub(crate) fn begun(mut self, count: usize) -> Answer {
        self.rest.splice(0..0, self.first.drain(..));
        self.first = self.rest.drain(..count).collect();
        self
    }

    /// Ends the answer after `count` bytes, although its head promises more bytes.
    pub(crate) fn cut(mut self, count: usize) -> Answer {
        self.rest.truncate(count);
        self
    }

    /// Resets the connection after the answer.
    pub(crate) fn reset(mut self) -> Answer {
        self.then = Then::Reset;
        self
    }

    /// Makes an answer of any type whose body never ends.
    pub(crate) fn endless() -> Answer {
        let mut answer = Answer::raw("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n");
        answer.first = std::mem::replace(&mut answer.rest, vec![b'x'; 64 << 10]);
        answer.then = Then::Again;
        answer
    }
}

/// Makes a PNG with only one colour.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::RgbImage::from_pixel(width, height, image::Rgb([30, 120, 200]))
        .write_to(&mut bytes, image::ImageFormat::Png)
        .expect("a small picture");
    bytes.into_inner()
}

/// The server.
pub(crate) struct Gated {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    answers: HashMap<String, Answer>,
    held: HashMap<String, bool>, // whether the answer has been released
    requests: HashMap<String, usize>,
    /// The paths for which the first bytes of the answer have been sent.
    begun: HashMap<String, usize>,
    closed: HashMap<String, usize>,
    /// The open connections, by the port of the client; dropping this server closes them.
    open: HashMap<u16, TcpStream>,
    over: bool,
}

/// An answer that waits until the test releases it.
pub(crate) struct Held {
    path: String,
    shared: Arc<Shared>,
}

impl Gated {
    pub(crate) fn start() -> Gated {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared::default());
        let served = Arc::clone(&shared);
        let acceptor = thread::spawn(move || {
            let mut connections = Vec::new();
            for stream in listener.incoming() {
                if served.lock().over {
                    break;
                }
                let (Ok(stream), shared) = (stream, Arc::clone(&served)) else { continue };
                connections.push(thread::spawn(move || serve(&shared, stream)));
            }
            for connection in connections {
                let _ = connection.join();
            }
        });
        Gated { address, shared, acceptor: Some(acceptor) }
    }

    /// Returns the address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers requests for `path` immediately.
    pub(crate) fn route(&self, path: &str, answer: Answer) {
        self.shared.lock().answers.insert(path.to_owned(), answer);
    }

    /// Answers requests for `path` with an HTML page. Returns the address of the page.
    pub(crate) fn page(&self, path: &str, html: &str) -> String {
        self.route(path, Answer::html(html));
        self.url(path)
    }

    /// Answers requests for `path` only after the test releases the answer.
    pub(crate) fn hold(&self, path: &str, answer: Answer) -> Held {
        let mut state = self.shared.lock();
        state.answers.insert(path.to_owned(), answer);
        state.held.insert(path.to_owned(), false);
        Held { path: path.to_owned(), shared: Arc::clone(&self.shared) }
    }

    /// Returns how many times clients have requested `path`.
    pub(crate) fn requests(&self, path: &str) -> usize {
        self.shared.lock().requests.get(path).copied().unwrap_or(0)
    }
}

impl Held {
    /// Blocks until a client has requested the answer.
    pub(crate) fn requested(&self) {
        self.shared.wait_until(&format!("{} is asked for", self.path), |state| {
            state.requests.contains_key(&self.path)
        });
    }

    /// Blocks until the server has sent the first bytes of the answer.
    pub(crate) fn has_begun(&self) {
        self.shared
            .wait_until(&format!("{} begins", self.path), |state| state.begun.contains_key(&self.path));
    }

    /// Releases the answer.
    pub(crate) fn release(&self) {
        self.shared.lock().held.insert(self.path.clone(), true);
        self.shared.changed.notify_all();
    }

    /// Blocks until a client that waits for this answer has closed its connection.
    pub(crate) fn closed_by_client(&self) {
        self.shared.wait_until(&format!("the client closes {}", self.path), |state| {
            state.closed.contains_key(&self.path)
        });
    }
}

impl Drop for Gated {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            state.over = true;
            for stream in state.open.values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.shared.changed.notify_all();
        drop(TcpStream::connect(self.address)); // wakes the acceptor
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let end = Instant::now() + WATCHDOG;
        let mut state = self.lock();
        while !is_so(&state) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited for this, and it does not come: {what}");
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Serves one request.
fn serve(shared: &Arc<Shared>, mut stream: TcpStream) {
    let Some(path) = request(&mut stream) else { return };
    let Ok(port) = stream.peer_addr().map(|client| client.port()) else { return };
    let answer = {
        let mut state = shared.lock();
        *state.requests.entry(path.clone()).or_default() += 1;
        if state.over {
            return;
        }
        state.open.extend(stream.try_clone().map(|stream| (port, stream)));
        state.answers.get(&path).cloned()
    };
    shared.changed.notify_all();
    let answer = answer.unwrap_or_else(|| Answer::status(404));
    let has_begun = stream.write_all(&answer.first).is_ok();
    *shared.lock().begun.entry(path.clone()).or_default() += 1;
    shared.changed.notify_all();
    if has_begun && released(shared, &path, &stream) {
        send(&answer, &mut stream);
    }
    shared.lock().open.remove(&port); // the last other descriptor: dropping the stream closes it
}

/// Sends the remaining bytes of the answer.
fn send(answer: &Answer, stream: &mut TcpStream) {
    while stream.write_all(&answer.rest).is_ok() && answer.then == Then::Again {}
    if answer.then == Then::Reset {
        let _ = socket2::SockRef::from(&*stream).set_linger(Some(Duration::ZERO));
        return;
    }
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.read_to_end(&mut Vec::new()); // closing the connection with unread bytes would send a reset
}

/// Waits until the answer may be sent. Meanwhile, a separate thread watches whether the client closes the
/// connection.
fn released(shared: &Arc<Shared>, path: &str, stream: &TcpStream) -> bool {
    if !shared.lock().held.contains_key(path) {
        return true;
    }
    let Ok(mut watched) = stream.try_clone() else { return false };
    let is_closed = AtomicBool::new(false); // written under the lock; another request for the path may be open
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = watched.read(&mut [0]); // returns when the connection ends or the answer is released
            let mut state = shared.lock();
            if !state.held[path] {
                *state.closed.entry(path.to_owned()).or_default() += 1;
                is_closed.store(true, Relaxed);
            }
            drop(state);
            shared.changed.notify_all();
        });
        let mut state = shared.lock();
        while !state.over && !state.held[path] && !is_closed.load(Relaxed) {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let _ = stream.shutdown(Shutdown::Read); // ends the watch
        !state.over && state.held[path]
    })
}

/// Reads the complete head of a request, and returns the path in it.
fn request(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut buffer) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(1..) if head.len() > 64 << 10 => return None,
            Ok(count @ 1..) => head.extend_from_slice(&buffer[..count]),
            _ => return None,
        }
    }
    let head = String::from_utf8_lossy(&head);
    head.split_ascii_whitespace().nth(1).map(str::to_owned)
}
