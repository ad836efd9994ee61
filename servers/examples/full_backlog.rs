//! Shows what a client observes if the server's backlog is full. A listening socket has room for a
//! few connections, and no thread accepts them.
//!
//! ```sh
//! cargo run --example full_backlog
//! ```
//!
//! The chapter "When there is no room" of the book explains this program.

use socket2::{Domain, Socket, Type};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_millis(500);

fn main() -> std::io::Result<()> {
    // ANCHOR: listen
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    listener.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())?;
    listener.listen(2)?;
    // ANCHOR_END: listen
    let listener = TcpListener::from(listener);
    let address = listener.local_addr()?;
    println!("A backlog of 2, and no thread accepts.");

    // ANCHOR: clients
    let mut clients = 0;
    let waiting = loop {
        clients += 1;
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let began = Instant::now();
            let connection = TcpStream::connect(address);
            let _ = tell.send((began.elapsed(), connection));
        });
        match told.recv_timeout(PATIENCE) {
            Ok((_, Ok(connection))) => {
                println!("client {clients}: connected");
                std::mem::forget(connection); // the client stays connected
            }
            Ok((_, Err(error))) => {
                println!("client {clients}: {error}");
                return Ok(());
            }
            Err(_) => break told,
        }
    };
    println!("client {clients}: has heard nothing for {PATIENCE:?}");
    // ANCHOR_END: clients

    let _accepted = listener.accept()?;
    println!("The server accepts client 1.");
    match waiting.recv() {
        Ok((after, Ok(_))) => println!("client {clients}: connected after {:.1} s", after.as_secs_f32()),
        other => println!("client {clients}: {other:?}"),
    }
    Ok(())
}
