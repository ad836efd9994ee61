//! Tests how much memory all clients together can make a stage use, and that the stage frees the memory.

use crate::closing::has_answer;
use crate::support::{Client, SINGLE_THREADED, STAGES, Stage, each_of, eventually, every_stage};
use executor::{CancelToken, ExecutorExt, ExecutorService, StripedExecutor, ThreadPoolExecutor};
use servers::{AccessLog, Crowd, Limits, Listener, Reactor, Server, Site};
use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Returns a request whose body has this many bytes, in one piece or in chunks.
fn post(length: usize, is_chunked: bool) -> Vec<u8> {
    let mut bytes = b"POST /echo HTTP/1.1\r\nHost: h\r\n".to_vec();
    if !is_chunked {
        bytes.extend_from_slice(format!("Content-Length: {length}\r\n\r\n").as_bytes());
        bytes.extend_from_slice(&vec![b'a'; length]);
        return bytes;
    }
    bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
    for start in (0..length).step_by(60 * KIB) {
        let size = (length - start).min(60 * KIB);
        bytes.extend_from_slice(format!("{size:x}\r\n").as_bytes());
        bytes.extend_from_slice(&vec![b'a'; size]);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

/// Clients that have sent all bytes of their bodies except the last one. This set does not include clients
/// that were refused earlier, or clients from which the stage takes no more bytes.
pub(crate) fn upload_all_but_one_byte(addr: SocketAddr, clients: usize, length: usize) -> Vec<Client> {
    let bodies = [post(length, false), post(length, true)];
    let upload = |number: usize| {
        let bytes = &bodies[number % 2];
        let mut client = Client::connect(addr);
        // A stage with a single thread reads only one body at a time.
        client.stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
        for piece in bytes[..bytes.len() - 1].chunks(128 * KIB) {
            if has_answer(&client) || client.stream.write_all(piece).is_err() {
                break;
            }
        }
        client
    };
    let upload = &upload;
    thread::scope(|scope| {
        let sending: Vec<_> = (0..clients).map(|number| scope.spawn(move || upload(number))).collect();
        sending.into_iter().map(|client| client.join().unwrap()).collect()
    })
}

/// Sends the last byte of each body.
pub(crate) fn end_uploads(clients: &mut [Client]) {
    for (number, client) in clients.iter_mut().enumerate() {
        let _ = client.stream.write_all(if number % 2 == 1 { b"\n" } else { b"a" });
    }
}

const HALF: [&str; 2] = [
    "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 250000\r\nExpect: 100-continue\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
];

/// A body of 250 000 bytes takes nearly half a mebibyte, because it counts twice.
#[test]
fn a_body_for_which_there_is_no_memory_is_refused_until_another_is_gone() {
    let others: Vec<_> = STAGES.into_iter().filter(|&binary| binary != SINGLE_THREADED).collect();
    each_of(&others, &["--quiet", "--body-memory", "1048576", "--threads", "8"], |stage| {
        let begin = |head| {
            let mut client = stage.connect();
            let status = client.send(head).reply().status;
            (client, status)
        };
        let (mut first, status) = begin(HALF[0]);
        let (second, other_status) = begin(HALF[0]);
        assert_eq!((status, other_status), (100, 100));
        let mut third = stage.connect();
        let reply = third.send(HALF[0]).reply();
        let said = (reply.status, reply.header("Retry-After"), reply.header("Connection"));
        assert_eq!(said, (503, Some("1"), Some("close")), "before its body is wanted");
        third.assert_closed();
        // The length of a body in chunks is unknown in advance.
        let (mut chunked, status) = begin(HALF[1]);
        assert_eq!(status, 100);
        let _ = chunked.stream.write_all(format!("{:x}\r\n{}", 250_000, "a".repeat(250_000)).as_bytes());
        assert_eq!(chunked.reply().status, 503, "when it has outgrown what is left");
        chunked.assert_closed();
        // One client gets its answer, and another client gives up: after that there is memory for two
        // bodies.
        assert!(first.send("b".repeat(250_000)).reply().body == "b".repeat(250_000).as_bytes());
        drop(second);
        let mut two = Vec::new();
        eventually("what was taken is not given back", || {
            two.extend(Some(begin(HALF[0])).filter(|(_, status)| *status == 100));
            two.len() == 2
        });
    });
}

#[test]
fn a_body_that_would_take_more_than_its_part_is_too_large() {
    every_stage(&["--quiet", "--body-memory", "1048576"], |stage| {
        let mut client = stage.connect();
        assert_eq!(client.send(post(256 * KIB, false)).reply().status, 200);
        let too_large =
            format!("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", 256 * KIB + 1);
        assert_eq!(stage.connect().send(too_large).reply().status, 413);
    });
}

/// One and a half times the sum of the bounds that the README gives.
#[cfg(target_os = "linux")]
#[test]
fn clients_within_their_bounds_end_no_stage() {
    const CONNECTIONS: usize = 24;
    const STACK: usize = 256 * KIB;
    thread::scope(|scope| {
        for binary in STAGES {
            scope.spawn(move || {
                let is_loop = crate::support::EVENT_LOOPS.contains(&binary);
                let connection = if is_loop { 768 * KIB } else { 128 * KIB };
                let sum = 16 * MIB + (CONNECTIONS + 4) * STACK + CONNECTIONS * connection + 16 * MIB;
                let mut flags = vec!["--quiet", "--threads", "24", "--max-connections", "24"];
                flags.extend(["--body-memory", "16777216", "--max-body", "4194304"]);
                flags.extend(crate::support::room(binary));
                let mut command =
                    crate::support::shell(&format!("ulimit -v {}", sum * 3 / 2 / KIB), binary, &flags);
                command.env("MALLOC_ARENA_MAX", "1").env("RUST_BACKTRACE", "0");
                command.env("RUST_MIN_STACK", STACK.to_string());
                let stage = Stage::start_command(binary, &mut command);
                let mut clients = upload_all_but_one_byte(stage.addr, CONNECTIONS, 4 * MIB);
                end_uploads(&mut clients);
                drop(clients); // with unread answers
                eventually("clients are no longer served", || stage.get("/hello").status == 200);
            });
        }
    });
}

/// A server in this process, so that the test can read the server's counters.
struct Inside {
    addr: SocketAddr,
    crowd: Crowd,
    server: Arc<Server>,
    stop: CancelToken,
    serving: Option<thread::JoinHandle<()>>,
}

impl Inside {
    fn start(is_loop: bool) -> Inside {
        let limits = Limits {
            body_memory: 2 * MIB,
            max_connections: NonZeroUsize::new(20).unwrap(),
            header_timeout: Duration::from_millis(200),
            body_timeout: Duration::from_millis(200),
            linger_timeout: Duration::from_millis(200),
            ..Limits::default()
        };
        let (crowd, stop) = (Crowd::of_at_most(limits.max_connections.get()), CancelToken::new());
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).unwrap().admitting(&crowd);
        let addr = listener.local_addr();
        let site = Site::new(None).with_panic();
        let server = Arc::new(Server::new(site, limits, AccessLog::Quiet).until(&stop));
        let (shared, until) = (Arc::clone(&server), stop.clone());
        let serving = thread::spawn(move || {
            let pool = Arc::new(ThreadPoolExecutor::fixed(8));
            if is_loop {
                let stripes = StripedExecutor::over(Arc::clone(&pool));
                // The loop answers quick requests, and other threads answer slow requests; both kinds of
                // requests hold memory for bodies.
                let handed_over = |request: &servers::http::Request<'_>| request.query.is_some();
                let give = move |job: servers::reactor::Job| {
                    let _ = stripes.execute_in(job.connection(), move || job.run());
                };
                Reactor::new(listener, &shared).unwrap().handing_over(handed_over, give).run();
            } else {
                for connection in listener.incoming_until(&until) {
                    let server = Arc::clone(&shared);
                    let _ = pool.execute(move || server.serve(connection));
                }
                drop(listener.close());
            }
            pool.close();
        });
        Inside { addr, crowd, server, stop, serving: Some(serving) }
    }

    fn held(&self) -> (usize, usize) {
        (self.crowd.open(), self.server.room().held())
    }
}

/// Runs a client that leaves before its requests are completed, in one of many ways.
fn come_and_go(addr: SocketAddr, way: usize) {
    let Ok(mut stream) = TcpStream::connect(addr) else { return };
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let path = if way.is_multiple_of(2) { "/echo" } else { "/echo?elsewhere" };
    let length = [1, 5_000, 70_000, 300_000, 500_000][way / 2 % 5];
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replacen("/echo", path, 1).into_bytes();
    let whole = text(post(length, way.is_multiple_of(3)));
    let cut = whole.len() / 2;
    let sent = match way / 10 % 9 {
        0 => stream.write_all(&whole),                           // and does not read
        1 => stream.write_all(&whole[..cut]),                    // and has left
        2 => stream.write_all(&[&whole[..cut], b"\0"].concat()), // malformed if the body is in chunks
        3 => stream.write_all(&whole[..cut]).and_then(|()| stream.shutdown(Shutdown::Write)),
        4 => stream.write_all(&whole.repeat(3)), // in a row
        5 => stream.write_all(&[&whole, &b"G@T"[..]].concat()),
        6 => stream.write_all(String::from_utf8(whole).unwrap().replacen(path, "/panic", 1).as_bytes()),
        7 => stream.write_all(&whole[..30]), // a head that comes too slowly
        _ => stream.write_all(
            String::from_utf8(whole).unwrap().replacen("\r\n", "\r\nConnection: close\r\n", 1).as_bytes(),
        ),
    };
    // Some clients read everything, some read a part, and some read nothing.
    if sent.is_ok() && !way.is_multiple_of(4) {
        let most = if way % 4 == 1 { 1_000 } else { u64::MAX };
        let _ = stream.shutdown(Shutdown::Write);
        let _ = std::io::copy(&mut std::io::Read::take(&mut stream, most), &mut std::io::sink());
    }
}

/// When the stage stops, the next requests of these clients are still on their way. The stage waits for a
/// moment even if it has no client.
#[test]
fn what_comes_right_after_the_stop_is_answered_as_the_last() {
    for is_loop in [false, true] {
        let attempt = || {
            let mut inside = Inside::start(is_loop);
            // These clients begin their waits at different times, and would also end these waits at different
            // times.
            let mut connect = |_| {
                thread::sleep(Duration::from_millis(7));
                let mut client = Client::connect(inside.addr);
                assert_eq!(client.get("/hello").header("Connection"), Some("keep-alive"));
                client
            };
            let mut clients: Vec<_> = (0..7).map(&mut connect).collect();
            inside.stop.cancel();
            thread::sleep(Duration::from_millis(35)); // the way
            let asks = |client: &mut Client| {
                let sent = client.stream.write_all(b"GET /hello HTTP/1.1\r\nHost: h\r\n\r\n");
                sent.is_ok() && matches!(client.stream.peek(&mut [0]), Ok(1))
            };
            let answered = clients.iter_mut().map(asks).filter(|&is_answered| is_answered).count();
            if answered == clients.len() {
                for client in &mut clients {
                    assert_eq!(client.reply().header("Connection"), Some("close"));
                    client.assert_closed();
                }
            }
            inside.serving.take().unwrap().join().unwrap();
            answered
        };
        // On a busy machine the server may stop waiting while a request is still on its way.
        let answered: Vec<_> = (0..5).map(|_| attempt()).take_while(|&answered| answered < 7).collect();
        assert!(answered.len() < 5, "event loop: {is_loop}; of seven {answered:?}");
    }
}

/// The server counts memory and places when it takes them, and must give both back, whatever happens to the
/// client.
#[test]
fn all_that_was_taken_is_given_back() {
    for is_loop in [false, true] {
        let mut inside = Inside::start(is_loop);
        thread::scope(|scope| {
            for client in 0..6 {
                let addr = inside.addr;
                scope.spawn(move || (client..180).step_by(6).for_each(|way| come_and_go(addr, way)));
            }
        });
        eventually("something is not given back", || inside.held() == (0, 0));
        // The server also gives memory and places back after a stop, even if requests are then in
        // progress.
        let held: Vec<_> = (0..6)
            .map(|way| {
                let mut stream = TcpStream::connect(inside.addr).unwrap();
                let whole = post(100_000, way % 2 == 0);
                stream.write_all(if way < 3 { &whole } else { &whole[..50_000] }).unwrap();
                stream
            })
            .collect();
        eventually("no client came", || inside.held().0 > 0);
        inside.stop.cancel();
        drop(held);
        inside.serving.take().unwrap().join().unwrap();
        assert_eq!(inside.held(), (0, 0), "after the end of event loop: {is_loop}");
    }
}
