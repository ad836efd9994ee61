//! A client that sends one request and waits for its answer; the rows that measure waits use this client.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

/// The longest time that a client waits for its answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

const HELLO: &[u8] = b"GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
const LAST_HELLO: &[u8] = b"GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";

pub(crate) fn connect(addr: SocketAddr) -> anyhow::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&addr, PATIENCE).context("cannot connect")?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Requests `/hello` on a connection that stays open.
pub(crate) fn ask(stream: &mut TcpStream) -> anyhow::Result<()> {
    stream.write_all(HELLO).context("cannot send")?;
    answer(stream)
}

/// Connects, requests `/hello`, and leaves. Returns the time until the answer arrived, or [`PATIENCE`] if no
/// answer arrived.
pub(crate) fn visit(addr: SocketAddr) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let mut stream = connect(addr)?;
    stream.write_all(LAST_HELLO).context("cannot send")?;
    match answer(&mut stream) {
        Err(error) if is_late(&error) => return Ok(PATIENCE),
        answered => answered?,
    }
    let took = began.elapsed();
    // The side that closes a connection first keeps the connection's port for a minute (TIME_WAIT). The
    // server must close first; if the client closed first, the ports of the client would be used up.
    let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
    let _ = stream.read(&mut [0; 64]);
    Ok(took)
}

/// Returns whether the error is a time-out.
fn is_late(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

fn answer(stream: &mut TcpStream) -> anyhow::Result<()> {
    let mut arrived = [0; 2048];
    let mut length = 0;
    while !arrived[..length].ends_with(b"\r\n\r\nHello, world!") {
        ensure!(length < arrived.len(), "the answer is too long");
        let count = stream.read(&mut arrived[length..]).context("no answer")?;
        let so_far = || String::from_utf8_lossy(&arrived[..length]).into_owned();
        ensure!(count > 0, "the connection ended, in place of an answer: {}", so_far());
        length += count;
    }
    ensure!(arrived.starts_with(b"HTTP/1.1 200"), "an answer other than 200");
    Ok(())
}
