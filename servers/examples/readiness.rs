//! Shows how the system reports a readable connection: in level-triggered mode, as long as there are bytes to
//! read; in edge-triggered mode, only once, when bytes arrive.
//!
//! ```sh
//! cargo run --example readiness
//! ```
//!
//! The chapter "The event loop" of the book explains this program.

use mio::{Events, Interest, Poll, Token};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_millis(100);

fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (server, _) = listener.accept()?;
    server.set_nonblocking(true)?;
    let mut edges = Edges::new(server.try_clone()?)?;

    // ANCHOR: story
    let ask = |when: &str, edges: &mut Edges| {
        println!("{when:28} level: {:12} edge: {}", said(level(&server)), said(edges.ask()));
    };
    ask("nothing was sent", &mut edges);
    client.write_all(b"ten bytes.")?;
    ask("ten bytes came", &mut edges);
    (&server).read_exact(&mut [0; 4])?;
    ask("four of them are read", &mut edges);
    client.write_all(b"more")?;
    ask("four more came", &mut edges);
    (&server).read_exact(&mut [0; 10])?;
    ask("all ten are read", &mut edges);
    // ANCHOR_END: story
    let last = (&server).read(&mut [0]).expect_err("nothing is left");
    assert_eq!(last.kind(), ErrorKind::WouldBlock);
    Ok(())
}

fn said(is_readable: bool) -> &'static str {
    if is_readable { "readable" } else { "(nothing)" }
}

// ANCHOR: level
/// Returns whether there are bytes to read.
fn level(socket: &TcpStream) -> bool {
    let patience = Timespec::try_from(PATIENCE).expect("it is short");
    let mut asked = [PollFd::new(socket, PollFlags::IN)];
    poll(&mut asked, Some(&patience)).is_ok_and(|ready| ready > 0)
}
// ANCHOR_END: level

// ANCHOR: edge
struct Edges {
    poll: Poll,
    _socket: mio::net::TcpStream,
}

impl Edges {
    fn new(socket: TcpStream) -> std::io::Result<Edges> {
        let (poll, mut socket) = (Poll::new()?, mio::net::TcpStream::from_std(socket));
        poll.registry().register(&mut socket, Token(0), Interest::READABLE)?;
        Ok(Edges { poll, _socket: socket })
    }

    /// Returns whether bytes have arrived since the program last asked the system.
    fn ask(&mut self) -> bool {
        let mut events = Events::with_capacity(8);
        self.poll.poll(&mut events, Some(PATIENCE)).is_ok() && !events.is_empty()
    }
}
// ANCHOR_END: edge
