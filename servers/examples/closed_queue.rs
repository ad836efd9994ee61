//! Opens two listeners at one address, each with its own queue. Shows what happens to the clients in the
//! queue of a listener when the listener is closed.
//!
//! ```sh
//! cargo run --example closed_queue
//! ```
//!
//! The chapter "One loop for each processor" of the book explains this program.

use std::io;

#[cfg(unix)]
fn main() -> io::Result<()> {
    listeners::main()
}

#[cfg(not(unix))]
fn main() -> io::Result<()> {
    Err(io::Error::other("this system does not deal connections out"))
}

#[cfg(unix)]
mod listeners {
    use socket2::{Domain, Socket, Type};
    use std::io::{self, ErrorKind};
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
    use std::time::Duration;

    const CLIENTS: usize = 32;

    pub(crate) fn main() -> io::Result<()> {
        show("closed as it is", |_| Ok(0))?;
        show("accepts until its queue is empty, then closed", accept_all)
    }

    // ANCHOR: story
    fn show(how: &str, before_closing: fn(&TcpListener) -> io::Result<usize>) -> io::Result<()> {
        let first = listen((Ipv4Addr::LOCALHOST, 0).into())?;
        let second = listen(first.local_addr()?)?;
        let connect = |_| TcpStream::connect(first.local_addr()?);
        let clients: Vec<_> = (0..CLIENTS).map(connect).collect::<io::Result<_>>()?;

        let accepted = before_closing(&second)?;
        drop(second);
        let reset = clients.iter().filter(|client| is_reset(client)).count();
        println!(
            "the second listener {how}: it has accepted {accepted} of {CLIENTS} clients, {reset} are reset"
        );
        Ok(())
    }

    fn listen(addr: SocketAddr) -> io::Result<TcpListener> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_reuse_port(true)?;
        socket.bind(&addr.into())?;
        socket.listen(128)?;
        Ok(socket.into())
    }
    // ANCHOR_END: story

    fn accept_all(listener: &TcpListener) -> io::Result<usize> {
        listener.set_nonblocking(true)?;
        let mut accepted = 0;
        while let Ok((connection, _)) = listener.accept() {
            std::mem::forget(connection); // the listener stays open
            accepted += 1;
        }
        Ok(accepted)
    }

    fn is_reset(client: &TcpStream) -> bool {
        let _ = client.set_read_timeout(Some(Duration::from_millis(10)));
        client.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::ConnectionReset)
    }
}
