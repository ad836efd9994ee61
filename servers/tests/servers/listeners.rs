//! Tests several listeners at one address: no other program can listen there, and each listener gets
//! clients.

use crate::support::{Client, DEADLINE};
use servers::Listener;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// Starts two servers that begin to listen at almost the same moment.
fn two_at_once(addr: SocketAddr) -> [io::Result<Vec<Listener>>; 2] {
    let ready = AtomicUsize::new(0);
    let server = || {
        ready.fetch_add(1, Ordering::SeqCst);
        // The threads do not wait at a barrier. A barrier would wake one thread so much later than the other
        // that the two servers would hardly ever begin to listen at the same time.
        while ready.load(Ordering::SeqCst) < 2 {
            thread::yield_now();
        }
        Listener::bind_each(addr, 2)
    };
    thread::scope(|scope| {
        let other = scope.spawn(server);
        [server(), other.join().unwrap()]
    })
}

#[test]
fn of_two_servers_that_start_at_once_one_is_told_that_the_address_is_taken() {
    let mut started = 0;
    for _ in 0..500 {
        let addr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let servers = two_at_once(addr);
        let refusals: Vec<_> = servers.iter().filter_map(|server| server.as_ref().err()).collect();
        assert!(!refusals.is_empty(), "both have {addr}");
        assert!(refusals.iter().all(|error| error.kind() == ErrorKind::AddrInUse), "{refusals:?}");
        started += 2 - refusals.len();
    }
    assert!(started > 0, "all are refused");
}

#[cfg(target_os = "linux")]
#[test]
fn clients_are_dealt_out_at_every_kind_of_address() {
    for addr in ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"] {
        if let Err(error) = TcpListener::bind(addr) {
            eprintln!("not tried: {addr}: {error}"); // not every machine has IPv6
            continue;
        }
        let listeners = Listener::bind_each(addr.parse().unwrap(), 3).unwrap();
        let addr = listeners[0].local_addr();
        assert!(listeners.iter().all(|listener| listener.local_addr() == addr), "{listeners:?}");
        assert_eq!(TcpListener::bind(addr).unwrap_err().kind(), ErrorKind::AddrInUse);
        // On Linux a connection to the address that means "all addresses" reaches this machine.
        let mut clients: Vec<_> = (0..96).map(|_| Client::connect(addr)).collect();
        // The server would not count a client that sends no request.
        for client in &mut clients {
            client.send("GET /hello HTTP/1.1\r\n\r\n");
        }
        let queues: Vec<_> = listeners.into_iter().map(Listener::close).collect();
        drop(clients);
        let counts: Vec<_> = queues.iter().map(|queue| queue.see_off(Instant::now() + DEADLINE)).collect();
        assert_eq!(counts.iter().sum::<usize>(), 96, "{addr}: {counts:?}");
        assert!(!counts.contains(&0), "{addr}: {counts:?}");
    }
}
