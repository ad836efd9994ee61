//! Tests claims that are made against servers whose threads share a listener. (The tests of every stage are
//! in `policy.rs`.)

use crate::support::{Client, DEADLINE, SHARED_ACCEPT, Stage};
use servers::Listener;
use std::collections::HashSet;
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

const BLOCK: &str = "/block?ms=600";

// ANCHOR: sharing
/// The claim is false in Rust: the type of a listener allows threads to share it. Each connection goes to one
/// of these threads.
#[test]
fn a_listener_may_be_shared_and_each_connection_has_one_thread() {
    fn shared<T: Send + Sync>(listener: T) -> Arc<T> {
        Arc::new(listener)
    }
    let listener = shared(TcpListener::bind("127.0.0.1:0").unwrap());
    let address = listener.local_addr().unwrap();
    let (tell, accepted) = mpsc::channel();
    for _ in 0..4 {
        let (listener, tell) = (Arc::clone(&listener), tell.clone());
        thread::spawn(move || {
            while let Ok((_, client)) = listener.accept() {
                let _ = tell.send(client);
            }
        });
    }
    let clients: Vec<_> = (0..200).map(|_| TcpStream::connect(address).unwrap()).collect();
    let accepted: HashSet<_> = clients.iter().map(|_| accepted.recv_timeout(DEADLINE).unwrap()).collect();
    assert_eq!(accepted, clients.iter().map(|client| client.local_addr().unwrap()).collect());
}
// ANCHOR_END: sharing

// ANCHOR: no_rejection
/// The claim is true: the server has no queue of its own. If all threads are busy, the server neither serves
/// nor refuses nor counts a new client.
#[test]
fn nobody_is_refused_and_nobody_knows_who_waits() {
    let stage = Stage::start(SHARED_ACCEPT, &["--threads", "2"]);
    let busy: Vec<_> = (0..2).map(|_| stage.ask(BLOCK)).collect();
    // The clients believe that they are connected, because the system connects them and keeps them in the
    // backlog.
    let waiting: Vec<_> = (0..50).map(|_| stage.ask("/stats")).collect();
    for mut client in waiting {
        let reply = client.reply();
        assert_eq!(reply.status, 200);
        assert!(reply.text().contains("\"pool\": null"), "{}", reply.text());
    }
    for mut client in busy {
        assert_eq!(client.reply().status, 200);
    }
}
// ANCHOR_END: no_rejection

// ANCHOR: no_order
/// The claim is true: the server accepts clients in the order in which they came. A thread cannot take a
/// client from the middle of the backlog.
#[test]
fn the_order_is_the_systems() {
    let stage = Stage::start(SHARED_ACCEPT, &["--threads", "1"]);
    let _busy = stage.ask(BLOCK);
    let waiting: Vec<_> = (0..20)
        .map(|number| {
            let mut client = stage.connect();
            client.send(format!("GET /hello?{number} HTTP/1.1\r\nHost: h\r\n\r\n"));
            client
        })
        .collect();
    assert!(stage.log_line().contains("/block"));
    for number in 0..waiting.len() {
        let line = stage.log_line();
        assert!(line.contains(&format!("/hello?{number} ")), "{line}");
    }
}
// ANCHOR_END: no_order

// ANCHOR: backlog
/// The claim is true on Linux, where the backlog has room for three connections if the program asks for two.
/// The fourth client is not refused: it gets no response, and is connected when there is room.
#[cfg(target_os = "linux")]
#[test]
fn a_full_backlog_refuses_nobody() {
    let listener = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    listener.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    listener.listen(2).unwrap();
    let listener = TcpListener::from(listener);
    let address = listener.local_addr().unwrap();
    let connected: Vec<_> = (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
    let nothing = TcpStream::connect_timeout(&address, Duration::from_millis(200)).unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::TimedOut, "not ConnectionRefused");
    let late = thread::spawn(move || TcpStream::connect(address));
    listener.accept().unwrap();
    late.join().unwrap().expect("the system tries again and again, and now there is room");
    drop(connected);
}
// ANCHOR_END: backlog

/// Two threads that accept connections; each thread ends at its first connection. The listener lives as long
/// as the test holds it.
fn accept_loops_that_panic() -> (Arc<Listener>, mpsc::Receiver<()>) {
    let listener = Arc::new(Listener::bind(([127, 0, 0, 1], 0).into()).unwrap());
    let (tell, dead) = mpsc::channel::<()>();
    for _ in 0..2 {
        let (accepting, tell) = (Arc::clone(&listener), tell.clone());
        thread::spawn(move || {
            struct TellWhenDead(mpsc::Sender<()>);
            impl Drop for TellWhenDead {
                fn drop(&mut self) {
                    let _ = self.0.send(());
                }
            }
            let _tell = TellWhenDead(tell);
            let connection = accepting.incoming().next();
            drop(connection);
            panic!("on purpose");
        });
    }
    (listener, dead)
}

// ANCHOR: dying_threads
/// The claim is true for a plain loop: a panic ends the thread. The other threads do not notice this, and in
/// the end no thread is left.
#[test]
fn a_dying_thread_is_not_replaced() {
    let (listener, dead) = accept_loops_that_panic();
    for _ in 0..2 {
        let mut client = Client::connect(listener.local_addr());
        assert_eq!(client.reply().status, 503, "the connection is answered as it is dropped");
        dead.recv_timeout(DEADLINE).expect("a thread dies");
    }
    // The process is still running, and the system still accepts connections for it. No thread will ever
    // accept this connection.
    let mut client = Client::connect(listener.local_addr());
    client.stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let nothing = client.stream.read(&mut [0]).unwrap_err();
    assert!(matches!(nothing.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{nothing}");
}

/// The claim is false for this stage. `serve` catches the panic of a handler, so the stage loses no thread.
#[test]
fn panicking_handlers_cost_no_thread() {
    let stage = Stage::start(SHARED_ACCEPT, &["--threads", "2"]);
    for _ in 0..10 {
        let reply = stage.get("/panic");
        assert_eq!((reply.status, reply.header("Connection")), (500, Some("close")));
    }
    stage.assert_alive();
}
// ANCHOR_END: dying_threads

// ANCHOR: no_lifecycle
/// The claim is true: the server ends only with its process, in the middle of its work.
#[cfg(unix)]
#[test]
fn a_signal_cuts_requests_off() {
    let mut stage = Stage::start(SHARED_ACCEPT, &["--threads", "2", "--quiet"]);
    let mut busy = stage.ask("/block?ms=60000");
    stage.assert_alive();
    stage.signal("TERM");
    assert_eq!(stage.exit_status(), None, "killed by the signal");
    assert!(!matches!(busy.stream.read(&mut [0]), Ok(1..)), "an answer after all");
}
// ANCHOR_END: no_lifecycle

// ANCHOR: thundering_herd
/// The claim is false on Linux: a connection wakes one of the threads that wait in `accept`, but
/// not all of them.
#[cfg(target_os = "linux")]
#[test]
fn there_is_no_thundering_herd() {
    let threads = 100;
    let connections = 100;
    let stage = Stage::start(SHARED_ACCEPT, &["--threads", &threads.to_string(), "--quiet"]);
    stage.assert_alive();
    let before = stage.voluntary_context_switches();
    for _ in 0..connections {
        stage.assert_alive();
    }
    let switches = stage.voluntary_context_switches() - before;
    // Each connection costs a few waits, summed over all threads. If each connection woke all threads, every
    // thread would wait once more per connection.
    assert!(switches < connections * threads / 4, "{switches} context switches");
}

/// The claim is true: every thread exists from the start, even if it is not needed.
#[cfg(target_os = "linux")]
#[test]
fn its_threads_exist_before_any_client() {
    let stage = Stage::start(SHARED_ACCEPT, &["--threads", "20"]);
    assert_eq!(stage.threads(), 21, "with the one that waits for the others");
}
// ANCHOR_END: thundering_herd
