//! A thread that reads from a connection, and three ways to stop it while the peer says nothing.
//!
//! ```sh
//! cargo run --example reader_thread -- deaf
//! cargo run --example reader_thread -- polling
//! cargo run --example reader_thread -- guarded
//! ```
//!
//! The book explains this example in the chapter "Blocking that nobody can interrupt".

#![allow(unreachable_pub)] // the modules are written like modules of a library

mod deaf;
mod polling;
mod reader_thread;

use std::error::Error;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("deaf") => deaf::show(),
        Some("polling") => polling::show(),
        Some("guarded") => reader_thread::show(),
        _ => {
            eprintln!("say which: deaf, polling or guarded");
            std::process::exit(2);
        }
    }
}

/// Returns a peer, and a connection to that peer.
fn connect() -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let stream = TcpStream::connect(listener.local_addr()?)?;
    let (peer, _) = listener.accept()?;
    Ok((peer, stream))
}

/// Reads a telegram, which has four bytes.
fn telegram(mut stream: &TcpStream) -> io::Result<String> {
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits until the counter of a reader has reached `count`.
fn wait_for(counter: &AtomicUsize, count: usize) {
    while counter.load(Ordering::SeqCst) < count {
        thread::yield_now();
    }
}
