//! Connects to a host by its name, in two steps that a token can cancel.

use super::failure;
use executor::{CancelToken, CancellableStream, Promise};
use hypertext_http::system_lookup;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

/// The time for which an address of a host is tried before the next address is tried.
const TURN: Duration = Duration::from_secs(2);

/// Looks up the addresses of a host.
///
/// The system's look-up cannot be cancelled: it can take half a minute, and nothing wakes the thread that
/// runs it. So the look-up has its own thread, which is not in the caller's pool and may outlive the call.
/// After a cancellation, the caller returns at once.
pub(super) fn resolve(host: &str, port: u16, token: &CancelToken) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![(address, port).into()]);
    }
    let (name, (promise, done)) = (host.to_owned(), Promise::new());
    // `complete` fails only if the caller has already returned.
    let look_up = move || drop(promise.complete(system_lookup(&name, port)));
    thread::Builder::new().name("look-up".to_owned()).spawn(look_up)?;
    let joined = token.attach(|| done.join());
    token.check()?;
    match joined {
        Ok(Ok(addresses)) if addresses.is_empty() => Err(failure("the host has no address")),
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) => Err(failure(format!("the host cannot be looked up: {error}"))),
        Err(_) => Err(failure("the look-up broke off")),
    }
}

/// Connects to the first address that accepts the connection. Only the token limits the total time; if an
/// address does not answer for a while, the next address is tried.
pub(super) fn connect(addresses: &[SocketAddr], token: &CancelToken) -> io::Result<TcpStream> {
    connect_by_turns(addresses, TURN, token)
}

fn connect_by_turns(addresses: &[SocketAddr], turn: Duration, token: &CancelToken) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for (number, address) in addresses.iter().enumerate() {
        let turn = if number + 1 < addresses.len() { turn } else { Duration::MAX };
        match CancellableStream::connect(*address, turn, token).map(CancellableStream::into_inner) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
        token.check()?;
    }
    Err(failure(format!("it cannot be connected to: {last}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Socket, Type};
    use std::net::{Ipv4Addr, TcpListener};

    fn bound() -> (Socket, SocketAddr) {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
        let address = socket.local_addr().unwrap().as_socket().unwrap();
        (socket, address)
    }

    #[test]
    fn the_next_address_is_tried_if_one_refuses() {
        let (_refuses, refusing) = bound();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let listening = listener.local_addr().unwrap();
        let stream = connect(&[refusing, listening], &CancelToken::new()).expect("one of them accepts");
        assert_eq!(stream.peer_addr().unwrap(), listening);
        assert!(connect(&[refusing, refusing], &CancelToken::new()).is_err());
        assert!(connect(&[], &CancelToken::new()).is_err());
    }

    /// Linux does not answer a client that connects to a port whose backlog is full.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_next_address_is_tried_if_one_does_not_answer() {
        let (full, silent) = bound();
        full.listen(1).unwrap();
        let under_way = |_| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.set_nonblocking(true).unwrap();
            let _ = socket.connect(&silent.into());
            socket
        };
        let _queue: Vec<_> = (0..8).map(under_way).collect();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let addresses = [silent, listener.local_addr().unwrap()];
        let stream = connect_by_turns(&addresses, Duration::from_millis(20), &CancelToken::new());
        assert_eq!(stream.expect("one of them accepts").peer_addr().unwrap(), addresses[1]);
    }
}
