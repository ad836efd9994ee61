//! Shows how many requests the server takes from clients that do not read the answers, and what such a
//! client costs.
//!
//! ```sh
//! cargo run --release --example never_reads
//! ```
//!
//! The chapter "The event loop" of the book explains this program.

use executor::CancelToken;
use servers::{AccessLog, Limits, Listener, Reactor, Server, Site};
use socket2::{Domain, Socket, Type};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

const CLIENTS: usize = 8;
const REQUESTS: usize = 300_000;
const REQUEST: &str = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A client counts as stuck if it could neither send nor read for this time.
const STUCK: Duration = Duration::from_millis(500);

struct Client {
    stream: TcpStream,
    sent: usize,
    received: usize,
}

fn main() -> anyhow::Result<()> {
    let stop = CancelToken::new();
    let server = Server::new(Site::new(None), Limits::default(), AccessLog::Quiet).until(&stop);
    let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0).into())?;
    let addr = listener.local_addr();
    let reactor = Reactor::new(listener, &Arc::new(server))?;
    let running = thread::spawn(move || reactor.run());
    // ANCHOR: story
    let requests = REQUEST.repeat(REQUESTS);
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        // With buffers of the usual size, the system would buffer megabytes for the client.
        socket.set_recv_buffer_size(64 * 1024)?;
        socket.set_send_buffer_size(64 * 1024)?;
        socket.connect(&addr.into())?;
        socket.set_nonblocking(true)?;
        clients.push(Client { stream: socket.into(), sent: 0, received: 0 });
    }
    let before = memory();

    until_stuck(&mut clients, |client| client.send(requests.as_bytes()))?;
    let sent = clients.iter().map(|client| client.sent / REQUEST.len());
    let (least, most) = (sent.clone().min().unwrap_or(0), sent.max().unwrap_or(0));
    println!("{CLIENTS} clients have sent {least} to {most} of {REQUESTS} requests each, and are stuck");
    if let Some((before, after)) = before.zip(memory()) {
        println!(
            "memory of the process: {} KiB more for each",
            after.saturating_sub(before) / CLIENTS as u64
        );
    }
    let answer = one_answer(addr)?;
    println!("another client is answered: {}", answer.lines().last().unwrap_or_default());

    until_stuck(&mut clients, |client| Ok(client.receive()? + client.send(requests.as_bytes())?))?;
    let all = clients.iter().filter(|client| client.received == answer.len() * REQUESTS).count();
    println!("then they read: {all} of {CLIENTS} have {REQUESTS} answers");
    // ANCHOR_END: story
    drop(clients);
    stop.cancel();
    running.join().expect("the loop does not panic");
    Ok(())
}

/// Calls `step` for one client after the other, until no client can make progress. `step` returns the number
/// of bytes that it has moved.
fn until_stuck(clients: &mut [Client], step: impl Fn(&mut Client) -> io::Result<usize>) -> io::Result<()> {
    let mut moved = Instant::now();
    while moved.elapsed() < STUCK {
        for client in &mut *clients {
            if step(client)? > 0 {
                moved = Instant::now();
            }
        }
    }
    Ok(())
}

impl Client {
    fn send(&mut self, requests: &[u8]) -> io::Result<usize> {
        let count = unless_it_would_wait(self.stream.write(&requests[self.sent..]))?;
        self.sent += count;
        Ok(count)
    }

    fn receive(&mut self) -> io::Result<usize> {
        let count = unless_it_would_wait(self.stream.read(&mut [0; 8 * 1024]))?;
        self.received += count;
        Ok(count)
    }
}

fn unless_it_would_wait(result: io::Result<usize>) -> io::Result<usize> {
    match result {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
        result => result,
    }
}

/// Returns the answer that one more client gets. A short answer like this one arrives in one piece.
fn one_answer(addr: SocketAddr) -> io::Result<String> {
    let mut client = TcpStream::connect(addr)?;
    client.write_all(REQUEST.as_bytes())?;
    let mut answer = vec![0; 1024];
    let count = client.read(&mut answer)?;
    answer.truncate(count);
    String::from_utf8(answer).map_err(io::Error::other)
}

/// Returns the memory of the process in KiB, if the system reports it.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}
