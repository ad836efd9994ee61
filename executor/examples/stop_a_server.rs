//! When a pool is stopped, each of its threads returns from its blocking call: one thread from `accept`, and
//! one thread from `read`.
//!
//! ```sh
//! cargo run --example stop_a_server
//! ```
//!
//! The book explains this example in the chapter "Blocking that nobody can interrupt".

use executor::{CancelToken, CancellableListener, CancellableStream, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::channel;

// ANCHOR: read
/// Greets a client, and reads until the client closes the connection.
fn serve(connection: TcpStream) -> io::Result<usize> {
    let mut connection = CancellableStream::new(connection, &CancelToken::current());
    connection.write_all(b"hello")?;
    connection.read_to_end(&mut Vec::new())
}
// ANCHOR_END: read

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let kept = listener.try_clone()?;
    let pool = Arc::new(ThreadPoolExecutor::fixed(2));
    let (served, serving) = channel();
    let own = Arc::clone(&pool);
    // ANCHOR: accept
    let accepts = pool.submit(move || -> io::Result<()> {
        let listener = CancellableListener::new(listener, &CancelToken::current())?;
        loop {
            let (connection, _) = listener.accept()?;
            let handle = own.submit(move || serve(connection)).map_err(io::Error::other)?;
            let _ = served.send(handle);
        }
    })?;
    // ANCHOR_END: accept
    let mut silent = TcpStream::connect(address)?;
    silent.read_exact(&mut [0; 5])?; // the server has greeted it
    drop(pool.shutdown_now());
    println!("the acceptor:   {}", accepts.join()?.unwrap_err());
    println!("the connection: {}", serving.recv()?.join()?.unwrap_err());

    let late = TcpStream::connect(address)?;
    kept.set_nonblocking(false)?; // a clone of the listener, still open
    let (_, peer) = kept.accept()?;
    println!("the client that came later is there: {}", peer == late.local_addr()?);
    Ok(())
}
