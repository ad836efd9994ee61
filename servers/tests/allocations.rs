//! Counts the allocations that a request needs after all buffers have grown to their full size. This
//! test runs in its own process, because all code of a process uses the same allocator.
#![allow(unsafe_code, reason = "an allocator that counts is an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use executor::{CancelToken, StripedExecutor, ThreadPoolExecutor};
use servers::{AccessLog, Limits, Listener, Reactor, Server, Site};

/// Counts the allocations of all threads except those of the client and of the test harness. An
/// allocation that grows counts as one allocation.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static IS_OUTSIDE: Cell<bool> = const { Cell::new(false) };
}

fn count() {
    if !IS_OUTSIDE.try_with(Cell::get).unwrap_or(true) {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
    }
}

// SAFETY: each call is passed on to `System` with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises also hold for this call of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises also hold for this call of `System`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promises also hold for this call of `System`.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const REQUESTS: usize = 1_000;

/// Sends the given number of requests, and reads the answers.
fn ask(client: &mut TcpStream, requests: &str, times: usize) {
    const BODY: &[u8] = b"Hello, world!";
    let mut answers = vec![0; 64 * 1024];
    let expected = requests.matches("GET /hello").count();
    let mut length = 0;
    for _ in 0..times {
        client.write_all(requests.as_bytes()).unwrap();
        let mut read = 0;
        // Only the first answer has an unknown length; all later answers have the same length.
        while if length > 0 { read < length } else { count_of(BODY, &answers[..read]) < expected } {
            let count = client.read(&mut answers[read..]).unwrap();
            assert!(count > 0, "closed");
            read += count;
        }
        length = read;
    }
}

fn count_of(words: &[u8], bytes: &[u8]) -> usize {
    bytes.windows(words.len()).filter(|window| *window == words).count()
}

/// Returns how many allocations the server makes for a thousand requests on one connection, and how many
/// seconds the requests take. The first thousand requests do not count.
fn allocations(addr: SocketAddr, request: &str) -> (usize, usize) {
    let mut client = TcpStream::connect(addr).unwrap();
    client.set_nodelay(true).unwrap();
    ask(&mut client, request, REQUESTS);
    let (before, begin) = (ALLOCATIONS.load(Ordering::SeqCst), Instant::now());
    ask(&mut client, request, REQUESTS);
    (ALLOCATIONS.load(Ordering::SeqCst) - before, begin.elapsed().as_secs().try_into().unwrap())
}

fn server(stop: &CancelToken) -> (Arc<Server>, Listener, SocketAddr) {
    let server = Server::new(Site::new(None), Limits::default(), AccessLog::Quiet).until(stop);
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let addr = listener.local_addr();
    (Arc::new(server), listener, addr)
}

const SMALL: &str = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
const BROWSERS: &str = "GET /hello?a=b HTTP/1.1\r\nHost: localhost:8080\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n\
    Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Language: en-US,en;q=0.5\r\n\
    Accept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\nUpgrade-Insecure-Requests: 1\r\n\r\n";

/// The date in an answer changes each second, and formatting it needs an allocation. On a busy machine,
/// a thousand requests take many seconds.
const FOR_A_DATE: usize = 4;

// All checks are in one test, because a second test would run at the same time and its allocations would
// count.
#[test]
fn once_warm_nothing_is_allocated_for_a_request() {
    IS_OUTSIDE.set(true);
    let stop = CancelToken::new();
    let (server_, listener, on_the_loop) = server(&stop);
    let reactor = Reactor::new(listener, &server_).unwrap();
    let alone = thread::spawn(move || reactor.run());

    let pool = Arc::new(ThreadPoolExecutor::fixed(2));
    let stripes = StripedExecutor::over(Arc::clone(&pool));
    let (server_, listener, on_a_pool) = server(&stop);
    let reactor = Reactor::new(listener, &server_).unwrap();
    let reactor = reactor
        .handing_over(|_| true, move |job| _ = stripes.execute_in(job.connection(), move || job.run()));
    let handing_over = thread::spawn(move || reactor.run());

    for (addr, most) in [(on_the_loop, 0), (on_a_pool, 0)] {
        for request in [SMALL, BROWSERS, &SMALL.repeat(16)] {
            let (counted, seconds) = allocations(addr, request);
            let for_dates = FOR_A_DATE * (seconds + 2);
            assert!(
                counted <= most * REQUESTS + for_dates,
                "{counted} for {REQUESTS} times {request}in {seconds} s"
            );
        }
    }
    stop.cancel();
    assert_eq!((alone.join().unwrap(), handing_over.join().unwrap()), (0, 0));
}
